//! Rules and guards in front of upstreams.

mod guarded;
mod rules;
