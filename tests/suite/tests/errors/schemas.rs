//! Every received message must be valid by the official schema of its revision.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use failwell_rpc::Revision;
use jsonschema::Validator;
use serde_json::{Value, json};

/// Checks a message against its revision's schema; an answer also against the result type of its method.
pub(crate) fn check(message: &Value, method: Option<&str>, revision: Revision) -> Result<(), String> {
    let Some(documents) = documents() else { return Ok(()) };
    let mut message = message.clone();
    // JSON-RPC answers an unreadable message with a null id. The schemas before 2025-11-25 do not allow that.
    if message.get("id") == Some(&Value::Null) && revision.null_id_when_unreadable() {
        message["id"] = json!(0);
    }
    valid(documents, revision, "JSONRPCMessage", &message)?;
    match (message.get("result"), method.and_then(result_type)) {
        (Some(result), Some(name)) => {
            let name = match result.get("resultType").and_then(Value::as_str) {
                Some("input_required") => "InputRequiredResult",
                Some("task") => "Result",
                _ => name,
            };
            valid(documents, revision, name, result)
        }
        _ => Ok(()),
    }
}

fn result_type(method: &str) -> Option<&'static str> {
    Some(match method {
        "initialize" => "InitializeResult",
        "server/discover" => "DiscoverResult",
        "ping" | "logging/setLevel" => "EmptyResult",
        "tools/list" => "ListToolsResult",
        "tools/call" => "CallToolResult",
        "prompts/list" => "ListPromptsResult",
        "prompts/get" => "GetPromptResult",
        "resources/list" => "ListResourcesResult",
        "resources/read" => "ReadResourceResult",
        "completion/complete" => "CompleteResult",
        _ => return None,
    })
}

type Documents = HashMap<&'static str, Value>;

/// The official schemas, from the folder in `FAILWELL_SCHEMAS` or next to the repository.
fn documents() -> Option<&'static Documents> {
    static DOCUMENTS: OnceLock<Option<Documents>> = OnceLock::new();
    DOCUMENTS
        .get_or_init(|| {
            let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/mcp-schema");
            let folder =
                std::env::var_os("FAILWELL_SCHEMAS").map_or_else(|| PathBuf::from(beside), PathBuf::from);
            let read = |revision: Revision| {
                let text =
                    std::fs::read_to_string(folder.join(format!("{}.json", revision.as_str()))).ok()?;
                Some((revision.as_str(), serde_json::from_str(&text).expect("the schema is JSON")))
            };
            let documents: Option<Documents> = Revision::ALL.into_iter().map(read).collect();
            if documents.is_none() {
                eprintln!(
                    "note: ../shared/mcp-schema is not there; messages are not checked against the schemas"
                );
            }
            documents
        })
        .as_ref()
}

fn valid(documents: &Documents, revision: Revision, name: &str, value: &Value) -> Result<(), String> {
    static COMPILED: Mutex<Option<HashMap<String, &'static Validator>>> = Mutex::new(None);
    let key = format!("{} {name}", revision.as_str());
    let validator = {
        let mut compiled = COMPILED.lock().expect("compiled schemas");
        *compiled
            .get_or_insert_default()
            .entry(key.clone())
            .or_insert_with(|| Box::leak(Box::new(compile(&documents[revision.as_str()], name))))
    };
    match validator.iter_errors(value).next() {
        None => Ok(()),
        Some(error) => Err(format!("not valid by {key} at {}: {error}", error.instance_path())),
    }
}

fn compile(document: &Value, name: &str) -> Validator {
    let place = if document.get("$defs").is_some() { "$defs" } else { "definitions" };
    let mut schema = document.clone();
    schema["$ref"] = json!(format!("#/{place}/{name}"));
    jsonschema::options().build(&schema).expect("the official schema compiles")
}

#[test]
fn the_schemas_are_really_applied() {
    if documents().is_none() {
        return;
    }
    for revision in Revision::ALL {
        for wrong in [
            json!({}),
            json!({"jsonrpc": "2.0", "id": 1.5, "result": {}}),
            json!({"jsonrpc": "2.0", "error": {}}),
        ] {
            assert!(check(&wrong, None, revision).is_err(), "{wrong} passes in {}", revision.as_str());
        }
        let result = json!({"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete", "content": [{"type": "nonsense"}]}});
        assert!(check(&result, Some("tools/call"), revision).is_err(), "{}", revision.as_str());
    }
}
