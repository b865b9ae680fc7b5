//! State that several nodes share, so that any node can serve any request. Session state is in Redis or
//! Valkey ([`RedisState`]). Copies of the ledgers are in PostgreSQL ([`postgres`], a feature).
//!
//! # Invariants
//!
//! * Every wait is short. While Redis is unreachable, requests that need it fail at once with `server/STATE`,
//!   and each node counts rates alone. Nodes reconnect without a restart.
//! * Every key in Redis expires: a session when it is idle, a stream some time later, a node when its
//!   heartbeat stops. The exceptions are the sealing key that all nodes use, the hashes of API
//!   keys, and the database of approvals and pins ([`RedisImage`]).
//! * This crate reads and writes state; the pipeline makes the decisions.

#[cfg(feature = "postgres")]
pub mod postgres;
mod redis_image;
mod redis_state;

pub use redis_image::RedisImage;
pub use redis_state::RedisState;
