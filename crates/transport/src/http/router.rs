//! Routes a request to its handler.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use failwell_fault::{Fault, reason};
use failwell_pipeline::Pipeline;
use failwell_rpc::Caller;
use failwell_rpc::{Dialect, ReplyTo};
use futures_util::FutureExt;
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;

use super::authorize::{authorize, read_body};
use super::body::{Body, empty, rendered, whole};
use super::drain::throw_away;
use super::request::RequestHead;
use super::routes::Handler;
use super::sessions::{Numbers, Sessions};
use super::settings::HttpSettings;
use super::{mcp, openapi, rest, rpc};

/// The state of one mount point.
pub struct Mount {
    /// Answers every request.
    pub pipeline: Arc<Pipeline>,
    pub settings: Arc<HttpSettings>,
    pub(super) sessions: Sessions,
}

impl Mount {
    pub(super) fn new(pipeline: Arc<Pipeline>, settings: Arc<HttpSettings>) -> Mount {
        let numbers = if pipeline.state().node().is_some() { Numbers::Apart } else { Numbers::Plain };
        let sessions = Sessions::new(settings.most_sessions, settings.idle_session, numbers);
        Mount { pipeline, settings, sessions }
    }

    pub(super) async fn answer(
        self: &Arc<Self>,
        request: Request<Incoming>,
        peer: IpAddr,
        on: &Arc<str>,
    ) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let head = RequestHead::of(&parts, peer, on, self.settings.routes);
        let passing = async {
            match authorize(&head, &self.settings).await {
                Ok(caller) => self.pass(&head, body, caller).await,
                Err(fault) => {
                    throw_away(body, &head, &self.settings);
                    let challenge = self.settings.lock.challenge(&fault, &head);
                    let mut response = self.refuse(fault, &head).await;
                    if let Some(challenge) = challenge.filter(|_| response.status().is_client_error()) {
                        response.headers_mut().insert(http::header::WWW_AUTHENTICATE, challenge);
                    }
                    response
                }
            }
        };
        // The pipeline catches panics of handlers; this catches our own mistakes around it.
        match AssertUnwindSafe(passing).catch_unwind().await {
            Ok(response) => response,
            Err(_) => Box::pin(self.refuse(Fault::new(&reason::SERVER_PANIC), &head)).await,
        }
    }

    async fn pass(
        self: &Arc<Self>,
        head: &RequestHead<'_>,
        body: Incoming,
        caller: Caller,
    ) -> Response<Body> {
        if let Some(route) = head.route.filter(|route| route.is_asked_for_verbs(head.method.as_str())) {
            return verbs(&route.allows(head.claims_modern()));
        }
        let Some(action) = head.action() else {
            return self.refuse(Fault::new(&reason::HTTP_UNKNOWN_PATH), head).await;
        };
        match action.handler {
            Handler::McpMessage => match read_body(head, body, &self.settings).await {
                Ok(bytes) => mcp::post(self, head, bytes, caller).await,
                Err(fault) => {
                    last(self.refuse_as(fault, mcp::unread_dialect(head, self, &caller), head).await)
                }
            },
            Handler::Rpc => match read_body(head, body, &self.settings).await {
                Ok(bytes) => rpc::rpc(self, head, bytes, caller).await,
                Err(fault) => last(self.refuse(fault, head).await),
            },
            // Boxed, because they are rarer and larger: the future of every MCP request stays small.
            Handler::Call(read) => Box::pin(rest::call(self, head, body, caller, read)).await,
            Handler::McpListen => Box::pin(mcp::resume(self, head, &caller)).await,
            Handler::McpEnd => Box::pin(mcp::end(self, head, &caller)).await,
            Handler::Custom(handler) => handler(self, head, body, caller).await,
            Handler::Page(page) => page(self),
            Handler::OpenApi => Box::pin(openapi::document(self, head)).await,
            Handler::TokenMetadata => match self.settings.lock.metadata(head) {
                Some(document) => whole(200, "application/json", document),
                None => Box::pin(self.refuse(Fault::new(&reason::HTTP_UNKNOWN_PATH), head)).await,
            },
            Handler::Missing => self.refuse(Fault::new(&reason::HTTP_UNKNOWN_PATH), head).await,
        }
    }

    /// Refuses a request whose message was not parsed.
    pub async fn refuse(&self, fault: Fault, head: &RequestHead<'_>) -> Response<Body> {
        self.refuse_as(fault, head.dialect(), head).await
    }

    async fn refuse_as(&self, fault: Fault, dialect: Dialect, head: &RequestHead<'_>) -> Response<Body> {
        self.reply(self.pipeline.refuse(fault, ReplyTo::misread(None, dialect), head.connection).await)
    }

    /// The rendered reply, or 202 if there is none.
    pub fn reply(&self, reply: Option<failwell_render::Reply>) -> Response<Body> {
        reply.map_or_else(|| empty(StatusCode::ACCEPTED), rendered)
    }
}

/// The methods of a path.
fn verbs(allowed: &[&'static str]) -> Response<Body> {
    let mut response = empty(StatusCode::NO_CONTENT);
    if let Ok(allowed) = http::HeaderValue::from_str(&allowed.join(", ")) {
        response.headers_mut().insert(http::header::ALLOW, allowed);
    }
    response
}

/// Marks the last response of a connection: the unread body would precede the next request.
pub fn last(mut response: Response<Body>) -> Response<Body> {
    response.headers_mut().insert(http::header::CONNECTION, http::HeaderValue::from_static("close"));
    response
}
