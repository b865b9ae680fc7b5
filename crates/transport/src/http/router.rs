//! The mount points, and the way of a request to its handler. All servers are at `/mcp`, single servers at
//! `/mcp/<server>`. Single servers can change at run time.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use arc_swap::ArcSwap;
use failwell_fault::{Fault, reason};
use failwell_pipeline::{Pipeline, Requester};
use failwell_rpc::Caller;
use failwell_rpc::{Dialect, ReplyTo};
use futures_util::FutureExt;
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use parking_lot::Mutex;

use super::access::authorize::{Rejection, authorize, check_address};
use super::access::cors;
use super::body::{Body, empty, rendered, whole};
use super::handlers::{front_page, mcp, openapi, rest, rpc};
use super::request::RequestHead;
use super::request::body::read_body;
use super::request::drain::discard;
use super::routes::Handler;
use super::sessions::{Numbers, Sessions};
use super::settings::HttpSettings;
use crate::shutdown::{FLUSH, settle};

/// The pipelines to serve: all servers at `/mcp`, and single servers at `/mcp/<server>`.
#[derive(Clone)]
pub struct PipelineSet {
    main: Arc<Pipeline>,
    single: BTreeMap<String, Arc<Pipeline>>,
}

impl PipelineSet {
    /// Also serves a pipeline at `/mcp/<name>`.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, pipeline: Arc<Pipeline>) -> PipelineSet {
        self.single.insert(name.into(), pipeline);
        self
    }
}

impl From<Arc<Pipeline>> for PipelineSet {
    fn from(main: Arc<Pipeline>) -> PipelineSet {
        PipelineSet { main, single: BTreeMap::new() }
    }
}

/// The mounts of all pipelines.
pub struct Mounts {
    main: Arc<Mount>,
    single: ArcSwap<BTreeMap<String, Arc<Mount>>>,
    /// Removed mounts that may still have running requests.
    retired: Arc<Mutex<Vec<Arc<Mount>>>>,
}

impl Mounts {
    pub fn new(pipelines: impl Into<PipelineSet>, settings: HttpSettings) -> Mounts {
        let PipelineSet { main, single } = pipelines.into();
        let main = Arc::new(Mount::new(main, Arc::new(settings)));
        let mounts = Mounts { main, single: ArcSwap::default(), retired: Arc::default() };
        mounts.replace(single);
        mounts
    }

    /// Replaces the single servers. An unchanged pipeline keeps its mount and its sessions. A removed one
    /// completes its accepted requests, and then its sessions end.
    pub fn replace(&self, pipelines: BTreeMap<String, Arc<Pipeline>>) {
        let before = self.single.load_full();
        let mount = |name: &String, pipeline: Arc<Pipeline>| {
            let known = before.get(name).filter(|mount| Arc::ptr_eq(&mount.pipeline, &pipeline));
            known.cloned().unwrap_or_else(|| Arc::new(Mount::new(pipeline, self.main.settings.clone())))
        };
        let after: BTreeMap<String, Arc<Mount>> =
            pipelines.into_iter().map(|(name, pipeline)| (name.clone(), mount(&name, pipeline))).collect();
        let is_kept = |mount: &Arc<Mount>| after.values().any(|kept| Arc::ptr_eq(kept, mount));
        let gone: Vec<Arc<Mount>> = before.values().filter(|mount| !is_kept(mount)).cloned().collect();
        self.single.store(Arc::new(after));
        self.retired.lock().extend(gone.iter().cloned());
        gone.into_iter().for_each(|mount| {
            tokio::spawn(close(mount, self.retired.clone()));
        });
    }

    pub(super) fn settings(&self) -> &HttpSettings {
        &self.main.settings
    }

    pub(super) fn all(&self) -> Vec<Arc<Mount>> {
        std::iter::once(&self.main).chain(self.single.load().values()).cloned().collect()
    }

    /// All mounts, including removed ones whose requests still run.
    pub(super) fn with_retired(&self) -> Vec<Arc<Mount>> {
        self.all().into_iter().chain(self.retired.lock().iter().cloned()).collect()
    }

    /// The mount of a pipeline by name; the main pipeline has the empty name.
    pub(super) fn named(&self, pipeline: &str) -> Option<Arc<Mount>> {
        if pipeline.is_empty() { Some(self.main.clone()) } else { self.find(pipeline) }
    }

    pub(super) fn main(&self) -> &Arc<Mount> {
        &self.main
    }

    fn find(&self, server: &str) -> Option<Arc<Mount>> {
        self.single.load().get(server).cloned()
    }

    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
        peer: IpAddr,
        on: &Arc<str>,
    ) -> Response<Body> {
        match server_of(request.uri().path()) {
            None => self.main.answer(request, peer, on, Existence::Public).await,
            Some(server) => match self.find(server) {
                Some(mount) => mount.answer(request, peer, on, Existence::Restricted).await,
                // Checked like a known server: a caller without a key learns of neither.
                None => self.main.answer(request, peer, on, Existence::Unknown).await,
            },
        }
    }
}

/// The server name in `/mcp/<server>`.
fn server_of(path: &str) -> Option<&str> {
    path.strip_prefix("/mcp/").filter(|server| !server.is_empty() && !server.contains('/'))
}

/// Refuses new requests, and ends running ones and sessions after the time that a shutdown allows.
async fn close(mount: Arc<Mount>, retired: Arc<Mutex<Vec<Arc<Mount>>>>) {
    mount.pipeline.refuse_requests();
    mount.sessions.finish_notices();
    let is_done = || mount.pipeline.running() == 0;
    if !settle(mount.settings.drain, is_done).await {
        mount.pipeline.end_running();
        settle(FLUSH, is_done).await;
    }
    mount.sessions.end_all();
    retired.lock().retain(|other| !Arc::ptr_eq(other, &mount));
}

/// Who gets an answer at a path other than that it does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existence {
    Public,
    /// Callers who may know the server.
    Restricted,
    Unknown,
}

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
        let most = (settings.most_sessions, settings.most_sessions_per_caller);
        let sessions = Sessions::new(most, settings.idle_session, numbers);
        Mount { pipeline, settings, sessions }
    }

    pub(super) async fn answer(
        self: &Arc<Self>,
        request: Request<Incoming>,
        peer: IpAddr,
        on: &Arc<str>,
        existence: Existence,
    ) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let head = RequestHead::of(&parts, peer, on, self.settings.routes);
        let passing = async {
            match authorize(&head, &self.settings).await {
                Ok(caller) if !self.exists(&head, &caller, existence) => {
                    discard(body, &head, &self.settings);
                    self.refuse(Fault::new(&reason::HTTP_UNKNOWN_PATH), &head, Some(&caller)).await
                }
                Ok(caller) => self.pass(&head, body, caller).await,
                // Boxed, because it is rare: the future of every request stays small.
                Err(rejection) => Box::pin(self.refuse_unread(rejection, &head, body)).await,
            }
        };
        // The pipeline catches panics of handlers; this catches our own mistakes around it.
        let mut response = match AssertUnwindSafe(passing).catch_unwind().await {
            Ok(response) => response,
            Err(_) => Box::pin(self.refuse(Fault::new(&reason::SERVER_PANIC), &head, None)).await,
        };
        cors::share(&head, &self.settings, &mut response);
        if self.pipeline.closing().is_cancelled() { last(response) } else { response }
    }

    /// An unknown server, and one that is hidden from the caller, get the same answer after the same checks.
    fn exists(&self, head: &RequestHead<'_>, caller: &Caller, existence: Existence) -> bool {
        match existence {
            Existence::Public => true,
            // No caller is known when a path is asked for its methods.
            _ if head.action().is_none() => true,
            Existence::Restricted => self.pipeline.server().is_visible_to(caller),
            Existence::Unknown => false,
        }
    }

    /// Refuses a request before its body is read.
    async fn refuse_unread(
        self: &Arc<Self>,
        rejection: Rejection,
        head: &RequestHead<'_>,
        body: Incoming,
    ) -> Response<Body> {
        let Rejection { fault, caller } = rejection;
        let is_preflight = check_address(head, &self.settings).is_ok();
        if let Some(response) = cors::preflight(head, &self.settings).filter(|_| is_preflight) {
            return response;
        }
        if *fault.reason() == reason::HTTP_UNKNOWN_PATH
            && let Some(page) = front_page::front_page(&self.pipeline, head)
        {
            discard(body, head, &self.settings);
            return page;
        }
        if head.dialect() == Dialect::Rpc && *fault.reason() != reason::RPC_NOT_JSON {
            return rpc::refuse(self, head, body, fault, caller.as_ref()).await;
        }
        discard(body, head, &self.settings);
        let challenge = self.settings.authenticator.challenge(&fault, head);
        let mut response = self.refuse(fault, head, caller.as_ref()).await;
        if let Some(challenge) = challenge.filter(|_| response.status().is_client_error()) {
            response.headers_mut().insert(http::header::WWW_AUTHENTICATE, challenge);
        }
        response
    }

    async fn pass(
        self: &Arc<Self>,
        head: &RequestHead<'_>,
        body: Incoming,
        caller: Caller,
    ) -> Response<Body> {
        if let Some(route) = head.route.filter(|route| route.is_asked_for_verbs(head.method.as_str())) {
            let preflight = cors::preflight(head, &self.settings);
            return preflight.unwrap_or_else(|| verbs(&route.allows(head.claims_modern())));
        }
        let Some(action) = head.action() else {
            return self.refuse_path(head, &caller).await;
        };
        match action.handler {
            Handler::McpMessage => match read_body(self, head, body, &caller).await {
                Ok(bytes) => mcp::post(self, head, bytes, caller).await,
                Err(fault) => {
                    let dialect = mcp::unread_dialect(head, self, &caller);
                    last(self.refuse_as(fault, dialect, head, Some(&caller)).await)
                }
            },
            Handler::Rpc => match read_body(self, head, body, &caller).await {
                Ok(bytes) => rpc::rpc(self, head, bytes, caller).await,
                Err(fault) => last(self.refuse(fault, head, Some(&caller)).await),
            },
            // Boxed, because they are rarer and larger: the future of every MCP request stays small.
            Handler::Call(read) => Box::pin(rest::call(self, head, body, caller, read)).await,
            Handler::McpListen => Box::pin(mcp::resume(self, head, &caller)).await,
            Handler::McpEnd => Box::pin(mcp::end(self, head, &caller)).await,
            Handler::Custom(handler) => handler(self, head, body, caller).await,
            Handler::Page(page) => page(self, &caller),
            Handler::OpenApi => Box::pin(openapi::document(self, head)).await,
            Handler::TokenMetadata => match self.settings.authenticator.metadata(head) {
                Some(document) => whole(200, "application/json", document),
                None => self.refuse_path(head, &caller).await,
            },
            Handler::Missing => self.refuse_path(head, &caller).await,
        }
    }

    /// Waits for a part of a request. Fails when the server stops.
    pub(super) async fn unless_closing<T>(&self, waiting: impl Future<Output = T>) -> Result<T, Fault> {
        tokio::select! {
            biased;
            done = waiting => Ok(done),
            () = self.pipeline.closing().cancelled() => Err(Fault::new(&reason::SERVER_SHUTDOWN)),
        }
    }

    /// Refuses a request whose message was not parsed. `caller` is set if the caller was identified before.
    pub async fn refuse(
        &self,
        fault: Fault,
        head: &RequestHead<'_>,
        caller: Option<&Caller>,
    ) -> Response<Body> {
        self.refuse_as(fault, head.dialect(), head, caller).await
    }

    async fn refuse_as(
        &self,
        fault: Fault,
        dialect: Dialect,
        head: &RequestHead<'_>,
        caller: Option<&Caller>,
    ) -> Response<Body> {
        let to = ReplyTo::unreadable(None, dialect);
        let from = self.requester(head, caller);
        self.reply(self.pipeline.refuse(fault, to, head.connection, from).await)
    }

    async fn refuse_path(&self, head: &RequestHead<'_>, caller: &Caller) -> Response<Body> {
        // Boxed, because it is rare: the future of every request stays small.
        Box::pin(self.refuse(Fault::new(&reason::HTTP_UNKNOWN_PATH), head, Some(caller))).await
    }

    /// The origin of a refused request. A caller without credentials is identified only where callers need none.
    pub(super) fn requester<'a>(&self, head: &RequestHead<'_>, caller: Option<&'a Caller>) -> Requester<'a> {
        let is_known =
            |caller: &&Caller| **caller != Caller::anonymous() || self.settings.authenticator.is_open();
        caller.filter(is_known).map_or(Requester::Address(head.peer), Requester::Caller)
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
