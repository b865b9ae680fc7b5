//! Drives echo servers over HTTP, each in a process of its own, and measures what an answer costs.
//!
//! [`options`] and [`run`] are the harness; [`message`] is what is sent and what must come back, [`wire`] the
//! connection it travels on, [`load`] one round of it; [`child`] is a server under test, and [`stand`] what the
//! servers share. The servers themselves are in `src/bin`.

pub mod child;
pub mod figures;
pub mod load;
pub mod message;
pub mod options;
pub mod run;
pub mod lifecycle;
pub mod wire;
