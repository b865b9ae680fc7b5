//! Drives echo servers over HTTP, each in its own process, and measures throughput, latency and CPU time.
//!
//! [`options`] and [`run`] are the harness. [`message`] holds the request and the expected answer, [`wire`] the HTTP
//! connection, and [`load`] one round of requests. [`child`] is a server under test; [`stand`] is shared by the servers
//! in `src/bin`.

pub mod child;
pub mod figures;
pub mod load;
pub mod message;
pub mod options;
pub mod run;
pub mod lifecycle;
pub mod wire;
