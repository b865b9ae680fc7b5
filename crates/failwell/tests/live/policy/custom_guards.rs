//! Custom guards in the real program: the unchanged examples, and a guard that makes every mistake.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::ledger::{output_of, records_once, story};
use crate::setup::folder::Folder;
use crate::setup::node::{Answer, Node, within};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const ODD: &str = include_str!("custom_guards/odd.py");

/// An unchanged example in its own folder.
fn example(name: &str) -> Folder {
    let folder = Folder::new();
    for file in std::fs::read_dir(Path::new(ROOT).join("examples").join(name)).expect("the example") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), folder.0.join(file.file_name())).expect("copied");
    }
    folder
}

fn echo(node: &Node, text: &str) -> Answer {
    node.tool("echo", json!({"text": text}))
}

/// The text of an echo response.
fn text(answer: &Answer) -> String {
    answer.json()["text"].as_str().unwrap_or_else(|| panic!("no text: {answer:?}")).to_owned()
}

/// A guard whose messages control its behaviour, with additional settings.
fn odd(more: &str) -> Folder {
    let folder = Folder::with(&format!(
        "servers = [\"lobby\"]\n[[guard.custom]]\nname = \"odd\"\ncommand = [\"python3\", \"odd.py\"]\n{more}\n"
    ));
    folder.write("odd.py", ODD);
    folder
}

#[test]
fn the_example_of_a_module_says_no_to_what_is_marked() {
    let folder = example("guard-wasm");
    let node = Node::up(&folder, &[]);
    assert_eq!(echo(&node, "nothing special").status, 200);
    let large = "x".repeat(900_000);
    assert_eq!(echo(&node, &large).status, 200, "messages of any size");
    for text in ["CONFIDENTIAL", &format!("{large} CONFIDENTIAL")] {
        let blocked = echo(&node, text);
        assert_eq!((blocked.status, blocked.reason().as_str()), (403, "policy/BLOCKED"));
        let facts = &blocked.json()["detail"]["facts"];
        assert_eq!((&facts["guard"], &facts["category"]), (&json!("markings"), &json!("marking")));
        assert!(!blocked.body.contains("the word"), "{blocked:?}");
        let story = story(&folder, &blocked);
        assert!(story.contains("markings on the request: block: marking"), "{story}");
        assert!(story.contains("the word CONFIDENTIAL"), "the operator is told: {story}");
    }
    let numbers = node.send("GET", "/metrics", &[], "").body;
    let line = "failwell_custom_guard_verdicts_total{guard=\"markings\",verdict=\"deny\"} 2";
    assert!(numbers.contains(line), "{numbers}");
}

#[test]
fn the_example_of_a_program_takes_out_numbers_and_says_no() {
    let folder = example("guard-python");
    let node = Node::up(&folder, &[]);
    answers(&node);
    assert_eq!(text(&echo(&node, "hello")), "hello");
    assert_eq!(
        text(&echo(&node, "ask EMP-12345 or EMP-12345")),
        "ask [redacted: staff/staff_number] or [redacted: staff/staff_number]"
    );
    let blocked = echo(&node, "all salaries");
    assert_eq!(blocked.reason(), "policy/BLOCKED");
    assert_eq!(blocked.json()["detail"]["facts"]["category"], "salary");
    assert_eq!(blocked.json()["detail"]["effect"], "none");
    // Other dialects and eras.
    let modern =
        node.modern("tools/call", "echo", json!({"name": "echo", "arguments": {"text": "EMP-99999"}}));
    assert!(
        modern.text().contains("[redacted: staff/staff_number]") && !modern.body.contains("EMP-"),
        "{modern:?}"
    );
    let asked = |record: &Value| record["guards"].as_array().filter(|guards| guards.len() > 2).cloned();
    let echoes = records_once(&folder, &["--tool", "echo"], |all| all.iter().any(|one| asked(one).is_some()));
    let guards = echoes.iter().find_map(asked).expect("guards");
    let staff: Vec<&Value> = guards.iter().filter(|guard| guard["guard"] == "staff").collect();
    assert!(!staff.is_empty() && staff.iter().all(|guard| guard["took_us"].as_u64() > Some(0)), "{guards:?}");
}

/// A failing critical guard fails the call with this reason.
fn fails(node: &Node, folder: &Folder, text: &str, why: &str) {
    let failed = echo(node, text);
    assert_eq!((failed.status, failed.reason().as_str()), (503, "policy/GUARD_FAILED"), "{text}: {failed:?}");
    let detail = &failed.json()["detail"];
    assert_eq!((&detail["facts"]["guard"], &detail["facts"]["why"]), (&json!("odd"), &json!(why)), "{text}");
    assert_eq!(detail["effect"], "none");
    let story = story(folder, &failed);
    assert!(story.contains(&format!("odd on the request: failed: {why}")), "{text}: {story}");
}

/// Waits until the guard responds, after the start or after a restart.
fn answers(node: &Node) {
    assert!(within(Duration::from_secs(60), || echo(node, "fine").status == 200), "{}", node.journal());
}

#[test]
fn a_critical_guard_that_fails_lets_nothing_pass_and_is_started_again() {
    let more = "directions = [\"requests\"]\ntimeout_ms = 5000\nrestart = { budget = 100, window_s = 60 }";
    let folder = odd(more);
    let node = Node::up(&folder, &[]);
    answers(&node);
    fails(&node, &folder, "odd:nonsense", "it gave no proper verdict");
    fails(&node, &folder, "odd:both", "it gave no proper verdict");
    fails(&node, &folder, "odd:nowhere", "it gave no proper verdict");
    assert_eq!(echo(&node, "odd:noise").status, 200, "a stray line is passed over");
    assert_eq!(echo(&node, "odd:shout").status, 200, "whatever it says on standard error");
    assert_eq!(text(&echo(&node, "odd:overlap abcdef")), "odd:overlap [redacted: odd/words]");
    fails(&node, &folder, "odd:wrong-id", "it did not answer in time");
    fails(&node, &folder, "odd:crash", "it crashed");
    answers(&node);
    fails(&node, &folder, "odd:oversize", "its verdict is too long");
    answers(&node);
    fails(&node, &folder, "odd:babble", "it writes lines that are no verdict");
    answers(&node);
    let denied = echo(&node, "odd:deny");
    assert_eq!(denied.reason(), "policy/BLOCKED");
    assert!(!denied.body.contains("WORDS-FOR"), "{denied:?}");
    assert!(story(&folder, &denied).contains("WORDS-FOR-THE-OPERATOR"));
    node.waits_for("last words of the guard", 1);
}

#[test]
fn a_failed_guard_that_is_not_critical_is_skipped_and_reported() {
    let more = "directions = [\"requests\"]\ntimeout_ms = 1500\ncritical = false\nrestart = { budget = 100, window_s = 60 }";
    let folder = odd(more);
    let node = Node::up(&folder, &[]);
    for sent in ["odd:nonsense", "odd:crash", "odd:oversize", "odd:silent", "fine"] {
        assert_eq!(text(&echo(&node, sent)), sent);
    }
    // The guard may still be restarting, and messages pass without it until then.
    let denied = || echo(&node, "odd:deny");
    assert!(within(Duration::from_secs(60), || denied().status == 403), "{}", node.journal());
    assert_eq!(denied().reason(), "policy/BLOCKED", "a verdict counts, critical or not");
    node.waits_for("messages went on without its verdict", 1);
    assert!(node.journal().contains("policy/GUARD_FAILED"), "{}", node.journal());
    let failed = |all: &[Value]| {
        let guards = all.iter().flat_map(|record| record["guards"].as_array().cloned().unwrap_or_default());
        guards.filter(|guard| guard["guard"] == "odd" && guard["decided"] == "failed").count()
    };
    records_once(&folder, &["--tool", "echo"], |all| failed(all) >= 4);
}

#[test]
fn a_slow_guard_keeps_to_its_time_and_many_questions_are_open_at_once() {
    let more = "directions = [\"requests\"]\ntimeout_ms = 3000\nrestart = { budget = 100, window_s = 60 }";
    let folder = odd(more);
    let node = Node::up(&folder, &[]);
    answers(&node);
    // The guard answers all three messages only after the third one, in another order.
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..3)
            .map(|n| {
                let node = &node;
                scope.spawn(move || echo(node, &format!("odd:later {n}")))
            })
            .collect();
        for (n, call) in calls.into_iter().enumerate() {
            assert_eq!(text(&call.join().expect("an answer")), format!("odd:later {n}"));
        }
    });
    let began = Instant::now();
    assert_eq!(echo(&node, "odd:slow").reason(), "policy/GUARD_FAILED");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    // The guard sleeps for a minute. After enough timeouts it is restarted.
    assert!(within(Duration::from_secs(120), || echo(&node, "fine").status == 200), "{}", node.journal());
}

#[test]
fn a_guard_that_ends_too_often_says_so() {
    let folder = odd("timeout_ms = 1000\nrestart = { budget = 1, window_s = 3600 }");
    let node = Node::up(&folder, &[]);
    let ended =
        within(Duration::from_secs(30), || echo(&node, "odd:crash").body.contains("it ended too often"));
    assert!(ended, "{}", node.journal());
    let story = story(&folder, &echo(&node, "fine"));
    assert!(story.contains("last words of the guard"), "{story}");
}

#[test]
fn an_answer_may_be_changed_or_held_back_and_what_was_done_is_said() {
    let folder = odd("directions = [\"results\"]\ntimeout_ms = 20000");
    let node = Node::up(&folder, &[]);
    assert_eq!(text(&echo(&node, "odd:overlap abcdef")), "odd:overlap [redacted: odd/words]");
    let held = echo(&node, "odd:deny");
    let detail = &held.json()["detail"];
    assert_eq!((held.reason().as_str(), &detail["effect"]), ("policy/BLOCKED", &json!("complete")));
    let hint = detail["hint"].as_str().expect("a hint");
    assert!(
        hint.contains("the response, which was withheld") && !hint.contains("send the request again"),
        "{hint}"
    );
}

#[test]
fn a_guard_gets_the_environment_that_is_named_and_goes_with_the_file() {
    let log = "env = { ODD_LOG = \"pids\" }\nenv_pass = [\"PATH\"]\ntimeout_ms = 20000";
    let folder = odd(log);
    let node = Node::up(&folder, &[]);
    assert_eq!(echo(&node, "fine").status, 200);
    let logged = || std::fs::read_to_string(folder.0.join("pids")).unwrap_or_default();
    assert!(within(Duration::from_secs(30), || logged().lines().count() == 1), "{}", logged());
    let (pid, names) = {
        let text = logged();
        let (pid, names) = text.split_once(' ').expect("two");
        (pid.to_owned(), names.to_owned())
    };
    assert!(names.contains("ODD_LOG") && !names.contains("FAILWELL") && !names.contains("HOME"), "{names}");
    let file = std::fs::read_to_string(folder.0.join("failwell.toml")).expect("the file");
    folder.save(&file.replace("timeout_ms = 20000", "timeout_ms = 21000"));
    node.waits_for("guards changed", 1);
    assert_eq!(echo(&node, "fine").status, 200);
    assert_eq!(logged().lines().count(), 1, "another rule, the same process");
    folder.save("servers = [\"lobby\"]\n");
    node.waits_for("guards changed", 2);
    assert_eq!(echo(&node, "odd:deny").status, 200, "nobody looks any more");
    assert!(crate::setup::node::ends(&pid), "the child is gone");
}

#[test]
fn guards_for_some_tools_are_not_asked_about_others_whatever_the_name() {
    let guard = "[[guard.custom]]\nname = \"odd\"\ncommand = [\"python3\", \"odd.py\"]\nservers = [\"a\"]\ntools = [\"var*\"]\ntimeout_ms = 20000\n";
    let rename = "[tools.a]\nrename = { variable = \"other\" }\n";
    let folder = Folder::with(&format!("{}{rename}{guard}", crate::setup::folder::upstream("a", "")));
    folder.write("odd.py", ODD);
    let node = Node::up(&folder, &[]);
    assert_eq!(node.tool("a__other", json!({"name": "odd:deny"})).reason(), "policy/BLOCKED");
    assert_eq!(node.tool("other", json!({"name": "odd:deny"})).reason(), "policy/BLOCKED");
    assert_eq!(node.tool("a__count", json!({"note": "odd:deny"})).status, 200, "known before guards look");
    assert_eq!(node.send("GET", "/v1/tools", &[], "").status, 200);
    assert_eq!(node.tool("other", json!({"name": "odd:deny"})).reason(), "policy/BLOCKED");
    assert_eq!(node.tool("a__count", json!({"note": "odd:deny"})).status, 200);
    assert_eq!(node.tool("lobby__echo", json!({"text": "odd:deny"})).status, 200);
}

#[test]
fn stdio_reports_an_extension_that_does_not_load() {
    let folder = Folder::with("[[guard.custom]]\nname = \"g\"\nwasm = \"g.wat\"\n");
    folder.write("g.wat", "(module)");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_failwell"));
    command.arg("stdio").current_dir(&folder.0).env("FAILWELL_STATE", folder.0.join("state"));
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    std::io::Write::write_all(&mut child.stdin.take().expect("input"), ping.as_bytes()).expect("sent");
    let output = child.wait_with_output().expect("it ends");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32002), &json!(1)));
    assert_eq!(answer["error"]["data"]["reason"], "config/PLUGIN");
    assert!(!output.status.success());
}

#[test]
fn bodies_hold_only_what_guards_let_in() {
    let audit = "[audit]\nbodies = true\n[guard.pii]\naction = \"redact\"\n[guard.secrets]\naction = \"redact\"\ncategories = [\"entropy\", \"github_token\"]\n";
    let folder = Folder::with(&format!("servers = [\"lobby\"]\n{audit}"));
    let node = Node::up(&folder, &[]);
    let random = "q8Zt5Lm2Xv9Rb4Nk7Wc3Hs6Pd1Gf0JyTuEa";
    assert_eq!(echo(&node, &format!("mail ann@example.org {random}")).status, 200);
    let unknown = format!("ann@example.org-{random}");
    assert_eq!(node.tool("nobody", json!({"text": unknown})).status, 404);
    records_once(&folder, &[], |all| all.len() >= 2);
    drop(node);
    let all = output_of(&folder, &["audit", "query", "--json"]);
    assert!(all.contains("[redacted: pii/email]") && all.contains("[redacted: secrets/entropy]"), "{all}");
    assert!(!all.contains("ann@example.org") && !all.contains(random), "{all}");

    let folder = odd("directions = [\"requests\"]\ntimeout_ms = 20000\n[audit]\nbodies = true\n");
    let node = Node::up(&folder, &[]);
    assert_eq!(echo(&node, "odd:overlap abcdef").status, 200);
    assert_eq!(echo(&node, "odd:deny CONTENT").reason(), "policy/BLOCKED");
    // A request that fails before any guard sees it.
    let wrong = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"text": "CONTENT"}});
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list")];
    assert_eq!(node.send("POST", "/mcp", &headers, &wrong.to_string()).status, 400);
    records_once(&folder, &[], |all| all.len() >= 3);
    drop(node);
    let all = output_of(&folder, &["audit", "query", "--json"]);
    assert!(all.contains("[redacted: odd/words]") && all.contains("[withheld: "), "{all}");
    assert!(!all.contains("abcdef") && !all.contains("CONTENT"), "{all}");
}

#[test]
fn every_notice_and_every_connection_is_in_the_ledger() {
    let folder = Folder::with("servers = [\"lobby\"]\n");
    let node = Node::up(&folder, &[]);
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    let modern = [("MCP-Protocol-Version", "2026-07-28")];
    assert_eq!(node.send("POST", "/mcp", &modern, &notice).status, 202);
    assert_eq!(node.send("POST", "/rpc", &[], &notice).status, 204);
    let session = node.initialize("/mcp").header("mcp-session-id").expect("a session");
    assert_eq!(node.say(&session, &serde_json::from_str(&notice).expect("JSON")).status, 202);
    let malformed = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 5});
    node.say(&session, &malformed);
    node.send("POST", "/rpc", &[], r#"{"jsonrpc":"2.0","method":"x","params":7}"#);
    echo(&node, "hello");
    node.modern("tools/call", "echo", json!({"name": "echo", "arguments": {"text": "x"}}));
    let all = records_once(&folder, &[], |all| all.len() >= 8);
    let notices: Vec<&Value> = all.iter().filter(|r| r["method"] == "notifications/initialized").collect();
    assert_eq!(notices.len(), 3, "{all:?}");
    assert!(
        notices.iter().all(|r| r["outcome"] == "ok" && r["bytes_in"].as_u64() == Some(notice.len() as u64))
    );
    assert_eq!(all.iter().filter(|r| r["outcome"] == "fault").count(), 2, "{all:?}");
    let mut connections: Vec<&str> = all.iter().filter_map(|r| r["connection_id"].as_str()).collect();
    assert_eq!(connections.len(), all.len(), "every record has one: {all:?}");
    connections.sort_unstable();
    connections.dedup();
    // Three messages share one session. Every other message has its own connection.
    assert_eq!(connections.len(), all.len() - 2, "{connections:?}");
    assert!(connections.iter().filter(|id| **id != session).all(|id| id.starts_with('h') && id.len() < 20));
}
