//! One function per endpoint. Each says whether it touches the device, and each has a deadline.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Method;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::actions::Gesture;
use super::line::{Again, Asked, Line, Unheard};
use super::located::{ElementId, Rect};
use super::trouble::{Refusal, Trouble};

/// Whether a command touches the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touch {
    /// It may be sent twice.
    Looks,
    /// It may have been made when its answer is lost.
    Acts,
}

/// A session that was started.
#[derive(Debug, Clone)]
pub(crate) struct Started {
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
    /// What was logged.
    #[serde(default)]
    pub(crate) message: String,
}

/// Beyond what a gesture itself takes, it has this much more than other commands.
const GESTURE_SLACK: Duration = Duration::from_secs(2);

/// The commands of one session.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    line: Arc<Line>,
    timeout: Duration,
    /// `/session/…`
    base: String,
}

/// A request as a function wants it.
struct Command<'a> {
    method: Method,
    path: &'a str,
    body: Option<Value>,
    touch: Touch,
    limit: Duration,
}

async fn exchange(line: &Line, command: Command<'_>) -> Result<Bytes, Trouble> {
    let Command { method, path, body, touch, limit } = command;
    let body = body.map(|body| Bytes::from(body.to_string()));
    let again = if touch == Touch::Looks { Again::Yes } else { Again::No };
    let heard = line.exchange(Asked { method, path, body, limit, again }).await.map_err(|why| match why {
        Unheard::NotSent(error) => Trouble::NotSent(error),
        Unheard::Lost(error) => Trouble::Lost { touch, error },
        Unheard::Late => Trouble::Late { touch, limit },
        Unheard::TooLarge(size) => Trouble::TooLarge { size, limit: line.largest() },
    })?;
    if (200..300).contains(&heard.status) { Ok(heard.body) } else { Err(refused(heard.status, &heard.body)) }
}

#[derive(Deserialize)]
struct Answer<T> {
    value: T,
}

#[derive(Deserialize)]
struct ErrorValue {
    error: String,
    #[serde(default)]
    message: String,
}

/// A status of failure is a W3C error, or nothing a WebDriver would say.
fn refused(status: u16, body: &[u8]) -> Trouble {
    match serde_json::from_slice::<Answer<ErrorValue>>(body) {
        Ok(Answer { value: ErrorValue { error, message } }) => {
            let words = format!("{status} {error}: {message}");
            Trouble::Refused { refusal: Refusal::of_code(&error), words }
        }
        Err(_) => Trouble::Nonsense { why: "an error that is none of WebDriver", body: body.to_vec() },
    }
}

fn value<T: DeserializeOwned>(body: &[u8]) -> Result<T, Trouble> {
    match serde_json::from_slice::<Answer<T>>(body) {
        Ok(answer) => Ok(answer.value),
        Err(_) => Err(Trouble::Nonsense { why: "a value of another shape", body: head(body) }),
    }
}

/// What is worth keeping of an answer nobody understands.
fn head(body: &[u8]) -> Vec<u8> {
    body.get(..4_096).unwrap_or(body).to_vec()
}

/// A base64 picture, decoded without a copy of its text.
fn picture(body: &[u8]) -> Result<Bytes, Trouble> {
    #[derive(Deserialize)]
    struct Encoded<'a> {
        #[serde(borrow)]
        value: std::borrow::Cow<'a, str>,
    }
    let nonsense = |why| Trouble::Nonsense { why, body: head(body) };
    let encoded: Encoded<'_> = serde_json::from_slice(body).map_err(|_| nonsense("no picture"))?;
    // Some drivers break the text into lines.
    let text: std::borrow::Cow<'_, str> = if encoded.value.contains(['\n', '\r']) {
        encoded.value.replace(['\n', '\r'], "").into()
    } else {
        encoded.value
    };
    let png = STANDARD.decode(text.as_bytes()).map_err(|_| nonsense("a picture that is no base64"))?;
    if png.starts_with(b"\x89PNG") { Ok(Bytes::from(png)) } else { Err(nonsense("a picture that is no PNG")) }
}

/// Whether a driver is there and ready.
pub(crate) async fn status(line: &Line, limit: Duration) -> Result<Value, Trouble> {
    let touch = Touch::Looks;
    let body =
        exchange(line, Command { method: Method::GET, path: "/status", body: None, touch, limit }).await?;
    value(&body)
}

impl Client {
    /// Starts a session.
    pub(crate) async fn start(
        line: Arc<Line>,
        timeout: Duration,
        limit: Duration,
        capabilities: &Map<String, Value>,
    ) -> Result<(Client, Started), Trouble> {
        let body = json!({"capabilities": {"alwaysMatch": capabilities, "firstMatch": [{}]}});
        let command =
            Command { method: Method::POST, path: "/session", body: Some(body), touch: Touch::Acts, limit };
        let body = exchange(&line, command).await?;
        let started = read_started(&body)?;
        let base = format!("/session/{}", started.session);
        Ok((Client { line, timeout, base }, started))
    }

    /// Whether the driver is there.
    pub(crate) async fn status(line: &Line, limit: Duration) -> Result<Value, Trouble> {
        status(line, limit).await
    }

    async fn send(
        &self,
        method: Method,
        below: &str,
        body: Option<Value>,
        touch: Touch,
    ) -> Result<Bytes, Trouble> {
        self.send_within(method, below, body, touch, self.timeout).await
    }

    async fn send_within(
        &self,
        method: Method,
        below: &str,
        body: Option<Value>,
        touch: Touch,
        limit: Duration,
    ) -> Result<Bytes, Trouble> {
        let path = format!("{}{below}", self.base);
        exchange(&self.line, Command { method, path: &path, body, touch, limit }).await
    }

    async fn get<T: DeserializeOwned>(&self, below: &str) -> Result<T, Trouble> {
        value(&self.send(Method::GET, below, None, Touch::Looks).await?)
    }

    async fn ask<T: DeserializeOwned>(&self, below: &str, body: Value) -> Result<T, Trouble> {
        value(&self.send(Method::POST, below, Some(body), Touch::Looks).await?)
    }

    /// Most actions answer with null, and what else they say is of no interest.
    async fn act(&self, below: &str, body: Value) -> Result<(), Trouble> {
        self.send(Method::POST, below, Some(body), Touch::Acts).await.map(drop)
    }

    /// Any command of a driver's own.
    pub(crate) async fn own(&self, below: &str, body: Value, touch: Touch) -> Result<Value, Trouble> {
        value(&self.send(Method::POST, below, Some(body), touch).await?)
    }

    /// Any question of a driver's own.
    pub(crate) async fn own_get(&self, below: &str) -> Result<Value, Trouble> {
        self.get(below).await
    }

    pub(crate) async fn end(&self) -> Result<(), Trouble> {
        self.send(Method::DELETE, "", None, Touch::Acts).await.map(drop)
    }

    pub(crate) async fn go(&self, url: &str) -> Result<(), Trouble> {
        self.act("/url", json!({"url": url})).await
    }

    pub(crate) async fn url(&self) -> Result<String, Trouble> {
        self.get("/url").await
    }

    pub(crate) async fn back(&self) -> Result<(), Trouble> {
        self.act("/back", json!({})).await
    }

    pub(crate) async fn refresh(&self) -> Result<(), Trouble> {
        self.act("/refresh", json!({})).await
    }

    pub(crate) async fn windows(&self) -> Result<Vec<String>, Trouble> {
        self.get("/window/handles").await
    }

    pub(crate) async fn window(&self) -> Result<String, Trouble> {
        self.get("/window").await
    }

    pub(crate) async fn switch_window(&self, handle: &str) -> Result<(), Trouble> {
        self.act("/window", json!({"handle": handle})).await
    }

    pub(crate) async fn window_rect(&self) -> Result<Rect, Trouble> {
        self.get("/window/rect").await
    }

    pub(crate) async fn source(&self) -> Result<String, Trouble> {
        self.get("/source").await
    }

    pub(crate) async fn find(&self, using: &str, selector: &str) -> Result<ElementId, Trouble> {
        let found: Value = self.ask("/element", json!({"using": using, "value": selector})).await?;
        ElementId::of(&found).ok_or_else(|| no_element(&found))
    }

    pub(crate) async fn find_all(&self, using: &str, selector: &str) -> Result<Vec<ElementId>, Trouble> {
        let found: Vec<Value> = self.ask("/elements", json!({"using": using, "value": selector})).await?;
        found.iter().map(|one| ElementId::of(one).ok_or_else(|| no_element(one))).collect()
    }

    pub(crate) async fn active_element(&self) -> Result<ElementId, Trouble> {
        let found: Value = self.get("/element/active").await?;
        ElementId::of(&found).ok_or_else(|| no_element(&found))
    }

    async fn of_element<T: DeserializeOwned>(&self, element: &ElementId, what: &str) -> Result<T, Trouble> {
        self.get(&format!("/element/{}/{what}", element.0)).await
    }

    pub(crate) async fn text(&self, element: &ElementId) -> Result<String, Trouble> {
        Ok(self.of_element::<Option<String>>(element, "text").await?.unwrap_or_default())
    }

    pub(crate) async fn tag(&self, element: &ElementId) -> Result<String, Trouble> {
        self.of_element(element, "name").await
    }

    pub(crate) async fn rect(&self, element: &ElementId) -> Result<Rect, Trouble> {
        self.of_element(element, "rect").await
    }

    pub(crate) async fn is_displayed(&self, element: &ElementId) -> Result<bool, Trouble> {
        self.of_element(element, "displayed").await
    }

    pub(crate) async fn is_enabled(&self, element: &ElementId) -> Result<bool, Trouble> {
        self.of_element(element, "enabled").await
    }

    pub(crate) async fn is_selected(&self, element: &ElementId) -> Result<bool, Trouble> {
        self.of_element(element, "selected").await
    }

    pub(crate) async fn attribute(&self, element: &ElementId, name: &str) -> Result<Value, Trouble> {
        self.of_element(element, &format!("attribute/{}", segment(name))).await
    }

    pub(crate) async fn property(&self, element: &ElementId, name: &str) -> Result<Value, Trouble> {
        self.of_element(element, &format!("property/{}", segment(name))).await
    }

    pub(crate) async fn click(&self, element: &ElementId) -> Result<(), Trouble> {
        self.act(&format!("/element/{}/click", element.0), json!({})).await
    }

    pub(crate) async fn clear(&self, element: &ElementId) -> Result<(), Trouble> {
        self.act(&format!("/element/{}/clear", element.0), json!({})).await
    }

    /// `value` is what drivers wanted before W3C, and some still do.
    pub(crate) async fn enter(&self, element: &ElementId, text: &str) -> Result<(), Trouble> {
        let letters: Vec<String> = text.chars().map(String::from).collect();
        self.act(&format!("/element/{}/value", element.0), json!({"text": text, "value": letters})).await
    }

    /// A script that only looks.
    pub(crate) async fn look_by_script(&self, script: &str, arguments: Value) -> Result<Value, Trouble> {
        self.ask("/execute/sync", json!({"script": script, "args": arguments})).await
    }

    /// A script that does something; `mobile: …` of Appium's drivers too.
    pub(crate) async fn act_by_script(&self, script: &str, arguments: Value) -> Result<Value, Trouble> {
        self.own("/execute/sync", json!({"script": script, "args": arguments}), Touch::Acts).await
    }

    pub(crate) async fn perform(&self, gesture: Gesture) -> Result<(), Trouble> {
        let limit = self.timeout + gesture.lasts() + GESTURE_SLACK;
        let body = Some(gesture.body());
        self.send_within(Method::POST, "/actions", body, Touch::Acts, limit).await.map(drop)
    }

    pub(crate) async fn release(&self) -> Result<(), Trouble> {
        self.send(Method::DELETE, "/actions", None, Touch::Acts).await.map(drop)
    }

    pub(crate) async fn alert_text(&self) -> Result<String, Trouble> {
        Ok(self.get::<Option<String>>("/alert/text").await?.unwrap_or_default())
    }

    pub(crate) async fn accept_alert(&self) -> Result<(), Trouble> {
        self.act("/alert/accept", json!({})).await
    }

    pub(crate) async fn dismiss_alert(&self) -> Result<(), Trouble> {
        self.act("/alert/dismiss", json!({})).await
    }

    pub(crate) async fn enter_in_alert(&self, text: &str) -> Result<(), Trouble> {
        self.act("/alert/text", json!({"text": text})).await
    }

    pub(crate) async fn screenshot(&self) -> Result<Bytes, Trouble> {
        picture(&self.send(Method::GET, "/screenshot", None, Touch::Looks).await?)
    }

    pub(crate) async fn element_screenshot(&self, element: &ElementId) -> Result<Bytes, Trouble> {
        let path = format!("/element/{}/screenshot", element.0);
        picture(&self.send(Method::GET, &path, None, Touch::Looks).await?)
    }

    pub(crate) async fn orientation(&self) -> Result<String, Trouble> {
        self.get("/orientation").await
    }

    pub(crate) async fn set_orientation(&self, orientation: &str) -> Result<(), Trouble> {
        self.act("/orientation", json!({"orientation": orientation})).await
    }

    pub(crate) async fn set_location(&self, location: Value) -> Result<(), Trouble> {
        self.act("/location", json!({"location": location})).await
    }

    pub(crate) async fn contexts(&self) -> Result<Vec<String>, Trouble> {
        self.get("/contexts").await
    }

    pub(crate) async fn context(&self) -> Result<Option<String>, Trouble> {
        self.get("/context").await
    }

    pub(crate) async fn switch_context(&self, name: &str) -> Result<(), Trouble> {
        self.act("/context", json!({"name": name})).await
    }

    /// Logs are taken away by being read, so this is not repeated.
    pub(crate) async fn log(&self, path: &str, kind: &str) -> Result<Vec<LogEntry>, Trouble> {
        value(&self.send(Method::POST, path, Some(json!({"type": kind})), Touch::Acts).await?)
    }
}

/// A name as one segment of a path.
fn segment(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    let escaped = name
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    escaped.collect()
}

fn no_element(found: &Value) -> Trouble {
    Trouble::Nonsense { why: "an element without a reference", body: head(found.to_string().as_bytes()) }
}

/// A session id becomes part of every path, so only one that cannot leave its place is taken.
fn read_started(body: &[u8]) -> Result<Started, Trouble> {
    let nonsense = || Trouble::Nonsense { why: "a session without an id", body: head(body) };
    let whole: Value = serde_json::from_slice(body).map_err(|_| nonsense())?;
    let value = whole.get("value").unwrap_or(&whole);
    let session = value.get("sessionId").or_else(|| whole.get("sessionId")).and_then(Value::as_str);
    let plain = |id: &&str| {
        !id.is_empty()
            && id.len() <= 256
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
    };
    let session = session.filter(plain).ok_or_else(nonsense)?.to_owned();
    let capabilities = value.get("capabilities").and_then(Value::as_object).cloned().unwrap_or_default();
    Ok(Started { session, capabilities })
}

#[cfg(test)]
mod tests {
    use super::{picture, read_started, refused, segment};
    use crate::w3c::{Refusal, Trouble};

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
            let started = read_started(body.as_bytes()).ok().map(|it| it.session);
            assert_eq!(started.as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn errors_are_read_by_their_code() {
        let check = |code: &str, expected: Refusal| {
            let body = format!(r#"{{"value":{{"error":"{code}","message":"m","stacktrace":""}}}}"#);
            assert!(refused(404, body.as_bytes()).is(expected), "{code}");
        };
        check("no such element", Refusal::NoSuchElement);
        check("stale element reference", Refusal::StaleElement);
        check("unexpected alert open", Refusal::AlertOpen);
        check("invalid session id", Refusal::SessionGone);
        check("session not created", Refusal::NotCreated);
        check("unknown command", Refusal::Unsupported);
        check("invalid selector", Refusal::InvalidSelector);
        check("element click intercepted", Refusal::NotInteractable);
        check("timeout", Refusal::Timeout);
        check("something new", Refusal::Unknown);
        assert!(matches!(refused(502, b"<html>"), Trouble::Nonsense { .. }));
    }

    #[test]
    fn pictures_are_png_in_base64_also_in_lines() {
        assert_eq!(picture(br#"{"value":"iVBORw0KGgo="}"#).unwrap().len(), 8);
        assert_eq!(picture(b"{\"value\":\"iVBO\\nRw0KGgo=\"}").unwrap().len(), 8);
        for bad in [r#"{"value":"%%%"}"#, r#"{"value":"AAAA"}"#, r#"{"value":null}"#, "x"] {
            assert!(matches!(picture(bad.as_bytes()), Err(Trouble::Nonsense { .. })), "{bad}");
        }
    }

    #[test]
    fn names_stay_one_segment() {
        assert_eq!(segment("aria-label"), "aria-label");
        assert_eq!(segment("a/../b?c"), "a%2F..%2Fb%3Fc");
    }
}
