//! The reply to one request.

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};

use crate::body::Body;

/// The server's reaction to a request.
#[derive(Debug)]
pub enum Reply {
    /// Sends a response.
    Response(Response<Body>),
    /// Resets the connection.
    Reset,
    /// Stops the whole server, as a crashed process would.
    Kill,
}

impl Reply {
    /// A response with this body.
    pub fn new(status: u16, content_type: &'static str, body: Body) -> Reply {
        Reply::Response(response(status, content_type, body))
    }

    /// A response with a whole text.
    pub fn text(status: u16, content_type: &'static str, text: impl Into<String>) -> Reply {
        Reply::new(status, content_type, Body::whole(text.into()))
    }

    /// A response in plain text.
    pub fn plain(status: StatusCode, text: &str) -> Reply {
        Reply::text(status.as_u16(), "text/plain; charset=utf-8", text)
    }

    /// Adds a header to a response.
    pub fn with_header(mut self, name: http::HeaderName, value: HeaderValue) -> Reply {
        if let Reply::Response(response) = &mut self {
            response.headers_mut().insert(name, value);
        }
        self
    }
}

fn response(status: u16, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
