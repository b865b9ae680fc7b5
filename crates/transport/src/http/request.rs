//! The head of a request, parsed once.

use std::net::IpAddr;
use std::sync::Arc;

use failwell_pipeline::Headers;
use failwell_rpc::{Dialect, RestStyle, Revision};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method};

use super::accept::Accept;
use super::routes::{Action, Route, RoutePlace, RouteTable};

// Static header names: a string would be validated and hashed at each lookup.
static PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
static SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
static METHOD: HeaderName = HeaderName::from_static("mcp-method");
static NAME: HeaderName = HeaderName::from_static("mcp-name");
static API_KEY: HeaderName = HeaderName::from_static("x-api-key");

pub struct RequestHead<'a> {
    pub place: RoutePlace,
    /// The row of the route table, if the path exists.
    pub route: Option<&'static Route>,
    pub method: &'a Method,
    pub path: &'a str,
    /// The query string after `?`.
    pub query: Option<&'a str>,
    /// The short name of the connection.
    pub connection: &'a Arc<str>,
    headers: &'a HeaderMap,
    accept: Accept<'a>,
    stated: Option<Revision>,
    pub peer: IpAddr,
}

impl<'a> RequestHead<'a> {
    pub(super) fn of(
        parts: &'a Parts,
        peer: IpAddr,
        connection: &'a Arc<str>,
        routes: RouteTable,
    ) -> RequestHead<'a> {
        let path = parts.uri.path();
        let headers = &parts.headers;
        let version = headers.get(&PROTOCOL_VERSION).and_then(|value| value.to_str().ok());
        let stated = version.and_then(|version| Revision::parse(version.trim()));
        let route = routes.find(path);
        let place = route.map_or(RoutePlace::Nowhere, |route| route.place);
        let (method, query) = (&parts.method, parts.uri.query());
        let accept = Accept::of(headers);
        RequestHead { place, route, method, path, query, connection, headers, accept, stated, peer }
    }

    /// The action of the route table, if path and method exist.
    pub fn action(&self) -> Option<&'static Action> {
        self.route?.action(self.method.as_str())
    }

    /// The decoded value of a path parameter.
    pub fn part(&self, name: &str) -> String {
        self.route.map(|route| route.part(self.path, name)).unwrap_or_default()
    }

    pub fn get(&self, name: impl http::header::AsHeaderName) -> Option<&'a str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The dialect of the response.
    pub fn dialect(&self) -> Dialect {
        match self.place {
            RoutePlace::Mcp => Dialect::Mcp(self.revision()),
            // Other methods are not JSON-RPC, so they get an HTTP error.
            RoutePlace::Rpc if *self.method == Method::POST => Dialect::Rpc,
            _ if self.accept.prefers_problems() => Dialect::Rest(RestStyle::Problem),
            _ => Dialect::Rest(RestStyle::Plain),
        }
    }

    /// The version header, if it names a known version.
    pub fn stated_revision(&self) -> Option<Revision> {
        self.stated
    }

    fn revision(&self) -> Revision {
        self.stated_revision().unwrap_or(Revision::LATEST_SESSION)
    }

    pub fn session_id(&self) -> Option<&'a str> {
        self.get(&SESSION_ID)
    }

    pub fn host(&self) -> Option<&'a str> {
        self.get(HOST)
    }

    pub fn origin(&self) -> Option<&'a str> {
        self.get(ORIGIN)
    }

    /// The key or token, from either header.
    pub fn key(&self) -> Option<&'a str> {
        let bearer = self.get(AUTHORIZATION).and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        bearer.or_else(|| self.get(&API_KEY))
    }

    pub fn content_type(&self) -> Option<&'a str> {
        Some(self.get(CONTENT_TYPE)?.split(';').next().unwrap_or_default().trim())
    }

    pub fn content_length(&self) -> Option<u64> {
        self.get(http::header::CONTENT_LENGTH)?.parse().ok()
    }

    /// Returns true if the client accepts a type, including by wildcard.
    pub fn takes(&self, wanted: &str) -> bool {
        self.accept.takes(wanted)
    }

    pub fn prefers_events(&self) -> bool {
        self.accept.prefers_events()
    }

    /// The headers of a modern request, which repeat parts of its body.
    pub fn mcp_headers(&self) -> Headers {
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

    pub fn claims_modern(&self) -> bool {
        self.stated_revision() == Some(Revision::V2026_07_28)
    }
}
