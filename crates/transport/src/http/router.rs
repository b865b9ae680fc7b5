//! From a request to the face that answers it.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use failwell_fault::{Fault, reason};
use failwell_policy::Caller;
use failwell_rpc::{Face, ReplyTo};
use failwell_server::House;
use futures_util::FutureExt;
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;

use super::body::{Body, empty, rendered, whole};
use super::ladder::{climb, read_body};
use super::linger::throw_away;
use super::request::Head;
use super::routes::Place;
use super::sessions::{Numbers, Sessions};
use super::settings::HttpSettings;
use super::{approvals, mcp, openapi, pages, plain, resources, rest};

/// Everything a request needs.
pub(super) struct Door {
    pub(super) house: Arc<House>,
    pub(super) settings: Arc<HttpSettings>,
    pub(super) sessions: Sessions,
}

impl Door {
    pub(super) fn new(house: Arc<House>, settings: Arc<HttpSettings>) -> Door {
        let numbers = if house.state().node().is_some() { Numbers::Apart } else { Numbers::Plain };
        let sessions = Sessions::new(settings.most_sessions, settings.idle_session, numbers);
        Door { house, settings, sessions }
    }

    pub(super) async fn answer(
        self: &Arc<Self>,
        request: Request<Incoming>,
        peer: IpAddr,
        on: &Arc<str>,
    ) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let head = Head::of(&parts, peer, on);
        let passing = async {
            match climb(&head, &self.settings).await {
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
        // The walk catches what a handler does; this is for our own mistakes around it.
        match AssertUnwindSafe(passing).catch_unwind().await {
            Ok(response) => response,
            Err(_) => Box::pin(self.refuse(Fault::new(&reason::SERVER_PANIC), &head)).await,
        }
    }

    async fn pass(self: &Arc<Self>, head: &Head<'_>, body: Incoming, caller: Caller) -> Response<Body> {
        if let Some(route) = head.route.filter(|route| route.is_asked_for_verbs(head.method.as_str())) {
            return verbs(&route.allows(head.claims_modern()));
        }
        match (head.place, head.method.as_str()) {
            (Place::Mcp, "GET") => Box::pin(mcp::resume(self, head, &caller)).await,
            (Place::Mcp, "DELETE") => Box::pin(mcp::end(self, head, &caller)).await,
            (Place::Mcp | Place::Rpc | Place::Tool, _) => match read_body(head, body, &self.settings).await {
                Err(fault) if head.place == Place::Mcp => {
                    last(self.refuse_as(fault, mcp::unread_face(head, self, &caller), head).await)
                }
                Err(fault) => last(self.refuse(fault, head).await),
                Ok(bytes) if head.place == Place::Mcp => mcp::post(self, head, bytes, caller).await,
                Ok(bytes) if head.place == Place::Rpc => plain::rpc(self, head, bytes, caller).await,
                Ok(bytes) => plain::tool(self, head, bytes, caller).await,
            },
            // Rare and large, so kept apart: what every request is made of stays small.
            (Place::Tools, _) => Box::pin(plain::tools(self, head, caller)).await,
            (Place::Approvals | Place::Approval, _) => {
                Box::pin(approvals::answer(self, head, body, caller)).await
            }
            (Place::Resources | Place::Resource | Place::ResourceMetadata, _) => {
                Box::pin(resources::answer(self, head, body, caller)).await
            }
            (
                Place::Me
                | Place::Sessions
                | Place::Session
                | Place::Heartbeat
                | Place::ContextItem
                | Place::Keys
                | Place::Key
                | Place::Operations
                | Place::Events,
                _,
            ) => Box::pin(rest::answer(self, head, body, caller)).await,
            (Place::OpenApi, _) => Box::pin(openapi::document(self, head)).await,
            (Place::Health, _) => pages::health(),
            (Place::Ready, _) => pages::ready(&self.house),
            (Place::Metrics, _) => pages::metrics(&self.house),
            (Place::Metadata, _) => match self.settings.lock.metadata(head) {
                Some(document) => whole(200, "application/json", document),
                None => Box::pin(self.refuse(Fault::new(&reason::HTTP_UNKNOWN_PATH), head)).await,
            },
            (Place::Nowhere, _) => self.refuse(Fault::new(&reason::HTTP_UNKNOWN_PATH), head).await,
        }
    }

    /// An answer to somebody whose message was never read.
    pub(super) async fn refuse(&self, fault: Fault, head: &Head<'_>) -> Response<Body> {
        self.refuse_as(fault, head.face(), head).await
    }

    async fn refuse_as(&self, fault: Fault, face: Face, head: &Head<'_>) -> Response<Body> {
        self.reply(self.house.refuse(fault, ReplyTo::misread(None, face), head.connection).await)
    }

    /// Bytes, or the status that says there are none.
    pub(super) fn reply(&self, reply: Option<failwell_render::Reply>) -> Response<Body> {
        reply.map_or_else(|| empty(StatusCode::ACCEPTED), rendered)
    }
}

/// What may be done at a path.
fn verbs(allowed: &[&'static str]) -> Response<Body> {
    let mut response = empty(StatusCode::NO_CONTENT);
    if let Ok(allowed) = http::HeaderValue::from_str(&allowed.join(", ")) {
        response.headers_mut().insert(http::header::ALLOW, allowed);
    }
    response
}

/// The last response of its connection: what is left of the body stands between it and the next request.
pub(super) fn last(mut response: Response<Body>) -> Response<Body> {
    response.headers_mut().insert(http::header::CONNECTION, http::HeaderValue::from_static("close"));
    response
}
