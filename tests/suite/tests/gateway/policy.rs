//! Rules and guards in front of upstreams.

mod rules;
mod server_guards;
