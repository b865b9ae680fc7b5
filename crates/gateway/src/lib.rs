//! Upstream servers: connect, federate, translate, supervise.
//!
//! A [`Gateway`] is a `Room` like any other: it lists what its members offer under prefixed names, and passes each
//! call on to the member it belongs to. Members are servers other people wrote ([`UpstreamSettings`]) and built-in
//! rooms.
//!
//! # Invariants
//!
//! * An upstream's words never reach a caller: its error becomes a fault of ours with its code as a fact, and the
//!   original goes to the operator.
//! * A request is sent again only when it provably never left. What left and was not answered has an unknown effect.
//! * One dead upstream never sinks a list, and is never shown as an empty one.
//! * Every child is watched over by `process`: no zombie, no orphan, whatever happens to us.

mod catalogue;
mod child;
mod faces;
mod gateway;
mod http;
mod introduction;
mod line;
mod link;
mod member;
mod names;
mod notice;
mod params;
mod parked;
mod relay;
mod rounds;
mod said;
mod settings;
mod single;
mod tasks;
mod upstream;
mod uris;

pub use gateway::Gateway;
pub use settings::{Reach, Restart, UpstreamSettings};
