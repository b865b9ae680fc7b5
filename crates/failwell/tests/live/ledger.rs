//! The ledger of the real program: without a folder, on a full disk, read during writes, tampered with.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::setup::folder::{Folder, upstream};
use crate::setup::node::{Answer, Node, within};
use crate::setup::several;

const BINARY: &str = env!("CARGO_BIN_EXE_failwell");

/// No user can create a folder here, not even root.
const NOWHERE: &str = "data_dir = \"/proc/failwell/cannot/be\"\n";

pub(crate) fn failwell(folder: &Folder, arguments: &[&str]) -> Output {
    // Each of several nodes has a ledger of its own, and a record is in one of them.
    let states =
        if arguments.first() == Some(&"explain") { several::states() } else { vec!["state".to_owned()] };
    let outputs = states.iter().map(|state| failwell_with_state(folder, arguments, state));
    outputs
        .reduce(|first, next| if first.status.success() { first } else { next })
        .expect("one node at least")
}

fn failwell_with_state(folder: &Folder, arguments: &[&str], state: &str) -> Output {
    let mut command = Command::new(BINARY);
    command.args(arguments).current_dir(&folder.0).env("FAILWELL_STATE", folder.0.join(state));
    command.output().expect("it runs")
}

pub(crate) fn output_of(folder: &Folder, arguments: &[&str]) -> String {
    text_of(&failwell(folder, arguments), arguments)
}

/// All records as JSON. While the node runs, the newest may be missing; use `records_once` then.
pub(crate) fn records(folder: &Folder, arguments: &[&str]) -> Vec<Value> {
    let arguments = [&["audit", "query", "--json"], arguments].concat();
    let states = several::states();
    let texts =
        states.iter().map(|state| text_of(&failwell_with_state(folder, &arguments, state), &arguments));
    let all: String = texts.collect();
    all.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn text_of(output: &Output, arguments: &[&str]) -> String {
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// Waits until the matching records satisfy the condition. A response is sent shortly before its record is on
/// disk.
#[track_caller]
pub(crate) fn records_once(
    folder: &Folder,
    arguments: &[&str],
    are_there: impl Fn(&[Value]) -> bool,
) -> Vec<Value> {
    let began = Instant::now();
    loop {
        let found = records(folder, arguments);
        if are_there(&found) {
            return found;
        }
        if began.elapsed() > Duration::from_secs(30) {
            let lines: String = found.iter().map(|record| format!("\n{record}")).collect();
            panic!("never there: what the test waits for among these {} records:{lines}", found.len());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The output of `failwell explain` for a failed call, after its record is on disk.
#[track_caller]
pub(crate) fn story(folder: &Folder, answer: &Answer) -> String {
    let reference = answer.json()["detail"]["ref"].as_str().expect("a reference").to_owned();
    records_once(folder, &["--ref", &reference], |found| !found.is_empty());
    output_of(folder, &["explain", &reference])
}

fn number(node: &Node, name: &str) -> f64 {
    let numbers = node.send("GET", "/metrics", &[], "").body;
    let line = numbers.lines().find_map(|line| line.strip_prefix(name)).expect("a number");
    line.trim().parse().expect("a number")
}

fn modern(node: &Node, tool: &str) -> Answer {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call",
        "params": {"name": tool, "arguments": {}, "_meta": meta}});
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)];
    node.send("POST", "/mcp", &headers, &call.to_string())
}

#[test]
fn without_a_record_there_is_no_answer_and_nothing_is_forwarded() {
    let folder = Folder::with(&format!("{NOWHERE}{}[audit]\ncritical = true\n", upstream("a", "")));
    let node = Node::up(&folder, &[]);
    node.waits_for("the ledger cannot be written", 1);

    let rest = node.tool("a__count", json!({}));
    assert_eq!((rest.status, rest.reason().as_str()), (503, "audit/FAILED"));
    assert_eq!(rest.json()["error_code"], -32603);
    assert_eq!(rest.json()["detail"]["effect"], "none");
    assert!(rest.body.contains("nothing was forwarded"), "{rest:?}");

    let session = node.initialize("/mcp");
    assert_eq!((&session.json()["error"]["code"], &session.json()["id"]), (&json!(-32005), &json!(1)));
    let modern = modern(&node, "a__count");
    assert_eq!((&modern.json()["error"]["code"], &modern.json()["id"]), (&json!(1503), &json!(3)));
    let call = json!({"jsonrpc": "2.0", "id": "x", "method": "a__count", "params": {}}).to_string();
    let rpc = node.send("POST", "/rpc", &[], &call);
    assert_eq!((rpc.status, &rpc.json()["error"]["code"]), (200, &json!(-32603)));
    assert_eq!(rpc.reason(), "audit/FAILED");
    assert_eq!(node.send("POST", "/rpc", &[], "{nope").reason(), "audit/FAILED");

    assert!(within(Duration::from_secs(30), || number(&node, "failwell_ledger_lost_total") >= 5.0));
    assert!(number(&node, "failwell_ledger_up") == 0.0);
    // The list of its tools, which the program asks for at the start.
    assert!(number(&node, "failwell_upstream_request_duration_seconds_count{upstream=\"a\"}") <= 1.0);
}

#[test]
fn a_ledger_that_is_not_critical_fails_no_call() {
    let folder = Folder::with(&format!("{NOWHERE}{}", upstream("a", "")));
    let node = Node::up(&folder, &[]);
    node.waits_for("the ledger cannot be written", 1);
    assert_eq!(node.tool("a__count", json!({})).text(), "1");
    assert!(number(&node, "failwell_ledger_up") == 0.0);
}

/// A file size limit behaves like a full disk: writes beyond it fail.
#[test]
fn on_a_full_disk_every_answer_has_its_record() {
    let folder = Folder::with("[audit]\ncritical = true\n");
    let mut command = Command::new("sh");
    let script = "trap '' XFSZ; ulimit -f 300; exec \"$0\" up --listen 127.0.0.1:0";
    command.args(["-c", script, BINARY]);
    let node = Node::start(command, &folder);
    let (mut answered, mut refused) = (0, Vec::new());
    for _ in 0..5_000 {
        let answer = node.tool("echo", json!({"text": "hello"}));
        match answer.status {
            200 => answered += 1,
            _ => refused.push(answer),
        }
        if refused.len() > 2 {
            break;
        }
    }
    assert!(answered > 0, "{refused:?}");
    assert_eq!(refused.len(), 3, "the disk was never full");
    for answer in &refused {
        assert_eq!((answer.status, answer.reason().as_str()), (503, "audit/FAILED"));
    }
    // The first call ran. The others were refused before they ran.
    let effects: Vec<Value> =
        refused.iter().map(|answer| answer.json()["detail"]["effect"].clone()).collect();
    assert_eq!(effects, ["unknown", "none", "none"]);
    drop(node);
    let kept = records(&folder, &["--outcome", "ok", "--tool", "echo", "--limit", "100000"]);
    assert!(kept.len() >= answered, "{answered} answers, {} records", kept.len());
    assert!(output_of(&folder, &["audit", "verify"]).contains("all as they were written"));
}

#[test]
fn explain_has_every_fact_and_no_secret_while_the_server_runs() {
    let token = format!("ghp_{}", "x7Rk2mPq9WvL4tZs8NcY".repeat(2).get(..36).expect("enough"));
    let secret = format!("see postgres://bob:hunter22xyz@db.internal/x and {token}");
    let folder = Folder::with(&format!(
        "{}[audit]\nbodies = true\njsonl = \"a.jsonl\"\ncsv = \"a.csv\"\ntext = \"a.log\"\n",
        upstream("a", "")
    ));
    let node = Node::up(&folder, &[]);
    let leak = node.tool("a__leak", json!({"text": secret}));
    assert_eq!(leak.reason(), "gateway/UPSTREAM_ERROR");
    node.tool(&token, json!({}));
    let odd = json!({"jsonrpc": "2.0", "id": format!("id {secret}"), "method": token, "params": {token.clone(): 1}});
    node.send("POST", "/rpc", &[], &odd.to_string());
    node.send("POST", "/rpc", &[], "{nope");
    node.send("GET", &format!("/{token}"), &[], "");
    node.tool("a__count", json!({"=cmd()": "@x"}));
    records_once(&folder, &[], |all| all.len() >= 6);

    let reference = leak.json()["detail"]["ref"].as_str().expect("a reference").to_owned();
    let story = story(&folder, &leak);
    for part in [
        "gateway/UPSTREAM_ERROR",
        "who      anonymous over http",
        "execute_tool a__leak, asked of failwell, behind it a",
        "in its own words: upstream error",
        "response to the caller",
        "help: ",
        "stack",
    ] {
        assert!(story.contains(part), "{part} is missing: {story}");
    }
    for one in [&["--reason", "rpc/NOT_JSON"][..], &["--tool", "count", "--outcome", "ok"]] {
        let found = records_once(&folder, one, |found| !found.is_empty());
        assert_eq!(found.len(), 1, "{one:?}: {found:?}");
    }
    let mut outputs =
        vec![story, output_of(&folder, &["audit", "tail"]), output_of(&folder, &["audit", "verify"])];
    outputs.extend(
        ["jsonl", "csv", "text"].map(|format| output_of(&folder, &["audit", "export", "--format", format])),
    );
    outputs.push(node.send("GET", "/metrics", &[], "").body);
    node.waits_for(&reference, 1);
    outputs.push(node.journal());
    node.signal("-TERM");
    assert!(within(Duration::from_secs(60), || !alive(node.pid())), "{}", node.journal());
    outputs.push(node.journal());
    let lines = std::fs::read_to_string(folder.0.join("a.jsonl")).expect("the copy");
    assert!(lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{lines}");
    assert!(lines.lines().count() >= 6);
    for hidden in [token.as_str(), "hunter22xyz"] {
        for text in &outputs {
            assert!(!text.contains(hidden), "{hidden} in {text}");
        }
        for file in files(&folder.0) {
            let bytes = std::fs::read(&file).expect("readable");
            let found = bytes.windows(hidden.len()).any(|window| window == hidden.as_bytes());
            assert!(!found, "{hidden} in {}", file.display());
        }
    }
}

/// Whether a process runs. A zombie does not.
pub(crate) fn alive(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

pub(crate) fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn tampering_is_found_and_sets_the_exit_code() {
    let folder = Folder::new();
    let node = Node::up(&folder, &[]);
    for _ in 0..5 {
        node.tool("echo", json!({"text": "x"}));
    }
    records_once(&folder, &[], |all| all.len() >= 5);
    drop(node);
    let verdict: Value =
        serde_json::from_str(&output_of(&folder, &["audit", "verify", "--json"])).expect("JSON");
    assert_eq!(verdict["ok"], true);
    let head = verdict["head"].as_str().expect("a head").to_owned();
    output_of(&folder, &["audit", "verify", "--head", &head]);

    let state = folder.0.join("state");
    let file = rusqlite::Connection::open(state.join("ledger.sqlite")).expect("the file");
    file.execute_batch("UPDATE record SET body = replace(body, 'anonymous', 'key:boss1') WHERE seq = 3")
        .expect("changed");
    drop(file);
    let output = failwell(&folder, &["audit", "verify"]);
    assert_eq!(output.status.code(), Some(1));
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.starts_with("record 3 (ref ") && out.lines().count() == 1, "{out}");
    let wrong = failwell(&folder, &["audit", "verify", "--head", "nonsense"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).starts_with("error: this is not a chain head"));

    let empty = Folder::new();
    let none = failwell(&empty, &["audit", "tail"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&none.stderr).contains("error: there is no ledger in "));
    let unknown = failwell(&folder, &["explain", "0000000000000"]);
    assert!(
        String::from_utf8_lossy(&unknown.stderr)
            .contains("error: the ledger has no record with the reference")
    );
}
