//! One function per endpoint. Each states whether it changes the device, and each has a deadline.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use failwell_http_client::{HttpClient, Method, Request, Resend, SendError};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::actions::Gesture;
use super::element::{ElementId, Rect};
use super::error::{DriverError, WebDriverErrorCode};

/// The effect of a command on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// The command can be repeated.
    Reads,
    /// The command may have been performed even if its response was lost.
    Acts,
}

/// A started session.
#[derive(Debug, Clone)]
pub(crate) struct NewSession {
    pub(crate) session: String,
    pub(crate) capabilities: Map<String, Value>,
}

/// One line of a log.
#[derive(Debug, Clone, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct LogEntry {
    /// Milliseconds since 1970, where the driver says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timestamp: Option<f64>,
    /// Such as `INFO`.
    #[serde(default)]
    pub(crate) level: String,
    /// The logged text.
    #[serde(default)]
    pub(crate) message: String,
}

/// The media type of every request that has a body.
const JSON: &str = "application/json; charset=utf-8";
/// Maximum idle time of a connection that an action may reuse.
const RECENT: Duration = Duration::from_secs(2);
/// Additional time of a gesture beyond its own duration.
const GESTURE_SLACK: Duration = Duration::from_secs(2);

/// The client of one session.
#[derive(Debug, Clone)]
pub(crate) struct WebDriverClient {
    http: Arc<HttpClient>,
    timeout: Duration,
    /// The path prefix `/session/…`.
    base: String,
}

struct WebDriverCommand<'a> {
    method: Method,
    path: &'a str,
    body: Option<Value>,
    access: Access,
    limit: Duration,
}

async fn exchange(http: &HttpClient, command: WebDriverCommand<'_>) -> Result<Bytes, DriverError> {
    let WebDriverCommand { method, path, body, access, limit } = command;
    let body = body.map(|body| (JSON, Bytes::from(body.to_string())));
    let resend = match access {
        Access::Reads => Resend::Safe,
        Access::Acts => Resend::Never { reuse_within: RECENT },
    };
    let sent = http.exchange(&Request { method, path, body }, resend, limit).await;
    let response = sent.map_err(|error| match error {
        SendError::NotSent(error) => DriverError::NotSent(error),
        SendError::ConnectionLost(error) => DriverError::Lost { access, error },
        SendError::TimedOut => DriverError::TimedOut { access, limit },
        SendError::TooLarge(size) => DriverError::TooLarge { size, limit: http.max_body_bytes() },
    })?;
    let is_success = (200..300).contains(&response.status);
    if is_success { Ok(response.body) } else { Err(parse_error(response.status, &response.body)) }
}

#[derive(Deserialize)]
struct WebDriverResponse<T> {
    value: T,
}

#[derive(Deserialize)]
struct ErrorValue {
    error: String,
    #[serde(default)]
    message: String,
}

/// The error for a failure status: a W3C error, or an invalid response.
fn parse_error(status: u16, body: &[u8]) -> DriverError {
    match serde_json::from_slice::<WebDriverResponse<ErrorValue>>(body) {
        Ok(WebDriverResponse { value: ErrorValue { error, message } }) => {
            let describe = format!("{status} {error}: {message}");
            DriverError::Refused { refusal: WebDriverErrorCode::from_code(&error), describe }
        }
        Err(_) => {
            DriverError::InvalidResponse { why: "an error that is none of WebDriver", body: body.to_vec() }
        }
    }
}

fn value<T: DeserializeOwned>(body: &[u8]) -> Result<T, DriverError> {
    match serde_json::from_slice::<WebDriverResponse<T>>(body) {
        Ok(answer) => Ok(answer.value),
        Err(_) => Err(DriverError::InvalidResponse { why: "a value of another shape", body: head(body) }),
    }
}

/// The start of an invalid response, for the operator.
fn head(body: &[u8]) -> Vec<u8> {
    body.get(..4_096).unwrap_or(body).to_vec()
}

/// Decodes a base64 picture without a copy of its text.
fn picture(body: &[u8]) -> Result<Bytes, DriverError> {
    #[derive(Deserialize)]
    struct Base64Value<'a> {
        #[serde(borrow)]
        value: std::borrow::Cow<'a, str>,
    }
    let invalid = |why| DriverError::InvalidResponse { why, body: head(body) };
    let encoded: Base64Value<'_> = serde_json::from_slice(body).map_err(|_| invalid("no picture"))?;
    // Some drivers insert line breaks.
    let text: std::borrow::Cow<'_, str> = if encoded.value.contains(['\n', '\r']) {
        encoded.value.replace(['\n', '\r'], "").into()
    } else {
        encoded.value
    };
    let png = STANDARD.decode(text.as_bytes()).map_err(|_| invalid("a picture that is no base64"))?;
    if png.starts_with(b"\x89PNG") { Ok(Bytes::from(png)) } else { Err(invalid("a picture that is no PNG")) }
}

/// Asks the driver for its status.
pub(crate) async fn status(http: &HttpClient, limit: Duration) -> Result<Value, DriverError> {
    let access = Access::Reads;
    let body =
        exchange(http, WebDriverCommand { method: Method::GET, path: "/status", body: None, access, limit })
            .await?;
    value(&body)
}

impl WebDriverClient {
    pub(crate) async fn start(
        http: Arc<HttpClient>,
        timeout: Duration,
        limit: Duration,
        capabilities: &Map<String, Value>,
    ) -> Result<(WebDriverClient, NewSession), DriverError> {
        let body = json!({"capabilities": {"alwaysMatch": capabilities, "firstMatch": [{}]}});
        let command = WebDriverCommand {
            method: Method::POST,
            path: "/session",
            body: Some(body),
            access: Access::Acts,
            limit,
        };
        let body = exchange(&http, command).await?;
        let started = parse_new_session(&body)?;
        let base = format!("/session/{}", started.session);
        Ok((WebDriverClient { http, timeout, base }, started))
    }

    /// Asks the driver for its status.
    pub(crate) async fn status(http: &HttpClient, limit: Duration) -> Result<Value, DriverError> {
        status(http, limit).await
    }

    async fn send(
        &self,
        method: Method,
        below: &str,
        body: Option<Value>,
        access: Access,
    ) -> Result<Bytes, DriverError> {
        self.send_within(method, below, body, access, self.timeout).await
    }

    async fn send_within(
        &self,
        method: Method,
        below: &str,
        body: Option<Value>,
        access: Access,
        limit: Duration,
    ) -> Result<Bytes, DriverError> {
        let path = format!("{}{below}", self.base);
        exchange(&self.http, WebDriverCommand { method, path: &path, body, access, limit }).await
    }

    async fn get<T: DeserializeOwned>(&self, below: &str) -> Result<T, DriverError> {
        value(&self.send(Method::GET, below, None, Access::Reads).await?)
    }

    async fn ask<T: DeserializeOwned>(&self, below: &str, body: Value) -> Result<T, DriverError> {
        value(&self.send(Method::POST, below, Some(body), Access::Reads).await?)
    }

    /// Most actions return null. Other return values are ignored.
    async fn act(&self, below: &str, body: Value) -> Result<(), DriverError> {
        self.send(Method::POST, below, Some(body), Access::Acts).await.map(drop)
    }

    /// Sends a driver-specific command.
    pub(crate) async fn own(&self, below: &str, body: Value, access: Access) -> Result<Value, DriverError> {
        value(&self.send(Method::POST, below, Some(body), access).await?)
    }

    /// Sends a driver-specific query.
    pub(crate) async fn get_extension(&self, below: &str) -> Result<Value, DriverError> {
        self.get(below).await
    }

    pub(crate) async fn end(&self) -> Result<(), DriverError> {
        self.send(Method::DELETE, "", None, Access::Acts).await.map(drop)
    }

    pub(crate) async fn go(&self, url: &str) -> Result<(), DriverError> {
        self.act("/url", json!({"url": url})).await
    }

    pub(crate) async fn url(&self) -> Result<String, DriverError> {
        self.get("/url").await
    }

    pub(crate) async fn back(&self) -> Result<(), DriverError> {
        self.act("/back", json!({})).await
    }

    pub(crate) async fn refresh(&self) -> Result<(), DriverError> {
        self.act("/refresh", json!({})).await
    }

    pub(crate) async fn windows(&self) -> Result<Vec<String>, DriverError> {
        self.get("/window/handles").await
    }

    pub(crate) async fn window(&self) -> Result<String, DriverError> {
        self.get("/window").await
    }

    pub(crate) async fn switch_window(&self, handle: &str) -> Result<(), DriverError> {
        self.act("/window", json!({"handle": handle})).await
    }

    pub(crate) async fn window_rect(&self) -> Result<Rect, DriverError> {
        self.get("/window/rect").await
    }

    pub(crate) async fn source(&self) -> Result<String, DriverError> {
        self.get("/source").await
    }

    pub(crate) async fn find(&self, using: &str, selector: &str) -> Result<ElementId, DriverError> {
        let found: Value = self.ask("/element", json!({"using": using, "value": selector})).await?;
        ElementId::parse(&found).ok_or_else(|| no_element(&found))
    }

    pub(crate) async fn find_all(&self, using: &str, selector: &str) -> Result<Vec<ElementId>, DriverError> {
        let found: Vec<Value> = self.ask("/elements", json!({"using": using, "value": selector})).await?;
        found.iter().map(|one| ElementId::parse(one).ok_or_else(|| no_element(one))).collect()
    }

    pub(crate) async fn active_element(&self) -> Result<ElementId, DriverError> {
        let found: Value = self.get("/element/active").await?;
        ElementId::parse(&found).ok_or_else(|| no_element(&found))
    }

    async fn of_element<T: DeserializeOwned>(
        &self,
        element: &ElementId,
        what: &str,
    ) -> Result<T, DriverError> {
        self.get(&format!("/element/{}/{what}", element.0)).await
    }

    pub(crate) async fn text(&self, element: &ElementId) -> Result<String, DriverError> {
        Ok(self.of_element::<Option<String>>(element, "text").await?.unwrap_or_default())
    }

    pub(crate) async fn tag(&self, element: &ElementId) -> Result<String, DriverError> {
        self.of_element(element, "name").await
    }

    pub(crate) async fn rect(&self, element: &ElementId) -> Result<Rect, DriverError> {
        self.of_element(element, "rect").await
    }

    pub(crate) async fn is_displayed(&self, element: &ElementId) -> Result<bool, DriverError> {
        self.of_element(element, "displayed").await
    }

    pub(crate) async fn is_enabled(&self, element: &ElementId) -> Result<bool, DriverError> {
        self.of_element(element, "enabled").await
    }

    pub(crate) async fn is_selected(&self, element: &ElementId) -> Result<bool, DriverError> {
        self.of_element(element, "selected").await
    }

    pub(crate) async fn attribute(&self, element: &ElementId, name: &str) -> Result<Value, DriverError> {
        self.of_element(element, &format!("attribute/{}", segment(name))).await
    }

    pub(crate) async fn property(&self, element: &ElementId, name: &str) -> Result<Value, DriverError> {
        self.of_element(element, &format!("property/{}", segment(name))).await
    }

    pub(crate) async fn click(&self, element: &ElementId) -> Result<(), DriverError> {
        self.act(&format!("/element/{}/click", element.0), json!({})).await
    }

    pub(crate) async fn clear(&self, element: &ElementId) -> Result<(), DriverError> {
        self.act(&format!("/element/{}/clear", element.0), json!({})).await
    }

    /// Drivers older than W3C need `value`, and some current ones still do.
    pub(crate) async fn enter(&self, element: &ElementId, text: &str) -> Result<(), DriverError> {
        let letters: Vec<String> = text.chars().map(String::from).collect();
        self.act(&format!("/element/{}/value", element.0), json!({"text": text, "value": letters})).await
    }

    /// Runs a script that only reads.
    pub(crate) async fn look_by_script(&self, script: &str, arguments: Value) -> Result<Value, DriverError> {
        self.ask("/execute/sync", json!({"script": script, "args": arguments})).await
    }

    /// Runs a script that acts, including `mobile: …` of Appium's drivers.
    pub(crate) async fn act_by_script(&self, script: &str, arguments: Value) -> Result<Value, DriverError> {
        self.own("/execute/sync", json!({"script": script, "args": arguments}), Access::Acts).await
    }

    pub(crate) async fn perform(&self, gesture: Gesture) -> Result<(), DriverError> {
        let limit = self.timeout + gesture.duration() + GESTURE_SLACK;
        let body = Some(gesture.body());
        self.send_within(Method::POST, "/actions", body, Access::Acts, limit).await.map(drop)
    }

    pub(crate) async fn release(&self) -> Result<(), DriverError> {
        self.send(Method::DELETE, "/actions", None, Access::Acts).await.map(drop)
    }

    pub(crate) async fn alert_text(&self) -> Result<String, DriverError> {
        Ok(self.get::<Option<String>>("/alert/text").await?.unwrap_or_default())
    }

    pub(crate) async fn accept_alert(&self) -> Result<(), DriverError> {
        self.act("/alert/accept", json!({})).await
    }

    pub(crate) async fn dismiss_alert(&self) -> Result<(), DriverError> {
        self.act("/alert/dismiss", json!({})).await
    }

    pub(crate) async fn enter_in_alert(&self, text: &str) -> Result<(), DriverError> {
        self.act("/alert/text", json!({"text": text})).await
    }

    pub(crate) async fn screenshot(&self) -> Result<Bytes, DriverError> {
        picture(&self.send(Method::GET, "/screenshot", None, Access::Reads).await?)
    }

    pub(crate) async fn element_screenshot(&self, element: &ElementId) -> Result<Bytes, DriverError> {
        let path = format!("/element/{}/screenshot", element.0);
        picture(&self.send(Method::GET, &path, None, Access::Reads).await?)
    }

    pub(crate) async fn orientation(&self) -> Result<String, DriverError> {
        self.get("/orientation").await
    }

    pub(crate) async fn set_orientation(&self, orientation: &str) -> Result<(), DriverError> {
        self.act("/orientation", json!({"orientation": orientation})).await
    }

    pub(crate) async fn set_location(&self, location: Value) -> Result<(), DriverError> {
        self.act("/location", json!({"location": location})).await
    }

    pub(crate) async fn contexts(&self) -> Result<Vec<String>, DriverError> {
        self.get("/contexts").await
    }

    pub(crate) async fn context(&self) -> Result<Option<String>, DriverError> {
        self.get("/context").await
    }

    pub(crate) async fn switch_context(&self, name: &str) -> Result<(), DriverError> {
        self.act("/context", json!({"name": name})).await
    }

    /// Reading a log removes its lines, so the request is not repeated.
    pub(crate) async fn log(&self, path: &str, kind: &str) -> Result<Vec<LogEntry>, DriverError> {
        value(&self.send(Method::POST, path, Some(json!({"type": kind})), Access::Acts).await?)
    }
}

/// All characters except the unreserved ones of RFC 3986.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

fn segment(name: &str) -> PercentEncode<'_> {
    utf8_percent_encode(name, SEGMENT)
}

fn no_element(found: &Value) -> DriverError {
    DriverError::InvalidResponse {
        why: "an element without a reference",
        body: head(found.to_string().as_bytes()),
    }
}

/// A session id becomes part of every path, so only plain ids are accepted.
fn parse_new_session(body: &[u8]) -> Result<NewSession, DriverError> {
    let invalid = || DriverError::InvalidResponse { why: "a session without an id", body: head(body) };
    let whole: Value = serde_json::from_slice(body).map_err(|_| invalid())?;
    let value = whole.get("value").unwrap_or(&whole);
    let session = value.get("sessionId").or_else(|| whole.get("sessionId")).and_then(Value::as_str);
    let plain = |id: &&str| {
        !id.is_empty()
            && id.len() <= 256
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
    };
    let session = session.filter(plain).ok_or_else(invalid)?.to_owned();
    let capabilities = value.get("capabilities").and_then(Value::as_object).cloned().unwrap_or_default();
    Ok(NewSession { session, capabilities })
}

#[cfg(test)]
mod tests {
    use super::{parse_error, parse_new_session, picture, segment};
    use crate::w3c::{DriverError, WebDriverErrorCode};

    #[test]
    fn sessions_are_read_in_both_shapes_and_odd_ids_are_refused() {
        for (body, expected) in [
            (r#"{"value":{"sessionId":"a-1","capabilities":{"x":1}}}"#, Some("a-1")),
            (r#"{"sessionId":"B_2","value":{}}"#, Some("B_2")),
            (r#"{"value":{"sessionId":"../../x"}}"#, None),
            (r#"{"value":{"sessionId":""}}"#, None),
            (r#"{"value":null}"#, None),
            ("<html>", None),
        ] {
            let started = parse_new_session(body.as_bytes()).ok().map(|it| it.session);
            assert_eq!(started.as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn errors_are_read_by_their_code() {
        let check = |code: &str, expected: WebDriverErrorCode| {
            let body = format!(r#"{{"value":{{"error":"{code}","message":"m","stacktrace":""}}}}"#);
            assert!(parse_error(404, body.as_bytes()).is(expected), "{code}");
        };
        check("no such element", WebDriverErrorCode::NoSuchElement);
        check("stale element reference", WebDriverErrorCode::StaleElement);
        check("unexpected alert open", WebDriverErrorCode::AlertOpen);
        check("invalid session id", WebDriverErrorCode::SessionGone);
        check("session not created", WebDriverErrorCode::NotCreated);
        check("unknown command", WebDriverErrorCode::Unsupported);
        check("invalid selector", WebDriverErrorCode::InvalidSelector);
        check("element click intercepted", WebDriverErrorCode::NotInteractable);
        check("timeout", WebDriverErrorCode::Timeout);
        check("something new", WebDriverErrorCode::Unknown);
        assert!(matches!(parse_error(502, b"<html>"), DriverError::InvalidResponse { .. }));
    }

    #[test]
    fn pictures_are_png_in_base64_also_in_lines() {
        assert_eq!(picture(br#"{"value":"iVBORw0KGgo="}"#).unwrap().len(), 8);
        assert_eq!(picture(b"{\"value\":\"iVBO\\nRw0KGgo=\"}").unwrap().len(), 8);
        for bad in [r#"{"value":"%%%"}"#, r#"{"value":"AAAA"}"#, r#"{"value":null}"#, "x"] {
            assert!(matches!(picture(bad.as_bytes()), Err(DriverError::InvalidResponse { .. })), "{bad}");
        }
    }

    #[test]
    fn names_stay_one_segment() {
        assert_eq!(segment("aria-label").to_string(), "aria-label");
        assert_eq!(segment("a/../b?c").to_string(), "a%2F..%2Fb%3Fc");
    }
}
