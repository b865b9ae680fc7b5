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
//! * One dead upstream never sinks a list, a slow one never holds it up for long, and neither is shown as an empty one.
//! * Callers who share a connection hear only what is theirs; what could be anybody's reaches nobody.
//! * Members are one immutable snapshot, swapped whole: a request sees all of the old ones or all of the new, and what
//!   it began with an old one it ends with it.
//! * A definition that is not the known one reaches nobody, and is not called, while pins hold it.
//! * Every child is watched over by `process`: no zombie, no orphan, whatever happens to us.

mod calm;
mod catalogue;
mod child;
mod connection;
mod door;
mod faces;
mod front;
mod gateway;
mod guidance;
mod http;
mod hubs;
mod introduction;
mod late;
mod line;
mod link;
mod member;
mod metrics;
mod names;
mod notice;
mod params;
mod parked;
mod patrons;
mod pinning;
mod pool;
mod portable;
mod pulse;
mod relay;
mod rests;
mod roster;
mod rounds;
mod running;
mod said;
mod seat;
mod settings;
mod single;
mod slow;
mod sse;
mod step;
mod tally;
mod tasks;
mod time_limit;
mod token;
mod upstream;
mod uris;
mod veil;

pub use failwell_transport::Trust;
pub use front::Front;
pub use gateway::Gateway;
pub use roster::Reloaded;
pub use settings::{ClientCredentials, Reach, Restart, Sharing, UpstreamSettings, Wire};
