//! A request's head, read once.

use std::net::IpAddr;

use failwell_rpc::{Face, RestStyle, Revision};
use failwell_server::Headers;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method};

use super::lock::METADATA;

// Names made once: a text would be checked and hashed anew at every look.
static PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
static SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
static METHOD: HeaderName = HeaderName::from_static("mcp-method");
static NAME: HeaderName = HeaderName::from_static("mcp-name");
static API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// What nearly every client accepts, in these words.
const USUAL: &str = "application/json, text/event-stream";

/// Where a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Mcp,
    Rpc,
    Tools,
    Tool,
    /// Calls that need a person's yes.
    Approvals,
    /// One of them.
    Approval,
    OpenApi,
    Health,
    Ready,
    Metrics,
    /// How to get a token.
    Metadata,
    Nowhere,
}

impl Place {
    pub(super) fn of(path: &str) -> Place {
        match path {
            "/mcp" | "/mcp/" => Place::Mcp,
            _ if Place::server_of(path).is_some() => Place::Mcp,
            "/rpc" => Place::Rpc,
            "/v1/tools" => Place::Tools,
            "/v1/approvals" => Place::Approvals,
            "/openapi.json" => Place::OpenApi,
            "/healthz" => Place::Health,
            "/readyz" => Place::Ready,
            "/metrics" => Place::Metrics,
            _ if path.strip_prefix(METADATA).is_some_and(Place::has_metadata) => Place::Metadata,
            _ if path.strip_prefix("/v1/tools/").is_some_and(|name| !name.is_empty()) => Place::Tool,
            _ if path.strip_prefix("/v1/approvals/").is_some_and(is_plain) => Place::Approval,
            _ => Place::Nowhere,
        }
    }

    /// Whether there is something to know about getting a token for what is at this path, or for everything.
    fn has_metadata(path: &str) -> bool {
        path.is_empty() || matches!(Place::of(path), Place::Mcp | Place::Rpc | Place::Tools | Place::Tool)
    }

    /// The one server that is meant by `/mcp/<server>`.
    pub(super) fn server_of(path: &str) -> Option<&str> {
        path.strip_prefix("/mcp/").filter(|server| !server.is_empty() && !server.contains('/'))
    }

    /// The methods a place knows.
    pub(super) fn allows(self, modern: bool) -> &'static [&'static str] {
        match self {
            Place::Mcp if modern => &["POST"],
            Place::Mcp => &["POST", "GET", "DELETE"],
            Place::Rpc | Place::Tool => &["POST"],
            Place::Approval => &["GET", "POST"],
            Place::Tools
            | Place::Approvals
            | Place::OpenApi
            | Place::Health
            | Place::Ready
            | Place::Metrics
            | Place::Metadata => &["GET"],
            Place::Nowhere => &[],
        }
    }

    /// Whether everybody may look.
    pub(super) fn is_open(self) -> bool {
        matches!(self, Place::OpenApi | Place::Health | Place::Ready | Place::Metadata)
    }
}

/// A name of ours: one piece of letters and digits.
fn is_plain(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The head of one request.
pub(super) struct Head<'a> {
    pub(super) place: Place,
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    headers: &'a HeaderMap,
    stated: Option<Revision>,
    /// Where it came from.
    pub(super) peer: IpAddr,
}

impl<'a> Head<'a> {
    pub(super) fn of(parts: &'a Parts, peer: IpAddr) -> Head<'a> {
        let path = parts.uri.path();
        let headers = &parts.headers;
        let version = headers.get(&PROTOCOL_VERSION).and_then(|value| value.to_str().ok());
        let stated = version.and_then(|version| Revision::parse(version.trim()));
        Head { place: Place::of(path), method: &parts.method, path, headers, stated, peer }
    }

    pub(super) fn get(&self, name: impl http::header::AsHeaderName) -> Option<&'a str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The dialect the answer is written in.
    pub(super) fn face(&self) -> Face {
        match self.place {
            Place::Mcp => Face::Mcp(self.revision()),
            Place::Rpc => Face::Rpc,
            _ if self.accepts("application/problem+json") => Face::Rest(RestStyle::Problem),
            _ => Face::Rest(RestStyle::Plain),
        }
    }

    /// The version header, if it names a version that exists.
    pub(super) fn stated_revision(&self) -> Option<Revision> {
        self.stated
    }

    fn revision(&self) -> Revision {
        self.stated_revision().unwrap_or(Revision::LATEST_SESSION)
    }

    pub(super) fn session_id(&self) -> Option<&'a str> {
        self.get(&SESSION_ID)
    }

    pub(super) fn host(&self) -> Option<&'a str> {
        self.get(HOST)
    }

    pub(super) fn origin(&self) -> Option<&'a str> {
        self.get(ORIGIN)
    }

    /// The key, from either header it may come in.
    pub(super) fn key(&self) -> Option<&'a str> {
        let bearer = self.get(AUTHORIZATION).and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        bearer.or_else(|| self.get(&API_KEY))
    }

    pub(super) fn content_type(&self) -> Option<&'a str> {
        Some(self.get(CONTENT_TYPE)?.split(';').next().unwrap_or_default().trim())
    }

    pub(super) fn content_length(&self) -> Option<u64> {
        self.get(http::header::CONTENT_LENGTH)?.parse().ok()
    }

    /// Whether a type is named in `Accept`, wildcards aside.
    fn accepts(&self, wanted: &str) -> bool {
        self.accept_position(wanted).is_some()
    }

    fn accept_position(&self, wanted: &str) -> Option<usize> {
        if self.headers.get(ACCEPT).is_some_and(|first| first == USUAL) {
            match wanted {
                "application/json" => return Some(0),
                "text/event-stream" => return Some(1),
                _ => {}
            }
        }
        let values = self.headers.get_all(ACCEPT).iter();
        let mut ranges = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
        ranges.position(|range| {
            let name = range.split(|byte| *byte == b';').next().unwrap_or_default();
            name.trim_ascii().eq_ignore_ascii_case(wanted.as_bytes())
        })
    }

    /// Whether a type may be sent, wildcards included.
    pub(super) fn takes(&self, wanted: &str) -> bool {
        let family = wanted.split('/').next().unwrap_or_default();
        self.accepts(wanted) || self.accepts("*/*") || self.accepts(&format!("{family}/*"))
    }

    /// Whether the client would rather have a stream than a document.
    pub(super) fn prefers_events(&self) -> bool {
        match (self.accept_position("text/event-stream"), self.accept_position("application/json")) {
            (Some(events), Some(json)) => events < json,
            _ => false,
        }
    }

    /// The headers a modern request repeats its body in.
    pub(super) fn mcp_headers(&self) -> Headers {
        let owned = |name: &HeaderName| self.get(name).map(str::to_owned);
        let params = self.headers.iter().filter_map(|(name, value)| {
            let param = name.as_str().strip_prefix("mcp-param-")?;
            Some((param.to_owned(), value.to_str().unwrap_or_default().to_owned()))
        });
        Headers {
            version: owned(&PROTOCOL_VERSION),
            method: owned(&METHOD),
            name: owned(&NAME),
            params: params.collect(),
        }
    }

    /// Whether the version header claims the modern era.
    pub(super) fn claims_modern(&self) -> bool {
        self.stated_revision() == Some(Revision::V2026_07_28)
    }
}
