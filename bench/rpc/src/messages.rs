//! Messages as real clients and servers send them: compact JSON, mixed value types.

use serde_json::{Value, json};

/// The sender of a message. The typed SDK has one union per sender.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    Client,
    Server,
}

/// A message to pass on.
pub struct Sample {
    pub name: &'static str,
    pub sender: Sender,
    pub bytes: Vec<u8>,
}

/// The three samples.
pub fn samples() -> [Sample; 3] {
    let sample = |name, sender, value: Value| Sample { name, sender, bytes: value.to_string().into_bytes() };
    [
        sample("tools/call 1 KB", Sender::Client, call(json!({"query": "open issues", "rows": rows(5)}))),
        sample("tools/call 100 KB", Sender::Client, call(json!({"table": "orders", "rows": rows(700)}))),
        sample("tools/list of 200", Sender::Server, list(200)),
    ]
}

fn call(arguments: Value) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 41, "method": "tools/call",
        "params": {"name": "store_rows", "arguments": arguments, "_meta": {"progressToken": "p-41"}}
    })
}

fn rows(count: u32) -> Vec<Value> {
    (0..count)
        .map(|row| {
            json!({
                "id": row, "sku": format!("SKU-{row:06}"), "price": f64::from(row) * 1.25 + 0.1, "stock": row % 7 == 0,
                "note": "first line\nsecond \"line\" – naïve café", "tags": ["new", "blue", row], "at": {"x": row, "y": null}
            })
        })
        .collect()
}

fn list(count: u32) -> Value {
    let tools: Vec<Value> = (0..count)
        .map(|tool| {
            json!({
                "name": format!("tool_{tool}"), "title": format!("Tool number {tool}"),
                "description": "Reads a range of lines from a file below the project root and returns them as text.",
                "inputSchema": {
                    "type": "object", "required": ["path"], "additionalProperties": false,
                    "properties": {
                        "path": {"type": "string", "description": "path relative to the root", "maxLength": 4096},
                        "first": {"type": "integer", "minimum": 1, "default": 1},
                        "last": {"type": "integer", "minimum": 1}
                    }
                },
                "annotations": {"readOnlyHint": true, "openWorldHint": false}
            })
        })
        .collect();
    json!({"jsonrpc": "2.0", "id": 41, "result": {"tools": tools, "nextCursor": "MjAw"}})
}
