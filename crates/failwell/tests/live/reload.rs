//! A configuration file that changes at run time.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::setup::folder::{Folder, upstream};
use crate::setup::node::{Node, ends};

/// Starts a slow call. Its response comes later.
fn slow(node: &Node, tool: &str) -> std::thread::JoinHandle<String> {
    let mut stream = node.open("POST", &format!("/v1/tools/{tool}"), &[], r#"{"ms":4000}"#);
    node.works_on(1);
    std::thread::spawn(move || {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut stream, &mut text).expect("an answer");
        text
    })
}

#[test]
fn servers_come_and_go_and_the_others_do_not_notice() {
    let a = upstream("a", "");
    let folder = Folder::with(&format!("servers = [\"lobby\"]\n{a}"));
    let node = Node::up(&folder, &[]);
    let kept = node.tool("a__pid", json!({})).text();
    let running = slow(&node, "a__slow");
    assert_eq!(node.initialize("/mcp/b").status, 404);
    let session = node.initialize("/mcp/a").header("mcp-session-id").expect("a session");

    folder.save(&format!("servers = [\"lobby\"]\n{a}{}", upstream("b", "")));
    node.waits_for("failwell.toml was read again: b added; 2 servers left alone", 1);
    let gone = node.tool("b__pid", json!({})).text();
    assert_eq!(node.initialize("/mcp/b").status, 200);
    assert_eq!(node.tool("a__pid", json!({})).text(), kept, "the same process");
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let listed = node.send("POST", "/mcp/a", &[("Mcp-Session-Id", &session)], list);
    assert_eq!((listed.status, &listed.json()["result"]["tools"][0]["name"]), (200, &json!("pid")));

    folder.save(&format!("servers = [\"lobby\"]\n{a}"));
    node.waits_for("failwell.toml was read again: b removed; 2 servers left alone", 1);
    assert_eq!(node.tool("b__pid", json!({})).reason(), "mcp/UNKNOWN_TOOL");
    assert_eq!(node.initialize("/mcp/b").status, 404);
    assert!(ends(&gone), "what was removed is ended");
    assert!(running.join().expect("answered").contains(&format!("\"{kept}\"")), "in flight all the while");
    assert_eq!(node.tool("a__pid", json!({})).text(), kept);
}

#[test]
fn a_changed_server_ends_what_it_began_and_the_new_one_takes_what_comes() {
    let folder = Folder::with(&upstream("a", "env = { MARK = \"${file:mark}\" }"));
    folder.write("mark", "one\n");
    let node = Node::up(&folder, &[]);
    let mark = || node.tool("a__variable", json!({"name": "MARK"})).text();
    assert_eq!(mark(), "one");
    let old = node.tool("a__pid", json!({})).text();
    let running = slow(&node, "a__slow");

    // The file is unchanged, but a file that it refers to has changed.
    folder.write("mark", "two\n");
    node.signal("-HUP");
    node.waits_for("a changed", 1);
    assert_eq!(mark(), "two");
    assert_ne!(node.tool("a__pid", json!({})).text(), old);
    assert!(running.join().expect("answered").contains(&format!("\"{old}\"")), "begun with the old one");
    assert!(ends(&old), "nobody needs it any more");
    assert!(!node.journal().contains("two"), "a secret is told: {}", node.journal());

    node.signal("-HUP");
    node.waits_for("failwell.toml was read again: nothing changed", 1);
}

#[test]
fn an_invalid_file_changes_nothing_and_is_reported_as_by_check() {
    let good = upstream("a", "");
    let folder = Folder::with(&good);
    let node = Node::up(&folder, &[]);
    let kept = node.tool("a__pid", json!({})).text();

    let bad = upstream("a", "timout_s = 5").replace("\"a\"", "\"b\"");
    folder.save(&bad);
    node.waits_for("everything runs on as it was", 1);
    let check = Command::new(env!("CARGO_BIN_EXE_failwell")).arg("check").current_dir(&folder.0).output();
    let check = String::from_utf8(check.expect("check runs").stderr).expect("UTF-8");
    let noted = node.journal();
    let lines: Vec<Value> =
        noted.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect();
    let noted = lines.iter().find(|line| line["reason"] == "config/INVALID").expect("a line in the journal");
    assert_eq!((&noted["rpc.method"], &noted["level"]), (&"reload".into(), &"warn".into()), "{noted}");
    let problems = &noted["error_details"]["problems"];
    assert_eq!(problems.as_array().map(Vec::len), Some(1), "{noted}");
    for part in ["message", "help"] {
        let text = problems[0][part].as_str().expect("text");
        assert!(check.contains(text), "{text} in {check}");
    }
    assert!(problems[0]["line"].is_u64() && problems[0]["key"] == "upstream[0].timout_s", "{noted}");
    assert_eq!(node.tool("a__pid", json!({})).text(), kept);
    assert_eq!(node.tool("b__pid", json!({})).status, 404);

    // A deleted file is an error too. A restored file is read.
    std::fs::remove_file(folder.0.join("failwell.toml")).expect("removed");
    node.waits_for("the file cannot be read", 1);
    assert_eq!(node.tool("a__pid", json!({})).text(), kept);
    folder.save(&good);
    node.waits_for("failwell.toml was read again: nothing changed", 1);
    assert_eq!(node.tool("a__pid", json!({})).text(), kept);
}

#[test]
fn what_only_a_start_can_change_is_refused_by_its_key() {
    let file = |listen: &str, more: &str| format!("listen = \"{listen}\"\n{more}\n{}", upstream("a", ""));
    let folder = Folder::with(&file("127.0.0.1:0", ""));
    let mut command = Command::new(env!("CARGO_BIN_EXE_failwell"));
    command.arg("up");
    let node = Node::start(command, &folder);
    folder.save(&(file("127.0.0.1:9", "data_dir = \"other\"") + &upstream("b", "")));
    node.waits_for("everything runs on as it was", 1);
    for key in ["listen", "data_dir"] {
        assert!(node.journal().contains(&format!("\"`{key}` cannot change while failwell runs\"")));
    }
    assert_eq!(node.tool("b__pid", json!({})).status, 404, "all or nothing");

    // The address from the command line overrides the file's.
    let typed = Node::up(&folder, &[]);
    folder.save(&(file("127.0.0.1:10", "data_dir = \"other\"") + &upstream("c", "")));
    typed.waits_for("c added; b removed; 2 servers left alone", 1);
}

#[test]
fn a_client_on_stdio_hears_of_it_and_one_server_becomes_several() {
    let folder = Folder::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_failwell"));
    command.arg("stdio").current_dir(&folder.0).env("FAILWELL_STATE", folder.0.join("state"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("standard input");
    let mut lines = BufReader::new(child.stdout.take().expect("standard output")).lines();
    let mut send = |message: Value| writeln!(input, "{message}").expect("sent");
    let mut hear = |wanted: &dyn Fn(&Value) -> bool| loop {
        let line = lines.next().expect("not the end").expect("readable");
        let message: Value = serde_json::from_str(&line).expect("JSON");
        if wanted(&message) {
            return message;
        }
    };
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}));
    send(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    let first = hear(&|message| message["id"] == 2);
    assert_eq!(first["result"]["tools"][0]["name"], "echo");
    let wait = json!({"name": "wait", "arguments": {"seconds": 3}});
    send(json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": wait}));

    folder.save(&format!("servers = [\"lobby\"]\n{}", upstream("a", "")));
    hear(&|message| message["method"] == "notifications/tools/list_changed");
    send(json!({"jsonrpc": "2.0", "id": 4, "method": "tools/list"}));
    let second = hear(&|message| message["id"] == 4);
    let names: Vec<&str> = second["result"]["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert!(
        names.contains(&"a__pid") && names.contains(&"lobby__echo") && !names.contains(&"echo"),
        "{names:?}"
    );
    send(
        json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "a__pid", "arguments": {}}}),
    );
    let called = hear(&|message| message["id"] == 5);
    let pid = called["result"]["content"][0]["text"].as_str().expect("a number").to_owned();
    assert!(Path::new("/proc").join(&pid).exists());
    let waited = hear(&|message| message["id"] == 3);
    assert!(waited["result"]["isError"].as_bool() != Some(true), "{waited}");
    drop(input);
    child.wait().expect("it ends with its client");
    assert!(ends(&pid), "and so does what it started");
}
