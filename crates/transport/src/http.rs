//! HTTP: one listener, four faces.

mod accept;
mod approvals;
mod body;
mod connection;
mod doors;
mod events;
mod giving;
mod issuer;
mod ladder;
mod linger;
mod listener;
mod lock;
mod mcp;
mod openapi;
mod pages;
mod persist;
mod plain;
mod request;
mod resources;
mod rest;
mod router;
mod routes;
mod sessions;
mod settings;
mod shared;
mod timed_io;
mod turns;
mod upload;

pub use doors::{Doors, Houses};
pub use issuer::Issuer;
pub use listener::{serve_doors, serve_http};
pub use lock::{Credentials, Demand, Lock, Tokens};
pub use settings::HttpSettings;
