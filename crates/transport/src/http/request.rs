//! A request's head, read once.

use std::net::IpAddr;
use std::sync::Arc;

use failwell_rpc::{Face, RestStyle, Revision};
use failwell_server::Headers;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method};

use super::accept::Accept;
use super::routes::{self, Action, Place, Route};

// Names made once: a text would be checked and hashed anew at every look.
static PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
static SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
static METHOD: HeaderName = HeaderName::from_static("mcp-method");
static NAME: HeaderName = HeaderName::from_static("mcp-name");
static API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The head of one request.
pub(super) struct Head<'a> {
    pub(super) place: Place,
    /// The row of the table, if the path is there.
    pub(super) route: Option<&'static Route>,
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    /// What stands behind the `?`.
    pub(super) query: Option<&'a str>,
    /// The short name of the connection it came in on.
    pub(super) connection: &'a Arc<str>,
    headers: &'a HeaderMap,
    accept: Accept<'a>,
    stated: Option<Revision>,
    /// Where it came from.
    pub(super) peer: IpAddr,
}

impl<'a> Head<'a> {
    pub(super) fn of(parts: &'a Parts, peer: IpAddr, connection: &'a Arc<str>) -> Head<'a> {
        let path = parts.uri.path();
        let headers = &parts.headers;
        let version = headers.get(&PROTOCOL_VERSION).and_then(|value| value.to_str().ok());
        let stated = version.and_then(|version| Revision::parse(version.trim()));
        let route = routes::find(path);
        let place = route.map_or(Place::Nowhere, |route| route.place);
        let (method, query) = (&parts.method, parts.uri.query());
        let accept = Accept::of(headers);
        Head { place, route, method, path, query, connection, headers, accept, stated, peer }
    }

    /// What is asked for, as far as the table knows it.
    pub(super) fn action(&self) -> Option<&'static Action> {
        self.route?.action(self.method.as_str())
    }

    /// What stands in the path in the place of a name, decoded.
    pub(super) fn part(&self, name: &str) -> String {
        self.route.map(|route| route.part(self.path, name)).unwrap_or_default()
    }

    pub(super) fn get(&self, name: impl http::header::AsHeaderName) -> Option<&'a str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The dialect the answer is written in.
    pub(super) fn face(&self) -> Face {
        match self.place {
            Place::Mcp => Face::Mcp(self.revision()),
            // Any other verb is no JSON-RPC, and is told so as HTTP does.
            Place::Rpc if *self.method == Method::POST => Face::Rpc,
            _ if self.accept.prefers_problems() => Face::Rest(RestStyle::Problem),
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

    /// Whether a type may be sent, wildcards included.
    pub(super) fn takes(&self, wanted: &str) -> bool {
        self.accept.takes(wanted)
    }

    /// Whether the client would rather have a stream than a document.
    pub(super) fn prefers_events(&self) -> bool {
        self.accept.prefers_events()
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
