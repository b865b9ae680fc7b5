//! Results with `isError` of upstream tools: how much of them callers see.

use failwell_rpc::Json;
use failwell_toolbox::{Members, ToolOutcome};
use serde_json::{Map, Value, json};

use crate::relay::error_text::{NamedTexts, scrub};
use crate::upstream::ParsedResult;

/// What callers see of a result with `isError`. The operator always sees all of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolErrors {
    /// The result as it is: it is the tool's answer to the model.
    #[default]
    Pass,
    /// The result without tracebacks, addresses and paths that the caller did not name.
    Scrub,
    /// A sentence of our own.
    Replace,
}

/// Replaces the content of a failed tool.
const REPLACEMENT: &str = "The tool reported a failure. Its message is in the operator's log.";
/// The most of a result that the operator's record keeps, in bytes.
const MOST_NOTED: usize = 64 * 1024;
/// Members whose text has a meaning in the protocol, or is not text.
const KEPT: [&str; 5] = ["type", "mimeType", "data", "blob", "role"];

impl ToolErrors {
    pub fn parse(name: &str) -> Option<ToolErrors> {
        match name {
            "pass" => Some(ToolErrors::Pass),
            "scrub" => Some(ToolErrors::Scrub),
            "replace" => Some(ToolErrors::Replace),
            _ => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            ToolErrors::Pass => "pass",
            ToolErrors::Scrub => "scrub",
            ToolErrors::Replace => "replace",
        }
    }

    /// The outcome of a call, from the result of its upstream.
    pub(crate) fn outcome(self, result: ParsedResult, arguments: &Json) -> ToolOutcome {
        let ParsedResult { members, is_tool_failure, .. } = result;
        if !is_tool_failure {
            return ToolOutcome::relayed(members);
        }
        let whole: String = members.members.text().chars().take(MOST_NOTED).collect();
        let shown = match self {
            ToolErrors::Pass => members,
            ToolErrors::Scrub => scrubbed(members, arguments).unwrap_or_else(replacement),
            ToolErrors::Replace => replacement(),
        };
        ToolOutcome::relayed_failure(shown, whole)
    }
}

fn replacement() -> Members {
    let result = json!({"content": [{"type": "text", "text": REPLACEMENT}], "isError": true});
    Members { members: Json::from(&result).into(), meta: None, cache: None }
}

fn scrubbed(members: Members, arguments: &Json) -> Option<Members> {
    let named = NamedTexts::of(&arguments.raw().parse().ok()?);
    let result: Value = members.members.to_json().raw().parse().ok()?;
    let meta: Option<Value> = match &members.meta {
        Some(meta) => Some(meta.raw().parse().ok()?),
        None => None,
    };
    Some(Members {
        members: Json::from(&without_traces(result, &named)).into(),
        meta: meta.map(|meta| Json::from(&without_traces(meta, &named))),
        cache: members.cache,
    })
}

fn without_traces(value: Value, named: &NamedTexts) -> Value {
    match value {
        Value::String(text) => Value::String(scrub(&text, named)),
        Value::Array(items) => items.into_iter().map(|item| without_traces(item, named)).collect(),
        Value::Object(members) => {
            let mut clean = Map::new();
            for (name, value) in members {
                let value = if KEPT.contains(&name.as_str()) { value } else { without_traces(value, named) };
                clean.insert(scrub(&name, named), value);
            }
            Value::Object(clean)
        }
        plain => plain,
    }
}
