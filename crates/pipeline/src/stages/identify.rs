//! Stage `identify`: the client and its capabilities, and the HTTP headers of the modern era, which must agree
//! with the body. Transports have checked credentials already.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use failwell_fault::{Echo, Fault, reason};
use failwell_rpc::{Era, Raw, Request, Revision, meta};
use serde_json::Value;

use crate::request::call::unknown_method;
use crate::request::incoming_request::{IncomingMessage, IncomingRequest, RequestEra};
use crate::session::RunningRequest;
use failwell_toolbox::LogLevel;
use failwell_toolbox::{Client, HeaderParam};

impl IncomingRequest<'_> {
    /// Registers the request in its session, so that it can be cancelled.
    pub(crate) fn register(&self) -> Result<Option<RunningRequest>, Fault> {
        match (self.session, self.request()) {
            (Some(session), Some(request)) => session.start(&request.id, &self.cancel, self.ids).map(Some),
            _ => Ok(None),
        }
    }

    /// Determines the client by dialect and era. `only` is the only supported era.
    pub(crate) fn identify(&self, meta: &RequestMeta<'_>, only: Option<Era>) -> Result<Client, Fault> {
        match &self.message {
            IncomingMessage::Mcp(request, era) => {
                check_era(request, *era, only)?;
                match era {
                    RequestEra::Modern(headers) => self.modern_client(request, *headers, meta),
                    RequestEra::Session => self.session_client(request),
                }
            }
            IncomingMessage::Rpc(_) | IncomingMessage::Rest(_) => Ok(Client::plain(self.caller.clone())),
        }
    }

    fn session_client(&self, request: &Request<'_>) -> Result<Client, Fault> {
        let known = self.session.and_then(|session| session.client().cloned());
        match known {
            // The caller's roles may have changed since the handshake.
            Some(client) => Ok(client.with_caller(self.caller)),
            // Before the handshake only these two methods are allowed.
            None if matches!(&*request.method, "initialize" | "ping") => {
                Ok(Client::new(self.caller.clone(), Revision::LATEST_SESSION, None))
            }
            None => Err(Fault::new(&reason::MCP_NOT_INITIALIZED)),
        }
    }

    fn modern_client(
        &self,
        request: &Request<'_>,
        headers: Option<&Headers>,
        meta: &RequestMeta<'_>,
    ) -> Result<Client, Fault> {
        let version = meta.version.and_then(Raw::as_str);
        let version = version.ok_or_else(|| missing_member(meta::PROTOCOL_VERSION))?;
        let capabilities = meta.capabilities.filter(|raw| raw.as_object().is_some());
        let capabilities = capabilities.ok_or_else(|| missing_member(meta::CLIENT_CAPABILITIES))?;
        if let Some(headers) = headers {
            headers.check(request, &version)?;
        }
        if version != Revision::V2026_07_28.as_str() {
            return Err(Fault::new(&reason::MCP_VERSION)
                .fact("supported", vec![Revision::V2026_07_28.as_str()])
                .fact("requested", Echo::of_caller(&version)));
        }
        Ok(Client::new(self.caller.clone(), Revision::V2026_07_28, Some(request.keep(capabilities))))
    }

    /// The least severe log message that the client wants about this request.
    pub(crate) fn log_level(&self, meta: &RequestMeta<'_>) -> Result<Option<LogLevel>, Fault> {
        match &self.message {
            IncomingMessage::Mcp(_, RequestEra::Session) => {
                Ok(self.session.map(|session| session.log_level()))
            }
            IncomingMessage::Mcp(_, RequestEra::Modern(_)) => {
                let level = |raw: Raw<'_>| LogLevel::parse(&raw.as_str().unwrap_or_default());
                meta.log_level.map(level).transpose()
            }
            IncomingMessage::Rpc(_) | IncomingMessage::Rest(_) => Ok(None),
        }
    }
}

/// Refuses requests that a server of one era would not understand: unknown methods, or requests without the
/// members that the modern era requires.
fn check_era(request: &Request<'_>, era: RequestEra<'_>, only: Option<Era>) -> Result<(), Fault> {
    match (only, era) {
        (Some(Era::Session), RequestEra::Modern(_)) => Err(unknown_method(&request.method)),
        (Some(Era::Modern), RequestEra::Session) => Err(missing_member(meta::PROTOCOL_VERSION)),
        _ => Ok(()),
    }
}

/// The members of `_meta` that the pipeline reads, found in one pass.
#[derive(Debug, Default)]
pub(crate) struct RequestMeta<'a> {
    version: Option<Raw<'a>>,
    capabilities: Option<Raw<'a>>,
    log_level: Option<Raw<'a>>,
    pub(crate) progress_token: Option<Raw<'a>>,
    /// Whether there are members that the pipeline does not read.
    pub(crate) has_more: bool,
}

impl<'a> RequestMeta<'a> {
    pub(crate) fn read(message: &IncomingMessage<'a>) -> RequestMeta<'a> {
        let mut found = RequestMeta::default();
        let IncomingMessage::Mcp(request, _) = message else { return found };
        for (key, value) in request.param("_meta").and_then(Raw::as_object).into_iter().flatten() {
            match &*key {
                meta::PROTOCOL_VERSION => found.version = Some(value),
                meta::CLIENT_CAPABILITIES => found.capabilities = Some(value),
                meta::LOG_LEVEL => found.log_level = Some(value),
                meta::PROGRESS_TOKEN => found.progress_token = Some(value),
                meta::CLIENT_INFO | meta::RELATED_TASK => {}
                _ => found.has_more = true,
            }
        }
        found
    }
}

fn missing_member(key: &'static str) -> Fault {
    Fault::new(&reason::MCP_META).fact("key", key)
}

/// The headers in which a modern request repeats parts of its body.
#[derive(Debug, Clone, Default)]
pub struct Headers {
    /// `MCP-Protocol-Version`
    pub version: Option<String>,
    /// `Mcp-Method`
    pub method: Option<String>,
    /// `Mcp-Name`
    pub name: Option<String>,
    /// `Mcp-Param-…`: the rest of the name in lowercase, and the value.
    pub params: Vec<(String, String)>,
}

impl Headers {
    /// Checks that version, method and name agree with the body.
    pub(crate) fn check(&self, request: &Request<'_>, version: &str) -> Result<(), Fault> {
        agree("MCP-Protocol-Version", self.version.as_deref(), version)?;
        agree("Mcp-Method", self.method.as_deref(), &request.method)?;
        let Some(named_by) = named_by(&request.method) else { return Ok(()) };
        match request.param(named_by).and_then(|raw| raw.as_str()) {
            Some(name) => agree("Mcp-Name", self.name.as_deref(), &name),
            // The params are invalid; the parse stage reports that with more detail.
            None => Ok(()),
        }
    }

    /// Checks that the repeated parameters of a tool agree with its arguments.
    pub(crate) fn check_params(&self, params: &[HeaderParam], arguments: &Value) -> Result<(), Fault> {
        for param in params {
            let wanted = param.header.to_ascii_lowercase();
            let sent = self.params.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.as_str());
            let body = arguments.get(&param.member).filter(|value| !value.is_null()).map(header_text);
            if sent.is_none() && body.is_none() {
                continue;
            }
            if sent.and_then(decode).as_deref() != body.as_deref() {
                let name = Echo::of_caller(&format!("Mcp-Param-{}", param.header));
                return Err(Fault::new(&reason::MCP_HEADER).fact("header", name));
            }
        }
        Ok(())
    }
}

/// Returns the arguments that our own request must repeat in headers.
pub fn repeated_params(arguments: Option<Raw<'_>>, params: &[HeaderParam]) -> Vec<(String, String)> {
    if params.is_empty() {
        return Vec::new();
    }
    let arguments = arguments.and_then(Raw::as_object);
    let repeated = params.iter().filter_map(|param| {
        let value = arguments?.get(&param.member)?.to_tree().ok()?;
        let text = (!value.is_null()).then(|| header_text(&value))?;
        Some((param.header.to_ascii_lowercase(), header_value(&text).into_owned()))
    });
    repeated.collect()
}

fn agree(header: &'static str, sent: Option<&str>, body: &str) -> Result<(), Fault> {
    if sent.and_then(decode).is_some_and(|sent| sent == body) {
        return Ok(());
    }
    Err(Fault::new(&reason::MCP_HEADER).fact("header", header))
}

/// The parameter that `Mcp-Name` repeats.
pub fn named_by(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

/// Decodes a value that is wrapped as `=?base64?…?=`. Returns `None` if the wrapping is invalid.
fn decode(value: &str) -> Option<Cow<'_, str>> {
    let value = value.trim();
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned),
        None => Some(Cow::Borrowed(value)),
    }
}

/// Wraps a value that a header cannot carry unchanged.
pub fn header_value(value: &str) -> Cow<'_, str> {
    let plain = value.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && value.trim() == value;
    if plain && !value.starts_with("=?base64?") {
        return Cow::Borrowed(value);
    }
    Cow::Owned(format!("=?base64?{}?=", STANDARD.encode(value)))
}

fn header_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{decode, header_value};

    #[test]
    fn every_value_comes_through_a_header() {
        let check = |value: &str, encoded: &str| {
            assert_eq!(header_value(value), encoded);
            assert_eq!(decode(encoded).as_deref(), Some(value));
        };
        check("echo", "echo");
        check("two words", "two words");
        check("grüße", "=?base64?Z3LDvMOfZQ==?=");
        check(" padded ", "=?base64?IHBhZGRlZCA=?=");
        check("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?=");
        check("a\r\nb", "=?base64?YQ0KYg==?=");
    }
}
