//! Cross-origin access (CORS) for the origins that the operator allows.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderValue, ORIGIN, VARY,
};
use http::{Response, StatusCode};

use crate::http::body::{Body, empty};
use crate::http::request::RequestHead;
use crate::http::settings::HttpSettings;

/// Response headers that pages may read.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "mcp-session-id, mcp-protocol-version, www-authenticate, retry-after, location, content-disposition",
);
/// How long a browser may keep the answer to a preflight request, in seconds.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// Answers a preflight request of an allowed origin. Browsers send it without credentials.
pub(in crate::http) fn preflight(head: &RequestHead<'_>, settings: &HttpSettings) -> Option<Response<Body>> {
    let route = head.route.filter(|_| head.method == http::Method::OPTIONS)?;
    let _ = (allowed(head, settings)?, head.get(ACCESS_CONTROL_REQUEST_METHOD)?);
    let mut response = empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers
        .insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_str(&route.allows(false).join(", ")).ok()?);
    // The server ignores headers that it does not know, so a page may send any.
    if let Some(wanted) = head.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_str(wanted).ok()?);
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    Some(response)
}

/// Lets the page of an allowed origin read a response, failures included.
pub(in crate::http) fn share(head: &RequestHead<'_>, settings: &HttpSettings, response: &mut Response<Body>) {
    if settings.allowed_origins.is_empty() {
        return;
    }
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_name(ORIGIN));
    if let Some(origin) = allowed(head, settings).and_then(|origin| HeaderValue::from_str(origin).ok()) {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
}

/// The origin of a request, if the operator lists it.
fn allowed<'a>(head: &RequestHead<'a>, settings: &HttpSettings) -> Option<&'a str> {
    head.origin().filter(|origin| settings.allows_origin(origin))
}
