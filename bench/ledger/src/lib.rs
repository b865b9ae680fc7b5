//! The throughput of the ledger alone, and its cost to a gateway: the same gateway without a ledger, with one, and with
//! one that every answer waits for.

pub mod standalone;
pub mod cost;
pub mod folder;
pub mod gateway;
