//! An upstream of the session era that remembers all received messages, over standard input and output. It writes them
//! line by line to the file MEMORY_UPSTREAM_LOG. With MEMORY_UPSTREAM_ROOTS it asks for roots right after the handshake.

use std::io::{BufRead, Write, stdin, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use serde_json::{Value, json};

/// How long it waits for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Default)]
struct Memory {
    capabilities: Value,
    level: Option<String>,
    watched: Vec<String>,
    answers: Vec<Value>,
    /// The roots of the client, as received.
    roots: Vec<Value>,
    notices: Vec<Value>,
    calls: u64,
}

#[derive(Default)]
struct UpstreamState {
    memory: Mutex<Memory>,
    answered: Condvar,
}

fn main() -> ExitCode {
    let state: Arc<UpstreamState> = Arc::default();
    let log = std::env::var_os("MEMORY_UPSTREAM_LOG");
    for read in stdin().lock().lines() {
        let Ok(read) = read else { break };
        if let Some(path) = &log {
            let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
            let _ = file.and_then(|mut file| writeln!(file, "{read}"));
        }
        let Ok(message) = serde_json::from_str::<Value>(&read) else { continue };
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some(method), Some(_)) => {
                let (method, state) = (method.to_owned(), state.clone());
                std::thread::spawn(move || serve(&method, &message, &state));
            }
            (None, Some(id)) => {
                let mut memory = state.memory.lock();
                if id == "roots" {
                    memory.roots.push(message)
                } else {
                    memory.answers.push(message)
                }
                state.answered.notify_all();
            }
            (Some(method), None) => {
                let is_begin = method == "notifications/initialized"
                    && std::env::var_os("MEMORY_UPSTREAM_ROOTS").is_some();
                if is_begin || method == "notifications/roots/list_changed" {
                    ask_for_roots();
                }
                state.memory.lock().notices.push(message);
            }
            (None, None) => {}
        }
    }
    ExitCode::SUCCESS
}

fn serve(method: &str, message: &Value, state: &UpstreamState) {
    let text = |place: &str| message.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut memory = state.memory.lock();
    let answer = match method {
        "initialize" => {
            memory.capabilities = message.pointer("/params/capabilities").cloned().unwrap_or_default();
            let capabilities = json!({"tools": {}, "logging": {}, "resources": {"subscribe": true}});
            json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
                "serverInfo": {"name": "memory_upstream", "version": "1"}})
        }
        "tools/list" => {
            let names = ["memory", "tell", "ask", "touch", "crash", "roots"];
            let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
            json!({"tools": names.map(tool)})
        }
        "logging/setLevel" => {
            memory.level = Some(text("/params/level"));
            json!({})
        }
        "resources/subscribe" => {
            memory.watched.push(text("/params/uri"));
            // Requests run concurrently, so their order is undefined.
            memory.watched.sort();
            json!({})
        }
        "resources/unsubscribe" => {
            let uri = text("/params/uri");
            memory.watched.retain(|watched| *watched != uri);
            json!({})
        }
        "tools/call" => {
            memory.calls += 1;
            drop(memory);
            let text = call(&text("/params/name"), message.pointer("/params/arguments"), state);
            json!({"content": [{"type": "text", "text": text}]})
        }
        "ping" => json!({}),
        _ => {
            let error = json!({"code": -32601, "message": "no such method"});
            return write(&json!({"jsonrpc": "2.0", "id": message.get("id"), "error": error}));
        }
    };
    write(&json!({"jsonrpc": "2.0", "id": message.get("id"), "result": answer}));
}

fn call(name: &str, arguments: Option<&Value>, state: &UpstreamState) -> String {
    let given = |key: &str| arguments.and_then(|all| all.get(key)).cloned().unwrap_or_default();
    let pause = Duration::from_millis(given("ms").as_u64().unwrap_or(0));
    let memory = || state.memory.lock();
    match name {
        "memory" => {
            let memory = memory();
            json!({"pid": std::process::id(), "level": memory.level, "watched": memory.watched,
                "capabilities": memory.capabilities, "calls": memory.calls, "roots": memory.roots,
                "notices": memory.notices})
            .to_string()
        }
        "tell" => {
            std::thread::sleep(pause);
            notify("notifications/message", json!({"level": "error", "data": given("what")}));
            std::thread::sleep(pause);
            "told".to_owned()
        }
        "ask" => {
            std::thread::sleep(pause);
            let before = memory().answers.len();
            let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
            let mut params = json!({"message": given("what"), "requestedSchema": schema});
            if let (token @ Value::Number(_), Some(members)) = (given("token"), params.as_object_mut()) {
                members.insert("_meta".to_owned(), json!({"progressToken": token, "x-kept": true}));
            }
            write(&json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params}));
            let mut memory = memory();
            state.answered.wait_while_for(&mut memory, |memory| memory.answers.len() == before, PATIENCE);
            memory.answers.last().cloned().unwrap_or_default().to_string()
        }
        "touch" => {
            notify("notifications/resources/updated", json!({"uri": given("uri")}));
            "touched".to_owned()
        }
        "roots" => {
            let before = memory().roots.len();
            ask_for_roots();
            let mut memory = memory();
            state.answered.wait_while_for(&mut memory, |memory| memory.roots.len() == before, PATIENCE);
            memory.roots.last().cloned().unwrap_or_default().to_string()
        }
        "crash" => std::process::exit(3),
        _ => "no such tool".to_owned(),
    }
}

fn ask_for_roots() {
    write(&json!({"jsonrpc": "2.0", "id": "roots", "method": "roots/list"}));
}

fn notify(method: &str, params: Value) {
    write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
}

fn write(message: &Value) {
    let mut out = stdout().lock();
    let _ = writeln!(out, "{message}");
    let _ = out.flush();
}
