//! The HTTP headers of the modern era, which must agree with the body.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use failwell_fault::{Echo, Fault, reason};
use failwell_rpc::{Raw, Request};
use serde_json::Value;

use failwell_toolbox::HeaderParam;

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
        let value: Value = arguments?.get(&param.member)?.parse().ok()?;
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
