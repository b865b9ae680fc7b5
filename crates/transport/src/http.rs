//! HTTP: one listener for four dialects.

mod access;
mod body;
mod handlers;
mod listener;
mod request;
mod router;
mod routes;
mod sessions;
mod settings;

pub use access::authenticate::{Authenticate, Authentication};
pub use listener::connections::ConnectionCounters;
pub use listener::{serve_http, serve_mounts};
pub use request::body_budget::BodyBudget;
pub use router::{Mounts, PipelineSet};
pub use settings::HttpSettings;

/// The items that another crate needs to add paths.
pub mod paths {
    pub use super::body::{Body, EventBody, empty, rendered, stream, whole};
    pub use super::handlers::rest::{finished, handle, read_shaped, read_value};
    pub use super::request::body::read_body;
    pub use super::request::drain::read_on;
    pub use super::request::{Credential, RequestHead};
    pub use super::router::{Mount, last};
    pub use super::routes::table::{DELETE, GET, POST, PUT, created, nothing, ok};
    pub use super::routes::{
        AcceptedBody, Action, CustomHandler, FailureFormat, Handler, METADATA, Query, ReadCall,
        RequiredAccess, RestInput, Route, RoutePlace, RouteTable, Shape, SuccessResponse, decoded, shapes,
    };
}
