//! Raw bytes to and from the examined server: pipes of a child process, or HTTP/1.1 over a socket, with TLS if asked.

pub(crate) mod address;
pub(crate) mod child;
pub(crate) mod dial;
pub(crate) mod http;
pub(crate) mod response;
pub(crate) mod sse;
pub(crate) mod transcript;
