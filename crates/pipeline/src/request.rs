//! One request: its origin, its call, and the context of its handler.

pub(crate) mod call;
pub(crate) mod context_ports;
pub(crate) mod digest;
pub(crate) mod extension;
pub(crate) mod incoming_request;
pub(crate) mod panic;
pub(crate) mod request_port;
pub(crate) mod requester;
pub(crate) mod scope;
pub(crate) mod supervise;
