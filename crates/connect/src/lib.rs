//! Outgoing connections: a small HTTP/1.1 client with TLS, for upstream servers, token issuers and collectors.
//!
//! # Invariants
//!
//! * The client follows no redirects and uses no proxy of the environment, so that credentials reach the configured
//!   host only.
//! * A request that provably never left is told apart from one that may have arrived.
//! * Every read has a maximum size. Deadlines are the caller's.

mod address;
mod chunks;
mod dial;
mod events;
mod head;
mod idle;
mod lines;
mod remote;
mod request_writer;
mod response;
mod socket;
mod wire;

pub use dial::Trust;
pub use events::EventStream;
pub use lines::HeadLines;
pub use remote::{Remote, SendError, Verb};
pub use response::{ContentKind, HttpResponse};
