//! Requests in the form of each revision.

use failwell_rpc::{Era, Revision, meta};
use serde_json::{Value, json};

/// A request. The id is JSON text. Members of `_meta` in the params replace the usual ones.
pub fn request(revision: Revision, id: &str, method: &str, params: &Value) -> String {
    let mut params = params.clone();
    if revision.era() == Era::Modern
        && let Some(members) = params.as_object_mut()
    {
        let own = members.remove("_meta").unwrap_or(json!({}));
        let mut usual = json!({
            meta::PROTOCOL_VERSION: revision.as_str(),
            meta::CLIENT_CAPABILITIES: {},
            meta::CLIENT_INFO: {"name": "suite", "version": "1"},
        });
        if let (Some(usual), Some(own)) = (usual.as_object_mut(), own.as_object()) {
            usual.extend(own.clone());
            usual.retain(|_, value| !value.is_null());
        }
        members.insert("_meta".to_owned(), usual);
    }
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// A call of a tool.
pub fn tool(revision: Revision, id: &str, name: &str, arguments: Value) -> String {
    request(revision, id, "tools/call", &json!({"name": name, "arguments": arguments}))
}

/// A request that always succeeds, to check that a connection still works.
pub fn good(revision: Revision, id: &str) -> String {
    tool(revision, id, "test_simple_text", json!({}))
}

/// The handshake of the session era.
pub fn initialize(revision: Revision, id: &str) -> String {
    let client = json!({"name": "suite", "version": "1"});
    let params = json!({"protocolVersion": revision.as_str(), "capabilities": {"elicitation": {}}, "clientInfo": client});
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{params}}}"#)
}

/// The end of the handshake.
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// The modern era's headers for a request that can be read.
pub fn headers(body: &[u8], revision: Revision) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    let mut put = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
    if revision.has_version_header() {
        put("MCP-Protocol-Version", revision.as_str());
    }
    if revision.era() == Era::Session {
        return headers;
    }
    let message: Value = serde_json::from_slice(body).unwrap_or_default();
    let Some(method) = message.get("method").and_then(Value::as_str) else { return headers };
    put("Mcp-Method", method);
    let named_by = match method {
        "tools/call" | "prompts/get" => "/params/name",
        "resources/read" => "/params/uri",
        _ => return headers,
    };
    if let Some(name) = message.pointer(named_by).and_then(Value::as_str) {
        put("Mcp-Name", name);
    }
    headers
}
