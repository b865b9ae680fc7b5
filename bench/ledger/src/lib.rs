//! What the ledger can take by itself, and what it costs a gateway: the same gateway without one, with one, and
//! with one that every answer waits for, in turn.

pub mod standalone;
pub mod cost;
pub mod folder;
pub mod gateway;
