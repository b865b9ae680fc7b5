//! The official MCP schemas, if they are checked out next to this repository.

use std::io::Write;
use std::path::Path;

use failwell_rpc::Revision;
use jsonschema::Validator;
use serde_json::{Value, json};

/// The validators of one revision.
pub(crate) struct Schemas {
    revision: Revision,
    error: Validator,
    tool_result: Validator,
    by_code: Vec<(i64, Validator)>,
}

/// Errors with their own schema in MCP 2026-07-28.
const SHAPED: [(i64, &str); 3] = [
    (-32020, "HeaderMismatchError"),
    (-32021, "MissingRequiredClientCapabilityError"),
    (-32022, "UnsupportedProtocolVersionError"),
];

impl Schemas {
    /// All revisions. Without the folder it prints a note and returns `None`.
    pub(crate) fn load() -> Option<Vec<Schemas>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/mcp-schema");
        if !folder.is_dir() {
            // The test harness would capture `eprintln!`.
            let note = b"note: no MCP schemas beside the repository; bodies are not checked against them\n";
            let _ = std::io::stderr().write_all(note);
            return None;
        }
        Some(Revision::ALL.into_iter().map(|revision| Schemas::of(&folder, revision)).collect())
    }

    fn of(folder: &Path, revision: Revision) -> Schemas {
        let path = folder.join(format!("{}.json", revision.as_str()));
        let text = std::fs::read_to_string(&path).expect("a schema for every revision");
        let schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
        let named = |candidates: &[&str]| definition(&schema, candidates).expect("a definition of that name");
        let modern = revision == Revision::V2026_07_28;
        let shaped = SHAPED.iter().filter(|_| modern);
        Schemas {
            revision,
            error: named(&["JSONRPCErrorResponse", "JSONRPCError"]),
            tool_result: named(&["CallToolResult"]),
            by_code: shaped.map(|(code, name)| (*code, named(&[name]))).collect(),
        }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    /// Checks an error response.
    pub(crate) fn check_error(&self, body: &Value) {
        let mut body = body.clone();
        if body["id"].is_null() && self.revision.null_id_when_unreadable() {
            // JSON-RPC requires null here, but the schemas of these revisions require an id and do not allow
            // null.
            body["id"] = json!(0);
        }
        accept(&self.error, &body);
        let code = body["error"]["code"].as_i64().expect("an integer code");
        for (_, validator) in self.by_code.iter().filter(|(known, _)| *known == code) {
            accept(validator, &body);
        }
    }

    /// Checks the result of a tool call.
    pub(crate) fn check_tool_result(&self, result: &Value) {
        accept(&self.tool_result, result);
    }
}

fn accept(validator: &Validator, value: &Value) {
    let complaints: Vec<String> = validator.iter_errors(value).map(|error| error.to_string()).collect();
    assert!(complaints.is_empty(), "{value}\n{complaints:#?}");
}

/// A validator for one definition of a schema document.
fn definition(schema: &Value, candidates: &[&str]) -> Option<Validator> {
    let home = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
    let name = candidates.iter().find(|name| schema[home].get(**name).is_some())?;
    let mut document = schema.clone();
    let members = document.as_object_mut()?;
    members.retain(|key, _| key == "$schema" || key == home);
    members.insert("allOf".to_owned(), json!([{ "$ref": format!("#/{home}/{name}") }]));
    jsonschema::validator_for(&document).ok()
}
