//! An HTTP/1.1 client for one server, whose errors say how far a request got.
//!
//! [`HttpClient::exchange`] sends a [`Request`] and reads the whole [`Response`]. [`HttpClient::connect`] and [`HttpClient::send`] are its
//! two halves, for a caller that has to wait between them. ADR 0031 says why this is not reqwest.
//!
//! # Invariants
//!
//! * [`SendError::NotSent`] means that no byte of the request left this machine. Every other error means that the server may
//!   have acted on it.
//! * A request that must not be sent twice is never sent twice.
//! * Every wait has a deadline, every body a limit.

mod client;
mod connect;
mod endpoint;
mod error;

pub use client::{Connection, HttpClient, Request, Resend, Response};
pub use endpoint::Endpoint;
pub use error::SendError;
pub use http::Method;
