//! Which tool to call: one that looks harmless, and never with valid arguments one that may change something.

use serde_json::{Value, json};

use super::arguments;

/// Words in a name that suggest the world is different afterwards, or that secrets come back.
const DANGEROUS: [&str; 42] = [
    "write",
    "delete",
    "remove",
    "send",
    "create",
    "update",
    "set",
    "put",
    "post",
    "move",
    "rename",
    "edit",
    "add",
    "insert",
    "drop",
    "kill",
    "stop",
    "exec",
    "run",
    "eval",
    "install",
    "upload",
    "publish",
    "deploy",
    "pay",
    "buy",
    "transfer",
    "reset",
    "clear",
    "purge",
    "merge",
    "push",
    "commit",
    "env",
    "secret",
    "token",
    "password",
    "credential",
    "simulate",
    "toggle",
    "sampling",
    "elicitation",
];
const FRIENDLY: [&str; 17] = [
    "echo", "ping", "hello", "greet", "version", "status", "health", "time", "sum", "get", "list", "search",
    "find", "read", "describe", "show", "info",
];
const SLOW: [&str; 5] = ["slow", "sleep", "long", "wait", "delay"];
const DURATIONS: [&str; 6] = ["duration", "seconds", "delay", "sleep", "time", "timeout"];

/// A tool the examiner may call.
#[derive(Clone, Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    /// Valid arguments; only for tools chosen as harmless.
    pub(crate) arguments: Value,
    /// Arguments of a wrong type, when the schema excludes any.
    pub(crate) wrong_type: Option<Value>,
    /// Whether calling it without arguments is wrong.
    pub(crate) requires_something: bool,
}

fn name(tool: &Value) -> &str {
    tool.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn hint(tool: &Value, key: &str) -> Option<bool> {
    tool.get("annotations")?.get(key)?.as_bool()
}

/// Splits a name into words: `getUserName`, `get-user_name`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for letter in name.chars() {
        if letter.is_uppercase() || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(last) = words.last_mut() {
            last.extend(letter.to_lowercase().filter(|letter| letter.is_alphanumeric()));
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn has_word(tool: &Value, list: &[&str]) -> bool {
    words(name(tool)).iter().any(|word| list.contains(&word.as_str()))
}

fn looks_dangerous(tool: &Value) -> bool {
    hint(tool, "destructiveHint") == Some(true) && hint(tool, "readOnlyHint") != Some(true)
        || has_word(tool, &DANGEROUS) && hint(tool, "readOnlyHint") != Some(true)
        || has_word(tool, &["env", "secret", "token", "password", "credential"])
}

fn made(tool: &Value, arguments: Value) -> Tool {
    let schema = tool.get("inputSchema").cloned().unwrap_or_else(|| json!({}));
    Tool {
        name: name(tool).to_owned(),
        arguments,
        wrong_type: arguments::wrong_type(&schema),
        requires_something: arguments::requires_something(&schema),
    }
}

fn minimal(tool: &Value) -> Option<Tool> {
    let arguments = arguments::minimal(tool.get("inputSchema").unwrap_or(&json!({"type": "object"})))?;
    Some(made(tool, arguments))
}

/// The best tool for valid calls. Asking for one by name is permission to call it.
pub(super) fn harmless(tools: &[Value], wanted: Option<&str>) -> Option<Tool> {
    if let Some(wanted) = wanted {
        return tools.iter().find(|tool| name(tool) == wanted).and_then(minimal);
    }
    let merit = |tool: &&Value| {
        let friendly = FRIENDLY.iter().position(|word| words(name(tool)).iter().any(|part| part == word));
        let friendly = friendly.map_or(0, |place| 40 - place);
        let read_only = if hint(tool, "readOnlyHint") == Some(true) { 60 } else { 0 };
        (friendly + read_only, std::cmp::Reverse(name(tool).len()))
    };
    let mut fit: Vec<&Value> = tools
        .iter()
        .filter(|tool| !looks_dangerous(tool) && merit(tool).0 > 0 && minimal(tool).is_some())
        .collect();
    fit.sort_by_key(|tool| std::cmp::Reverse(merit(tool)));
    let echo = fit.iter().find(|tool| name(tool) == "echo").or(fit.first());
    echo.and_then(|tool| minimal(tool))
}

/// The best tool for wrong arguments: harmless when there is one, with a schema that refuses something.
pub(super) fn strict(tools: &[Value], wanted: Option<&str>) -> Option<Tool> {
    let refuses = |tool: &&Tool| tool.wrong_type.is_some() || tool.requires_something;
    if let Some(tool) = harmless(tools, wanted).as_ref().filter(refuses) {
        return Some(tool.clone());
    }
    let mut rest: Vec<&Value> = tools.iter().collect();
    rest.sort_by_key(|tool| looks_dangerous(tool));
    rest.into_iter().map(|tool| made(tool, json!({}))).find(|tool| refuses(&tool))
}

/// A harmless tool with an argument that makes it take about three seconds.
pub(super) fn slow(tools: &[Value]) -> Option<Tool> {
    let tool = tools.iter().find(|tool| has_word(tool, &SLOW) && !looks_dangerous(tool))?;
    let properties = tool.get("inputSchema")?.get("properties")?.as_object()?;
    let (key, _) = properties.iter().find(|(key, property)| {
        DURATIONS.contains(&key.to_lowercase().as_str())
            && matches!(property.get("type").and_then(Value::as_str), Some("number" | "integer"))
    })?;
    let mut tool = minimal(tool)?;
    tool.arguments.as_object_mut()?.insert(key.clone(), json!(3));
    Some(tool)
}

#[cfg(test)]
mod tests {
    use super::{harmless, slow, strict, words};
    use serde_json::{Value, json};

    fn tool(name: &str, annotations: Value) -> Value {
        json!({"name": name, "annotations": annotations, "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}})
    }

    fn check(tools: &[Value], expected: Option<&str>) {
        assert_eq!(harmless(tools, None).map(|tool| tool.name), expected.map(str::to_owned));
    }

    #[test]
    fn names_are_split_into_words() {
        assert_eq!(words("getUserName"), ["get", "user", "name"]);
        assert_eq!(words("get-user_name"), ["get", "user", "name"]);
        assert_eq!(words("settings"), ["settings"]);
    }

    #[test]
    fn harmless_tools_are_preferred_and_dangerous_ones_never_called() {
        check(&[tool("get-sum", json!({})), tool("echo", json!({}))], Some("echo"));
        check(&[tool("delete_all", json!({}))], None);
        check(&[tool("get-env", json!({"readOnlyHint": true}))], None);
        check(&[tool("frobnicate", json!({"readOnlyHint": true}))], Some("frobnicate"));
        check(&[tool("frobnicate", json!({}))], None);
        check(&[tool("echo", json!({"destructiveHint": true}))], None);
        check(&[tool("write_file", json!({})), tool("list_files", json!({}))], Some("list_files"));
    }

    #[test]
    fn any_tool_may_refuse_wrong_arguments() {
        assert_eq!(strict(&[tool("delete_all", json!({}))], None).unwrap().name, "delete_all");
    }

    #[test]
    fn a_slow_tool_is_reported_with_its_duration() {
        let mut it = tool("long-running", json!({}));
        it["inputSchema"]["properties"] = json!({"duration": {"type": "number"}});
        assert_eq!(slow(&[it]).unwrap().arguments, json!({"duration": 3}));
    }
}
