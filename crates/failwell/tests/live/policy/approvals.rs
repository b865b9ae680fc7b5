//! Calls that need approval, in every dialect of the real program.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::identity::new_key;
use crate::ledger::{failwell, output_of, records_once};
use crate::setup::folder::{Folder, upstream};
use crate::setup::node::{Answer, Node, within};
use crate::setup::several;

const RULE: &str = "[tools.a]\napprove = [\"count\", \"variable\", \"ask\"]\n";

fn folder(more: &str) -> Folder {
    Folder::with(&format!("servers = [\"lobby\"]\n{}{RULE}{more}", upstream("a", "")))
}

/// The id of the approval that a refused call needs.
fn needed(answer: &Answer) -> String {
    let json = answer.json();
    let places = [&json["detail"], &json["error"]["data"], &json["result"]["_meta"]["dev.failwell/fault"]];
    let fault = places.into_iter().find(|fault| fault["reason"].is_string());
    let fault = fault.unwrap_or_else(|| panic!("no fault: {answer:?}"));
    assert_eq!(
        (&fault["reason"], &fault["effect"]),
        (&json!("policy/APPROVAL_NEEDED"), &json!("none")),
        "{answer:?}"
    );
    let id = fault["facts"]["approval"].as_str().expect("an id").to_owned();
    assert!(
        fault["hint"].as_str().is_some_and(|hint| hint.contains(&format!("failwell approve {id}"))),
        "{fault}"
    );
    id
}

fn is_elsewhere(answer: &Answer) -> bool {
    answer.json()["error"]["data"]["reason"] == "gateway/ELSEWHERE"
}

fn approve(folder: &Folder, id: &str) {
    assert!(output_of(folder, &["approve", id, "--yes"]).starts_with("approved: "));
}

#[test]
fn a_yes_is_for_this_very_call_and_for_once() {
    let folder = folder("");
    let node = Node::up(&folder, &[]);
    let call = |arguments: Value| node.tool("a__variable", arguments);
    let first = call(json!({"name": "HOME", "x": 1}));
    assert_eq!((first.status, first.json()["error_code"].as_i64()), (409, Some(-32603)));
    let id = needed(&first);
    assert_eq!(needed(&call(json!({"x": 1, "name": "HOME"}))), id, "the same question");
    let list = output_of(&folder, &["approve"]);
    assert!(list.contains(&id) && list.contains("a__variable for anonymous"), "{list}");
    let shown = output_of(&folder, &["approve", &id]);
    assert!(shown.contains("name: \"HOME\"") && shown.contains("x: 1"), "{shown}");

    approve(&folder, &id);
    assert_ne!(needed(&call(json!({"name": "HOME", "x": 2}))), id, "another argument");
    let reordered =
        node.send("POST", "/v1/tools/a__variable", &[], " { \"x\": 1, \"name\": \"\\u0048OME\" } ");
    assert_eq!(reordered.status, 200, "{reordered:?}");
    assert_ne!(needed(&call(json!({"name": "HOME", "x": 1}))), id, "used up");
    assert_eq!(node.tool("a__pid", json!({})).status, 200, "others need none");
    let again = failwell(&folder, &["approve", &id, "--yes"]);
    assert!(!again.status.success() && String::from_utf8_lossy(&again.stderr).contains("it is used"));
}

#[test]
fn every_face_asks_and_the_tool_runs_once_for_each_yes() {
    let folder = folder("[[rule]]\nservers = [\"lobby\"]\ntools = { approve = [\"ec*\"] }\n");
    let node = Node::up(&folder, &[]);
    let opened = node.initialize("/mcp");
    let session = opened.header("mcp-session-id").expect("a session");
    let opened = node.initialize("/mcp/a");
    let alone = opened.header("mcp-session-id").expect("a session");
    let call = |name: &str| json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": name, "arguments": {}}});
    let dialects: [(&str, &dyn Fn() -> Answer); 5] = [
        ("rest", &|| node.tool("a__count", json!({}))),
        ("modern", &|| node.modern("tools/call", "a__count", json!({"name": "a__count", "arguments": {}}))),
        ("session", &|| node.say(&session, &call("a__count"))),
        ("alone", &|| node.send("POST", "/mcp/a", &[("Mcp-Session-Id", &alone)], &call("count").to_string())),
        ("rpc", &|| {
            let message = json!({"jsonrpc": "2.0", "id": 1, "method": "a__count", "params": {}});
            node.send("POST", "/rpc", &[], &message.to_string())
        }),
    ];
    let mut runs = 0;
    for (face, ask) in &dialects {
        // An approval is valid in every dialect, because caller, tool and arguments are the same.
        let id = needed(&ask());
        for (other, ask) in &dialects {
            assert_eq!(needed(&ask()), id, "{face} and {other}");
        }
        approve(&folder, &id);
        runs += 1;
        assert!(several::counts(&ask().text(), runs), "{face}");
        let seen = node.modern("tools/call", "a__count", json!({"name": "a__count", "arguments": {}}));
        assert!(
            seen.json()["result"]["isError"].as_bool().is_some_and(|is| is),
            "the model sees it: {seen:?}"
        );
    }
    let echo = || node.tool("lobby__echo", json!({"text": "hello"}));
    approve(&folder, &needed(&echo()));
    assert_eq!(echo().json()["text"], "hello", "built-in servers too");
}

#[test]
fn over_standard_input_and_with_one_built_in_server_alone() {
    let folder = Folder::with("servers = [\"lobby\"]\n[tools.lobby]\napprove = [\"echo\"]\n");
    let call = || {
        let mut child = Command::new(env!("CARGO_BIN_EXE_failwell"))
            .arg("stdio")
            .current_dir(&folder.0)
            .env("FAILWELL_STATE", folder.0.join("state"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}});
        let params = json!({"name": "echo", "arguments": {"text": "hi"}, "_meta": meta});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        child.stdin.take().expect("its input").write_all(format!("{call}\n").as_bytes()).expect("sent");
        let output = child.wait_with_output().expect("it ends");
        Answer { status: 200, head: String::new(), body: String::from_utf8(output.stdout).expect("UTF-8") }
    };
    let id = needed(&call());
    approve(&folder, &id);
    assert!(call().json()["result"]["isError"].as_bool().is_none_or(|is| !is), "a later process uses it");
    assert_ne!(needed(&call()), id);
}

#[test]
fn a_denial_names_its_reason_and_is_in_the_ledger() {
    let folder = folder("[audit]\ncritical = true\n");
    let node = Node::up(&folder, &[]);
    let call = |name: &str| node.tool("a__variable", json!({"name": name}));
    let id = needed(&call("A"));
    let denied = output_of(&folder, &["approve", &id, "--no", "--reason", "not on a Friday"]);
    assert!(denied.starts_with("denied: "), "{denied}");
    let refused = call("A");
    assert_eq!((refused.status, refused.reason().as_str()), (403, "policy/APPROVAL_DENIED"));
    assert!(refused.body.contains("not on a Friday"), "{refused:?}");

    let id = needed(&call("B"));
    approve(&folder, &id);
    assert_eq!(call("B").status, 200);
    let uses = |all: &[Value], word: &str| {
        let decided =
            |record: &Value| record["guards"].as_array().into_iter().flatten().any(|g| g["decided"] == word);
        all.iter().filter(|record| decided(record)).count()
    };
    let counted = |all: &[Value]| ["needed", "used", "denied", "approve", "deny"].map(|word| uses(all, word));
    let all = records_once(&folder, &[], |all| counted(all) == [2, 1, 1, 1, 1]);
    let used = all.iter().find(|record| uses(std::slice::from_ref(record), "used") == 1).expect("a use");
    let story = output_of(&folder, &["explain", used["ref"].as_str().expect("a reference")]);
    assert!(story.contains(&format!("approval on the call: used: approval {id} by terminal:")), "{story}");
    let asked = output_of(&folder, &["explain", &id]);
    assert!(
        asked.contains("policy/APPROVAL_NEEDED"),
        "the id is the reference of the call that asked: {asked}"
    );
    let by = |record: &Value| record["caller"].as_str().is_some_and(|caller| caller.starts_with("terminal:"));
    let decided = |record: &&Value| by(record) && record["method"] == "approvals/decide";
    records_once(&folder, &["--tool", "a__variable", "--outcome", "ok"], |of_it| {
        of_it.iter().filter(decided).count() == 2
    });
}

#[test]
fn of_calls_at_the_same_time_one_runs_and_a_restart_forgets_nothing() {
    let folder = folder("");
    let node = Node::up(&folder, &[]);
    let id = needed(&node.tool("a__count", json!({})));
    drop(node);
    approve(&folder, &id);
    let node = Node::up(&folder, &[]);
    let ran = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..8).map(|_| scope.spawn(|| node.tool("a__count", json!({})).status)).collect();
        calls.into_iter().map(|call| call.join().expect("answered")).filter(|status| *status == 200).count()
    });
    assert_eq!(ran, 1);
    approve(&folder, &needed(&node.tool("a__count", json!({}))));
    assert!(several::counts(&node.tool("a__count", json!({})).text(), 2), "it was called once before");
}

#[test]
fn a_call_may_wait_for_its_answer() {
    let folder = folder("[approval]\nwait_s = 60\n");
    let node = Node::up(&folder, &[]);
    std::thread::scope(|scope| {
        let yes = scope.spawn(|| node.tool("a__variable", json!({"name": "HOME"})));
        let no = scope.spawn(|| node.tool("a__variable", json!({"name": "PATH"})));
        let waiting = || -> Vec<Value> {
            serde_json::from_str(&output_of(&folder, &["approve", "--json"])).expect("JSON")
        };
        assert!(within(Duration::from_secs(50), || waiting().len() == 2));
        for question in waiting() {
            let id = question["id"].as_str().expect("an id").to_owned();
            let whole: Value =
                serde_json::from_str(&output_of(&folder, &["approve", &id, "--json"])).expect("JSON");
            let answer = if whole["arguments"]["name"] == "HOME" { "--yes" } else { "--no" };
            output_of(&folder, &["approve", &id, answer]);
        }
        assert_eq!(yes.join().expect("answered").status, 200);
        assert_eq!(no.join().expect("answered").reason(), "policy/APPROVAL_DENIED");
    });
}

#[test]
fn a_question_of_the_tool_does_not_use_up_the_yes() {
    let folder = folder("");
    let node = Node::up(&folder, &[]);
    let call = |more: Value| {
        let mut params = json!({"name": "a__ask", "arguments": {}});
        for (name, value) in more.as_object().expect("members") {
            params[name] = value.clone();
        }
        node.modern("tools/call", "a__ask", params)
    };
    approve(&folder, &needed(&call(json!({}))));
    let first = call(json!({}));
    let result = &first.json()["result"];
    assert_eq!(result["resultType"], "input_required", "{first:?}");
    let key = result["inputRequests"]
        .as_object()
        .and_then(|asked| asked.keys().next())
        .expect("a question")
        .clone();
    let answers = json!({key: {"action": "accept", "content": {"name": "Ann"}}});
    let again = || call(json!({"requestState": result["requestState"], "inputResponses": answers}));
    // The call waits on one of the nodes, and a client repeats what came to another.
    let second = (0..several::wanted()).map(|_| again()).find(|answer| !is_elsewhere(answer));
    let second = second.expect("one node has the call");
    assert!(second.text().contains("Ann"), "{second:?}");
    needed(&call(json!({})));
}

#[test]
fn a_hidden_tool_stays_unknown_to_the_last_byte() {
    let folder = folder("hide = [\"count\"]\n");
    let node = Node::up(&folder, &[]);
    let event = |name: &str| {
        let answer = node.tool(name, json!({}));
        let reference = answer.json()["detail"]["ref"].as_str().expect("a reference").to_owned();
        answer.body.replace(&reference, "REF").replace(name, "NAME")
    };
    assert_eq!(event("a__count"), event("a__tnuoc"));
    assert_eq!(event("count"), event("tnuoc"));
    let list = output_of(&folder, &["approve", "--all", "--json"]);
    assert_eq!(list, "[]\n", "nobody is asked");
}

#[test]
fn only_approvers_decide_over_http_and_never_their_own_calls() {
    let (ann, ann_lines) = new_key(&["--name", "ann"]);
    let (bob, bob_lines) = new_key(&["--name", "bob"]);
    let (boss, boss_lines) = new_key(&["--name", "boss", "--role", "admin"]);
    let folder = folder(&format!("{ann_lines}{bob_lines}{boss_lines}"));
    let node = Node::up(&folder, &[]);
    let send =
        |key: &str, verb: &str, path: &str, body: &str| node.send(verb, path, &[("X-API-Key", key)], body);
    let call = |key: &str| send(key, "POST", "/v1/tools/a__count", "{}");
    let yes = r#"{"decision":"approve","reason":"fine"}"#;
    let id = needed(&call(&ann));
    let path = format!("/v1/approvals/{id}");
    for key in [&ann, &bob] {
        for (verb, path, body) in [("GET", "/v1/approvals", ""), ("GET", &path, ""), ("POST", &path, yes)] {
            let refused = send(key, verb, path, body);
            assert_eq!((refused.status, refused.reason().as_str()), (403, "policy/DENIED"), "{verb} {path}");
        }
    }
    assert_eq!(node.send("POST", &path, &[], yes).status, 401);
    let listed = send(&boss, "GET", "/v1/approvals", "").json();
    assert_eq!(
        (&listed["approvals"][0]["id"], &listed["approvals"][0]["caller"]),
        (&json!(id), &json!("key:ann"))
    );
    assert_eq!(send(&boss, "GET", &path, "").json()["arguments"], json!({}));
    for (body, status) in [("{}", 422), (r#"{"decision":"maybe"}"#, 422), ("[]", 422), ("{", 400)] {
        assert_eq!(send(&boss, "POST", &path, body).status, status, "{body}");
    }
    let unknown = send(&boss, "POST", "/v1/approvals/0000000000000", yes);
    assert_eq!((unknown.status, unknown.reason().as_str()), (404, "policy/APPROVAL_UNKNOWN"));
    let approved = send(&boss, "POST", &path, yes).json();
    assert_eq!((&approved["state"], &approved["decided_by"]), (&json!("approved"), &json!("key:boss")));
    let again = send(&boss, "POST", &path, yes);
    assert_eq!((again.status, again.reason().as_str()), (409, "policy/APPROVAL_SETTLED"));
    needed(&call(&bob));
    assert_eq!(call(&ann).status, 200, "whose call it is may make it");
    let own = needed(&call(&boss));
    let refused = send(&boss, "POST", &format!("/v1/approvals/{own}"), yes);
    assert_eq!(refused.reason(), "policy/DENIED", "nobody for themselves");
    assert!(
        node.send("GET", "/openapi.json", &[], "").json()["paths"]["/v1/approvals/{id}"]["post"].is_object()
    );
}

#[test]
fn without_keys_loopback_is_served_and_no_secret_is_stored() {
    let folder = folder("");
    let node = Node::up(&folder, &[]);
    let token = format!("ghp_{}", "x7Rk2mPq9WvL4tZs8NcY".repeat(2).get(..36).expect("enough"));
    let arguments = json!({"name": format!("say {token}"), "evil": "a\u{202e}b"});
    let id = needed(&node.tool("a__variable", arguments.clone()));
    let shown = output_of(&folder, &["approve", &id]);
    assert!(
        shown.contains("[redacted: secrets/github_token, 40 bytes, sha256 ") && shown.contains("a\\u{202e}b"),
        "{shown}"
    );
    let kept = std::fs::read_dir(folder.0.join("state")).expect("a folder");
    for file in kept.map(|file| file.expect("a file").path()) {
        let bytes = std::fs::read(&file).expect("read");
        assert!(!String::from_utf8_lossy(&bytes).contains(&token), "{}", file.display());
    }
    let answer = node.send("POST", &format!("/v1/approvals/{id}"), &[], r#"{"decision":"approve"}"#);
    assert_eq!((answer.status, &answer.json()["decided_by"]), (200, &json!("anonymous")));
    assert_eq!(node.tool("a__variable", arguments).status, 200);
    let large = json!({"name": "x".repeat(300_000)});
    assert_eq!(node.tool("a__variable", large).reason(), "policy/APPROVAL_TOO_LARGE");
}

#[test]
fn terms_follow_the_file() {
    let server = format!("servers = [\"lobby\"]\n{}", upstream("a", ""));
    let folder = Folder::with(&server);
    let node = Node::up(&folder, &[]);
    assert_eq!(node.tool("a__count", json!({})).status, 200);
    folder.save(&format!("{server}{RULE}[approval]\nexpires_s = 60\n"));
    node.waits_for("failwell.toml was read again: rules read again; approvals read again; ", 1);
    needed(&node.tool("a__count", json!({})));
}

/// This is about the database in the state folder. Several nodes have theirs in Redis.
mod one_node {
    use super::*;

    #[test]
    fn without_a_place_nothing_runs() {
        let server = format!("servers = [\"lobby\"]\n{}", upstream("a", ""));
        let folder = Folder::with(&format!("data_dir = \"/proc/failwell/no\"\n{server}{RULE}"));
        let node = Node::up(&folder, &[]);
        let refused = node.tool("a__count", json!({}));
        assert_eq!((refused.status, refused.reason().as_str()), (503, "policy/UNDECIDED"));
        assert_eq!(node.tool("a__pid", json!({})).status, 200, "what needs no yes runs");
    }
}
