//! The survey: which tools and capabilities the server offers, and which tools are safe to call.

mod arguments;
mod choose;

use serde_json::{Map, Value, json};

use crate::connection::Connection;

pub(crate) use choose::Tool;

const PAGES: usize = 5;

/// The offer of a server.
#[derive(Debug, Default, Clone)]
pub(crate) struct Survey {
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) capabilities: Map<String, Value>,
    /// A tool that may be called with valid arguments.
    pub(crate) harmless: Option<Tool>,
    /// A tool whose schema refuses something, to be called with wrong arguments only.
    pub(crate) strict: Option<Tool>,
    /// A harmless tool that takes its time, with arguments that make it do so.
    pub(crate) slow: Option<Tool>,
    /// Every tool's name.
    pub(crate) names: Vec<String>,
}

impl Survey {
    /// Looks around over an open connection; `hello` is the result of `initialize` or `server/discover`.
    pub(crate) async fn take(link: &mut Connection, hello: &Value, wanted: Option<&str>) -> Self {
        let info = hello
            .get("serverInfo")
            .or_else(|| hello.get("_meta").and_then(|meta| meta.get("io.modelcontextprotocol/serverInfo")));
        let text = |key: &str| info.and_then(|info| info.get(key)).and_then(Value::as_str).map(str::to_owned);
        let capabilities = hello.get("capabilities").and_then(Value::as_object).cloned().unwrap_or_default();
        let tools = if capabilities.contains_key("tools") { list_tools(link).await } else { Vec::new() };
        Self {
            name: text("name"),
            version: text("version"),
            capabilities,
            harmless: choose::harmless(&tools, wanted),
            strict: choose::strict(&tools, wanted),
            slow: choose::slow(&tools),
            names: tools.iter().filter_map(|tool| tool.get("name")?.as_str().map(str::to_owned)).collect(),
        }
    }

    pub(crate) fn can(&self, capability: &str) -> bool {
        self.capabilities.contains_key(capability)
    }
}

async fn list_tools(link: &mut Connection) -> Vec<Value> {
    let mut tools = Vec::new();
    let mut params = json!({});
    for _ in 0..PAGES {
        let Ok(mut page) = link.call("tools/list", params).await else { break };
        if let Some(found) = page.get_mut("tools").and_then(Value::as_array_mut) {
            tools.append(found);
        }
        match page.get("nextCursor").and_then(Value::as_str) {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => break,
        }
    }
    tools
}
