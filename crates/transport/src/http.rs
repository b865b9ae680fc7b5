//! HTTP: one listener for four dialects.

mod authenticate;
mod authorize;
mod body;
mod body_budget;
mod connections;
mod cors;
mod drain;
mod head_refusal;
mod listener;
mod mcp;
mod openapi;
mod pages;
mod request;
mod request_body;
mod rest;
mod router;
mod routes;
mod rpc;
mod sessions;
mod settings;
mod shared;

pub use authenticate::{Authenticate, Authentication};
pub use body_budget::BodyBudget;
pub use connections::ConnectionCounters;
pub use listener::{serve_http, serve_mounts};
pub use router::{Mounts, PipelineSet};
pub use settings::HttpSettings;

/// The items that another crate needs to add paths.
pub mod paths {
    pub use super::body::{Body, EventBody, empty, rendered, stream, whole};
    pub use super::drain::read_on;
    pub use super::request::{Credential, RequestHead};
    pub use super::request_body::read_body;
    pub use super::rest::{finished, handle, read_shaped, read_value};
    pub use super::router::{Mount, last};
    pub use super::routes::table::{DELETE, GET, POST, PUT, created, nothing, ok};
    pub use super::routes::{
        AcceptedBody, Action, CustomHandler, FailureFormat, Handler, METADATA, Query, ReadCall,
        RequiredAccess, RestInput, Route, RoutePlace, RouteTable, Shape, SuccessResponse, decoded, shapes,
    };
}
