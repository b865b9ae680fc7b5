//! Callers, the tools they see, and their limits.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::setup::folder::{Folder, upstream};
use crate::setup::node::{Answer, Node, within};

/// `failwell key new`: the key and the lines for the file.
pub(crate) fn new_key(arguments: &[&str]) -> (String, String) {
    let made = Command::new(env!("CARGO_BIN_EXE_failwell")).args(["key", "new"]).args(arguments).output();
    let text = String::from_utf8(made.expect("it runs").stdout).expect("UTF-8");
    let (key, lines) = text.split_once("\n\n").expect("a key, then lines");
    assert!(key.len() >= 64 && !lines.contains(key), "{text}");
    (key.to_owned(), lines.to_owned())
}

impl Node {
    fn tool_as(&self, key: &str, name: &str, arguments: &Value) -> Answer {
        let bearer = format!("Bearer {key}");
        let path = format!("/v1/tools/{name}");
        self.send("POST", &path, &[("Authorization", &bearer)], &arguments.to_string())
    }

    fn tools_as(&self, key: &str) -> String {
        self.send("GET", "/v1/tools", &[("X-API-Key", key)], "").body
    }
}

#[test]
fn keys_have_names_and_roles_and_come_and_go_with_the_file() {
    let (ann, ann_lines) = new_key(&["--name", "ann", "--role", "writer"]);
    let (bob, bob_lines) = new_key(&["--name", "bob"]);
    let rules = "[[rule]]\ncallers = [\"!role:writer\"]\ntools = { hide = [\"count\"] }\n";
    let file = |keys: &str| format!("servers = [\"lobby\"]\n{}{keys}\n{rules}", upstream("a", ""));
    let folder = Folder::with(&file(&format!("{ann_lines}\n{bob_lines}")));
    let node = Node::up(&folder, &[]);
    assert_eq!(
        (node.tool("a__pid", json!({})).status, node.tool("a__pid", json!({})).reason()),
        (401, "policy/UNAUTHENTICATED".to_owned())
    );
    let wrong = node.tool_as("fw_wrong", "a__pid", &json!({}));
    assert_eq!((wrong.status, wrong.reason().as_str()), (401, "policy/BAD_CREDENTIALS"));
    assert!(wrong.header("www-authenticate").is_some_and(|header| header.starts_with("bearer")));
    // Hidden from bob, visible to ann. A hidden tool looks unknown.
    assert!(node.tools_as(&ann).contains("a__count") && !node.tools_as(&bob).contains("a__count"));
    assert_eq!(node.tool_as(&ann, "a__count", &json!({})).text(), "1");
    assert_eq!(node.tool_as(&bob, "a__count", &json!({})).reason(), "mcp/UNKNOWN_TOOL");
    assert_eq!(node.tool_as(&bob, "a__pid", &json!({})).status, 200);

    // The session follows bob's current permissions, not those at its start.
    let (bearer, hello) = (
        format!("Bearer {bob}"),
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
    );
    let begun = node.send("POST", "/mcp", &[("Authorization", &bearer)], &hello.to_string());
    let session = begun.header("mcp-session-id").expect("a session");
    let list = || {
        let headers = [("Authorization", bearer.as_str()), ("Mcp-Session-Id", session.as_str())];
        node.send("POST", "/mcp", &headers, r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#).body
    };
    assert!(!list().contains("a__count"));
    let promoted = bob_lines.replace("roles = []", "roles = [\"writer\"]");
    folder.save(&file(&promoted));
    node.waits_for("keys read again", 1);
    assert!(list().contains("a__count"), "{}", list());
    assert_eq!(node.tool_as(&ann, "a__pid", &json!({})).reason(), "policy/BAD_CREDENTIALS", "taken away");
    let ledger = node.journal();
    assert!(!ledger.contains(&ann) && !ledger.contains(&bob), "no key is ever told");
}

#[test]
fn other_machines_need_a_key_of_some_sort() {
    let (_, lines) = new_key(&[]);
    let refused = |text: &str| {
        let folder = Folder::with(text);
        let mut command = Command::new(env!("CARGO_BIN_EXE_failwell"));
        command.args(["up", "--listen", "192.0.2.1:1"]).current_dir(&folder.0).env_remove("FAILWELL_KEY");
        command.env("FAILWELL_STATE", folder.0.join("state"));
        String::from_utf8(command.output().expect("it runs").stderr).expect("UTF-8")
    };
    assert!(refused("servers = [\"lobby\"]").contains("there is no key\nhelp: set FAILWELL_KEY"));
    // With a key, the start proceeds to the address, which this machine does not have.
    let problem = refused(&format!("servers = [\"lobby\"]\n{lines}"));
    assert!(problem.contains("cannot listen on 192.0.2.1:1"), "{problem}");
}

#[test]
fn callers_and_tools_have_limits_of_their_own() {
    let ((ann, ann_lines), (bob, bob_lines)) = (new_key(&["--name", "ann"]), new_key(&["--name", "bob"]));
    let limits = "[limits.callers.\"key:ann\"]\nrate = \"1/h\"\nburst = 3\n\
        [limits.callers.\"key:bob\"]\nconcurrency = 2\n\
        [limits.tools.\"a__c*\"]\nrate = \"2/h\"\n[limits.tools.\"a__slow\"]\nconcurrency = 1\n";
    let folder = Folder::with(&format!("{}{ann_lines}\n{bob_lines}\n{limits}", upstream("a", "")));
    let node = Node::up(&folder, &[]);
    let statuses = |key: &str, tool: &str, times: usize| {
        (0..times).map(|_| node.tool_as(key, tool, &json!({})).status).collect::<Vec<_>>()
    };
    assert_eq!(statuses(&ann, "a__pid", 4), [200, 200, 200, 429]);
    let refused = node.tool_as(&ann, "a__pid", &json!({}));
    assert_eq!(refused.reason(), "policy/RATE_LIMITED");
    let wait: u64 = refused.header("retry-after").and_then(|wait| wait.parse().ok()).expect("a time");
    assert!((3_000..=3_600).contains(&wait), "{wait}");
    assert_eq!(refused.json()["detail"]["facts"]["exceeded"], "rate", "{refused:?}");

    // A limit for a tool applies to all of its names together.
    assert_eq!(statuses(&bob, "a__count", 1), [200]);
    assert_eq!(statuses(&bob, "count", 2), [200, 429]);
    let single = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let bearer = format!("Bearer {bob}");
    let begun = node.send("POST", "/mcp/a", &[("Authorization", &bearer)], &single.to_string());
    let session = begun.header("mcp-session-id").expect("a session");
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "count"}});
    let headers = [("Authorization", bearer.as_str()), ("Mcp-Session-Id", session.as_str())];
    let alone = node.send("POST", "/mcp/a", &headers, &call.to_string());
    assert_eq!((alone.status, alone.json()["error"]["code"].as_i64()), (429, Some(1429)), "{alone:?}");
    assert_eq!(alone.json()["error"]["data"]["facts"]["exceeded"], "tool_rate", "{alone:?}");
    assert_eq!(statuses(&bob, "a__pid", 3), [200, 200, 200], "other tools are not touched");

    let slow = |ms: u64| {
        node.open("POST", "/v1/tools/a__slow", &[("X-API-Key", &bob)], &json!({"ms": ms}).to_string())
    };
    let mut first = slow(6_000);
    let is_begun = || {
        let numbers = node.send("GET", "/metrics", &[("X-API-Key", &bob)], "");
        numbers.body.lines().any(|line| line == "failwell_requests_in_flight 1")
    };
    assert!(within(Duration::from_secs(30), is_begun), "the slow call never begins");
    let second = node.tool_as(&bob, "a__slow", &json!({"ms": 1}));
    assert_eq!(
        (second.status, &second.json()["detail"]["facts"]["exceeded"]),
        (429, &json!("tool_concurrency"))
    );
    assert_eq!(node.tool_as(&bob, "a__pid", &json!({})).status, 200, "two at the same time");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut first, &mut text).expect("an answer");
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    assert_eq!(node.tool_as(&bob, "a__slow", &json!({"ms": 1})).status, 200, "given back");

    folder.save(&format!("{}{ann_lines}\n{bob_lines}\n", upstream("a", "")));
    node.waits_for("limits read again", 1);
    assert_eq!(statuses(&ann, "a__pid", 6), [200; 6]);
}

#[test]
fn who_keeps_drawing_errors_is_slowed_down_and_its_good_requests_are_not() {
    let ((ann, ann_lines), (bob, bob_lines)) = (new_key(&["--name", "ann"]), new_key(&["--name", "bob"]));
    let rules = "[[rule]]\ntools = { hide = [\"leak\"] }\n[limits]\nerrors = { rate = \"1/h\", burst = 3 }\n";
    let folder = Folder::with(&format!("{}{ann_lines}\n{bob_lines}\n{rules}", upstream("a", "")));
    let node = Node::up(&folder, &[]);
    let ask = |key: &str, tool: &str| node.tool_as(key, tool, &json!({}));
    assert_eq!(ask(&ann, "a__one").reason(), "mcp/UNKNOWN_TOOL");
    assert_eq!(ask(&ann, "a__leak").reason(), "mcp/UNKNOWN_TOOL");
    let nonsense = |key: &str| node.send("POST", "/rpc", &[("X-API-Key", key)], "{nope");
    assert_eq!(nonsense(&ann).json()["error"]["data"]["reason"], "rpc/NOT_JSON");
    for slowed in [ask(&ann, "a__two"), ask(&ann, "a__leak")] {
        assert_eq!((slowed.status, slowed.reason().as_str()), (429, "policy/RATE_LIMITED"), "{slowed:?}");
        assert!(slowed.header("retry-after").is_some() && !slowed.body.contains("UNKNOWN"), "{slowed:?}");
    }
    assert_eq!(nonsense(&ann).json()["error"]["data"]["reason"], "policy/RATE_LIMITED");
    for _ in 0..5 {
        assert_eq!(ask(&ann, "a__pid").status, 200, "what is right is answered as ever");
    }
    assert_eq!(ask(&bob, "a__one").reason(), "mcp/UNKNOWN_TOOL", "somebody else");
}
