//! The head of a request, parsed once.

pub(super) mod body;
pub(super) mod body_budget;
pub(super) mod drain;

use std::net::IpAddr;
use std::sync::Arc;

use failwell_fault::{Fault, reason};
use failwell_pipeline::Headers;
use failwell_rpc::{Dialect, RestStyle, Revision};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, Method};

use super::routes::{Action, Route, RoutePlace, RouteTable, decoded};

// Static header names: a string would be validated and hashed at each lookup.
static PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
static SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
static METHOD: HeaderName = HeaderName::from_static("mcp-method");
static NAME: HeaderName = HeaderName::from_static("mcp-name");
static API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Headers whose repetition could change what a request means.
const ONCE: [&str; 5] = ["host", "authorization", "x-api-key", "origin", "mcp-session-id"];

/// What a caller presents to be authenticated.
#[derive(Clone, Copy)]
pub enum Credential<'a> {
    /// `Authorization: Bearer`: a key or a token.
    Bearer(&'a str),
    /// `X-API-Key`: a key.
    ApiKey(&'a str),
}

impl<'a> Credential<'a> {
    pub fn text(self) -> &'a str {
        match self {
            Credential::Bearer(text) | Credential::ApiKey(text) => text,
        }
    }
}

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
    /// The authority of a target in absolute form. It takes precedence over `Host`.
    authority: Option<&'a str>,
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
        let authority = parts.uri.authority().map(Authority::as_str);
        RequestHead {
            place,
            route,
            method,
            path,
            query,
            connection,
            authority,
            headers,
            accept,
            stated,
            peer,
        }
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

    /// The host that the client addresses (RFC 9112, section 3.2.2).
    pub fn host(&self) -> Option<&'a str> {
        self.authority.or_else(|| self.get(HOST))
    }

    /// A header that must be single, but is not.
    pub(super) fn repeated(&self) -> Option<&'static str> {
        if self.headers.keys_len() == self.headers.len() {
            return None;
        }
        ONCE.into_iter().find(|name| self.headers.get_all(*name).iter().nth(1).is_some())
    }

    pub fn origin(&self) -> Option<&'a str> {
        self.get(ORIGIN)
    }

    /// The key or token, from either header.
    pub fn credential(&self) -> Result<Option<Credential<'a>>, Fault> {
        let bearer = self.get(AUTHORIZATION).and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        match (bearer, self.get(&API_KEY)) {
            (Some(bearer), Some(key)) if bearer != key => Err(Fault::new(&reason::HTTP_TWO_CREDENTIALS)),
            (Some(bearer), _) => Ok(Some(Credential::Bearer(bearer))),
            (None, key) => Ok(key.map(Credential::ApiKey)),
        }
    }

    /// The parameters of the query, decoded.
    pub fn query_pairs(&self) -> impl Iterator<Item = (String, String)> + use<'a> {
        let pairs = self.query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let plain = |text: &str| decoded(&text.replace('+', "%20"));
            (plain(name), plain(value))
        })
    }

    pub fn content_type(&self) -> Option<&'a str> {
        Some(self.get(CONTENT_TYPE)?.split(';').next().unwrap_or_default().trim())
    }

    pub fn content_length(&self) -> Option<u64> {
        self.get(http::header::CONTENT_LENGTH)?.parse().ok()
    }

    /// Returns true if the client accepts a type, including by wildcard.
    pub fn accepts(&self, wanted: &str) -> bool {
        self.accept.accepts(wanted)
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

/// The header value of nearly all clients.
const USUAL: &str = "application/json, text/event-stream";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AcceptRange {
    /// Quality in thousandths: 0 (refused) to 1000.
    quality: u16,
    /// The index of the matching range.
    position: usize,
}

/// The `Accept` header of one request. The usual value is recognised once and not parsed.
#[derive(Clone, Copy)]
pub(super) struct Accept<'a> {
    headers: &'a HeaderMap,
    is_usual: bool,
}

impl<'a> Accept<'a> {
    pub(super) fn of(headers: &'a HeaderMap) -> Accept<'a> {
        Accept { headers, is_usual: headers.get(ACCEPT).is_some_and(|first| first == USUAL) }
    }

    /// The entry for a type by its exact name, without wildcards.
    fn named(self, wanted: &str) -> Option<AcceptRange> {
        let values = self.headers.get_all(ACCEPT).iter();
        let ranges = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
        ranges.enumerate().find_map(|(position, range)| {
            let mut parts = range.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
            let name = parts.next().unwrap_or_default();
            name.eq_ignore_ascii_case(wanted.as_bytes())
                .then(|| AcceptRange { quality: quality(parts), position })
        })
    }

    /// The entry for a type, by its most specific range.
    fn range_of(self, wanted: &str) -> Option<AcceptRange> {
        let family = wanted.split('/').next().unwrap_or_default();
        self.named(wanted).or_else(|| self.named(&format!("{family}/*"))).or_else(|| self.named("*/*"))
    }

    pub(super) fn accepts(self, wanted: &str) -> bool {
        let is_usual = self.is_usual && matches!(wanted, "application/json" | "text/event-stream");
        is_usual || self.range_of(wanted).is_some_and(|range| range.quality > 0)
    }

    /// Returns true if the client names both types and prefers an event stream to a JSON document.
    pub(super) fn prefers_events(self) -> bool {
        if self.is_usual {
            return false;
        }
        match (self.named("text/event-stream"), self.named("application/json")) {
            (Some(events), Some(json)) => {
                events.quality > json.quality
                    || events.quality == json.quality && events.position < json.position
            }
            _ => false,
        }
    }

    /// Returns true if the client names problem details and prefers no other type.
    pub(super) fn prefers_problems(self) -> bool {
        let Some(problem) = self.named("application/problem+json") else { return false };
        let plain = self.range_of("application/json").map_or(0, |range| range.quality);
        problem.quality > 0 && problem.quality >= plain
    }
}

/// Reads `q=0.8` in thousandths. A missing or invalid value counts as 1.
fn quality<'a>(mut parameters: impl Iterator<Item = &'a [u8]>) -> u16 {
    let found = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_at_checked(2)?;
        name.eq_ignore_ascii_case(b"q=").then_some(value)
    });
    let number = found.and_then(|value| std::str::from_utf8(value).ok()?.trim().parse::<f32>().ok());
    number
        .filter(|number| number.is_finite())
        .map_or(1000, |number| (number.clamp(0.0, 1.0) * 1000.0).round() as u16)
}

#[cfg(test)]
mod tests {
    use super::Accept;
    use http::header::{ACCEPT, HeaderMap, HeaderValue};

    fn headers(values: &[&'static str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        values.iter().for_each(|value| {
            headers.append(ACCEPT, HeaderValue::from_static(value));
        });
        headers
    }

    #[test]
    fn problem_details_are_for_those_who_want_them_most() {
        for (accept, wanted) in [
            (&["application/problem+json"][..], true),
            (&["application/json, application/problem+json"], true),
            (&["application/json", "Application/Problem+JSON"], true),
            (&["application/problem+json;q=0.9, */*;q=0.5"], true),
            (&["application/problem+json;q=0.5, application/json"], false),
            (&["application/problem+json;q=0.5, */*"], false),
            (&["application/problem+json;q=0"], false),
            (&["application/problem+json ; Q=0.3 , application/json ; q=0.2"], true),
            (&["application/json"], false),
            (&["*/*"], false),
            (&["application/*"], false),
            (&[], false),
        ] {
            assert_eq!(Accept::of(&headers(accept)).prefers_problems(), wanted, "{accept:?}");
        }
    }

    #[test]
    fn the_range_that_fits_best_decides() {
        for (accept, wanted, taken) in [
            ("*/*", "text/event-stream", true),
            ("text/*, application/json", "text/event-stream", true),
            ("*/*, text/event-stream;q=0", "text/event-stream", false),
            ("*/*;q=0", "application/json", false),
            ("*/*;q=0, application/json;q=0.001", "application/json", true),
            ("application/json;q=nonsense", "application/json", true),
            ("text/html", "application/json", false),
        ] {
            assert_eq!(Accept::of(&headers(&[accept])).accepts(wanted), taken, "{accept}");
        }
    }

    #[test]
    fn events_first_when_named_first_or_wanted_more() {
        for (accept, first) in [
            ("application/json, text/event-stream", false),
            ("text/event-stream, application/json", true),
            ("text/event-stream;q=0.5, application/json", false),
            ("application/json;q=0.5, text/event-stream", true),
            ("text/event-stream", false),
        ] {
            assert_eq!(Accept::of(&headers(&[accept])).prefers_events(), first, "{accept}");
        }
    }
}
