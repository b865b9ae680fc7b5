//! The connect side: a small HTTP/1.1 client for servers behind the gateway.
//!
//! No redirects are followed and no proxy of the environment is used: credentials go where they were meant to go.

mod address;
mod chunks;
mod dial;
mod events;
mod head;
mod heard;
mod idle;
mod lines;
mod remote;
mod socket;
mod wire;
mod writing;

pub use dial::Trust;
pub use events::Events;
pub use heard::{ContentKind, Heard};
pub use lines::HeadLines;
pub use remote::{Remote, Unheard, Verb};
