//! HTTP: one listener for four dialects.

mod accept;
mod authenticate;
mod authorize;
mod body;
mod connection;
mod drain;
mod idle_timeouts;
mod listener;
mod mcp;
mod mounts;
mod openapi;
mod pages;
mod persist;
mod request;
mod rest;
mod router;
mod routes;
mod rpc;
mod sessions;
mod settings;
mod shared;
mod timed_io;

pub use authenticate::{Authenticate, Authentication};
pub use listener::{serve_http, serve_mounts};
pub use mounts::{Mounts, PipelineSet};
pub use settings::HttpSettings;

/// What another crate needs to add paths.
pub mod paths {
    pub use super::authorize::read_body;
    pub use super::body::{Body, EventBody, empty, rendered, stream, whole};
    pub use super::drain::read_on;
    pub use super::request::RequestHead;
    pub use super::rest::{finished, handle, read_shaped, read_value};
    pub use super::router::{Mount, last};
    pub use super::routes::table::{DELETE, GET, POST, PUT, created, nothing, ok};
    pub use super::routes::{
        Action, CustomHandler, Gives, Handler, METADATA, Needs, Query, ReadCall, RestInput, Route,
        RoutePlace, RouteTable, Shape, Speaks, Takes, decoded, shapes,
    };
}
