//! Stores all output of the program for the canary (`cargo xtask canary`), and plants secrets in all of its
//! input.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

use crate::ledger::{alive, files, records_once};
use crate::setup::folder::{Folder, upstream};
use crate::setup::node::{Answer, Node, within};

/// A secret that every guard detects by its pattern. It contains the marker of the canary.
fn planted() -> String {
    format!("ghp_{}", "x7Rk2mPq9WvL4tZs8NcY".repeat(2).get(..36).expect("enough"))
}

/// A new folder for the output, if `FAILWELL_CANARY` is set.
pub(crate) fn place() -> Option<PathBuf> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("live-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let place = PathBuf::from(std::env::var_os("FAILWELL_CANARY")?).join(name);
    std::fs::create_dir_all(&place).expect("a folder");
    Some(place)
}

pub(crate) fn write(place: Option<&Path>, name: &str, text: &str) {
    if let Some(place) = place {
        std::fs::write(place.join(name), text).expect("written");
    }
}

/// Stores the files that the program wrote: its state and the copies of its records. Files of the test
/// itself, such as the configuration and scripts, are not output.
pub(crate) fn keep(folder: &Path) {
    let is_output = |path: &Path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        [".sqlite", ".sqlite-wal", ".sqlite-shm", ".jsonl", ".csv", ".log"]
            .iter()
            .any(|end| name.ends_with(end))
    };
    let outputs: Vec<PathBuf> = files(folder).into_iter().filter(|path| is_output(path)).collect();
    let Some(place) = place().filter(|_| !outputs.is_empty()) else { return };
    for (number, file) in outputs.iter().enumerate() {
        let name = file.file_name().expect("a name").to_string_lossy();
        let _ = std::fs::copy(file, place.join(format!("{number}-{name}")));
        // SQLite splits a long text over several pages, so the records are also exported as text.
        if name == "ledger.sqlite" {
            let mut export = Command::new(env!("CARGO_BIN_EXE_failwell"));
            export.args(["audit", "export", "--format", "jsonl"]).current_dir(std::env::temp_dir());
            let output =
                export.env("FAILWELL_STATE", file.parent().expect("a folder")).output().expect("it runs");
            write(Some(&place), &format!("{number}-ledger.jsonl"), &String::from_utf8_lossy(&output.stdout));
        }
    }
}

/// The same secret in every encoding that the guards decode.
fn spellings(secret: &str) -> Vec<String> {
    let code = |text: &str| BASE64_STANDARD.encode(text);
    vec![
        secret.to_owned(),
        format!("see {secret}, and again {secret}"),
        format!("{secret}\n").repeat(20),
        code(secret),
        code(&format!("x{secret}")),
        code(&code(secret)),
        secret.replace("hp_", "\u{200b}hp_"),
        json!({"inner": secret}).to_string(),
        format!("postgres://bob:{secret}@db.example/x"),
    ]
}

fn percent_encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let spell = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(spell).collect()
}

/// Sends the secret in every dialect and in every place for text.
fn say_everywhere(node: &Node, tool: &str, secret: &str) -> Vec<Answer> {
    let mut answers = Vec::new();
    for text in spellings(secret) {
        answers.push(node.tool(tool, json!({"text": text})));
        let arguments = json!({"name": tool, "arguments": {"text": text, "more": {text.clone(): [text]}}});
        answers.push(node.modern("tools/call", tool, arguments));
        let rpc = json!({"jsonrpc": "2.0", "id": 1, "method": "execute_tool",
            "params": {"name": tool, "arguments": {"text": text}}});
        answers.push(node.send("POST", "/rpc", &[], &rpc.to_string()));
        let notice =
            json!({"jsonrpc": "2.0", "method": format!("notifications/{text}"), "params": {"a": text}});
        node.send("POST", "/rpc", &[], &notice.to_string());
        node.send("POST", "/mcp", &[("MCP-Protocol-Version", "2026-07-28")], &notice.to_string());
        node.send("POST", "/mcp", &[], &format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":{}", json!(text)));
        node.tool(&percent_encoded(&text), json!({}));
    }
    for header in
        ["Authorization", "X-API-Key", "Mcp-Session-Id", "MCP-Protocol-Version", "Last-Event-ID", "Origin"]
    {
        node.send("POST", "/mcp", &[(header, secret)], "{}");
        node.send("GET", &format!("/{secret}?key={secret}"), &[(header, secret)], "");
    }
    answers
}

/// With every guard action, the secret is in no log, ledger, copy or metric. With an action that stops it, it
/// is in no response either. The canary searches the stored output byte by byte; this test works without it.
#[test]
fn a_planted_secret_is_in_nothing_the_program_writes() {
    let secret = planted();
    for (number, action) in ["redact", "block", "audit_only", "off"].into_iter().enumerate() {
        let audit = "[audit]\nbodies = true\njsonl = \"a.jsonl\"\ncsv = \"a.csv\"\ntext = \"a.log\"\n";
        let guard = format!("[guard.secrets]\naction = \"{action}\"\n");
        let folder = Folder::with(&format!("{}{audit}{guard}", upstream("a", "")));
        let node = Node::up(&folder, &[]);
        let mut answers = say_everywhere(&node, "lobby__echo", &secret);
        answers.extend(say_everywhere(&node, "a__leak", &secret));
        records_once(&folder, &["--limit", "1000"], |all| all.len() > 100);
        if matches!(action, "redact" | "block") {
            let place = place();
            let all: Vec<String> = answers.iter().map(|answer| format!("{answer:?}")).collect();
            write(place.as_deref(), &format!("{number}-answers"), &all.join("\n"));
            assert!(!all.iter().any(|answer| answer.contains("x7Rk2mPq")), "{all:?}");
        }
        node.signal("-TERM");
        assert!(within(Duration::from_secs(60), || !alive(node.pid())), "{}", node.journal());
        assert!(!node.journal().contains("x7Rk2mPq"), "{action}: {}", node.journal());
        for file in files(&folder.0) {
            let bytes = std::fs::read(&file).expect("readable");
            let found = bytes.windows(8).any(|window| window == b"x7Rk2mPq");
            assert!(!found, "{action}: a secret in {}", file.display());
        }
    }
}
