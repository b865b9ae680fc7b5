//! The cloakroom: what several nodes share, kept in Redis or Valkey, so that any of them can answer.
//!
//! # Invariants
//!
//! * Every wait is short. When Redis is away, what needs it fails as `server/STATE` at once, and works again by itself
//!   when it is back; rates are then counted by each node for itself.
//! * Every key has an end: a session when it is idle, a stream some time after it, a node when it stops saying that it
//!   is there. Only the key that states are sealed with stays, and keys of callers, of which only hashes are kept.
//! * Nothing here decides anything: this room keeps and finds.

mod keys;
mod link;
mod nodes;
mod redis_state;
mod rest_sessions;
mod secure;
mod streams;

pub use redis_state::RedisState;
