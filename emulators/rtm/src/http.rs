//! The paths of the service: the REST endpoint, the approval page and the welcome page.

pub(crate) mod limiter;
pub(crate) mod page;
mod rest;

use std::sync::Arc;

use bytes::Bytes;
use failwell_emulator_http::{ControlReply, Handler, Reply, SharedState};
use http::header::{CONTENT_SECURITY_POLICY, HeaderValue};
use http::request::Parts;
use http::{Method, StatusCode};

use crate::api::params::Params;
use crate::control::{self, Control};
use crate::state::State;

/// Answers requests from the shared state.
pub(crate) struct RtmHandler {
    shared: Arc<SharedState<State>>,
}

impl RtmHandler {
    pub(crate) fn new(shared: Arc<SharedState<State>>) -> RtmHandler {
        RtmHandler { shared }
    }
}

impl Handler for RtmHandler {
    async fn handle(&self, head: Parts, body: Bytes) -> Reply {
        let params = Params::read(head.uri.query(), &body);
        match (&head.method, head.uri.path().trim_end_matches('/')) {
            (&Method::GET | &Method::POST, "/services/rest") => rest::answer(&self.shared, params).await,
            (&Method::GET, "/services/auth") => html(page::ask(&self.shared.lock(), &params)),
            (&Method::POST, "/services/auth") => html(page::decide(&mut self.shared.lock(), &params)),
            (_, "/services/rest" | "/services/auth") => {
                Reply::plain(StatusCode::METHOD_NOT_ALLOWED, "use GET or POST\n")
            }
            (&Method::GET, "") => Reply::text(200, "text/html; charset=utf-8", page::welcome()),
            _ => Reply::plain(StatusCode::NOT_FOUND, "there is nothing here\n"),
        }
    }

    fn control(&self, method: &Method, action: &str, body: &[u8]) -> ControlReply {
        control::answer(&Control::new(self.shared.clone()), method, action, body)
    }
}

/// A page for people. Its policy forbids foreign content and framing.
fn html(page: page::Page) -> Reply {
    Reply::text(page.status, "text/html; charset=utf-8", page.html)
        .with_header(CONTENT_SECURITY_POLICY, HeaderValue::from_static(page::POLICY))
}
