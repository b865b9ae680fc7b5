//! API keys created at run time, REST sessions, operations and events.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::ledger::records_once;
use crate::policy::identity::new_key;
use crate::setup::folder::{Folder, upstream};
use crate::setup::node::{Answer, Node, hello, within};
use crate::setup::redis::Redis;

const CLOSED: &str = "require_key = true\nservers = [\"lobby\"]\n";

/// Starts the program and captures its standard output.
fn up(folder: &Folder) -> (Node, Arc<Mutex<String>>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_failwell"));
    command.arg("up").args(["--listen", "127.0.0.1:0"]);
    Node::start_showing(command, folder)
}

/// The file of the admin key that the output names, if it names one.
fn key_file(shown: &Arc<Mutex<String>>) -> Option<PathBuf> {
    let shown = shown.lock().expect("shown");
    let started: Value = serde_json::from_str(shown.lines().next()?).ok()?;
    started["admin_key_file"].as_str().map(PathBuf::from)
}

/// The admin key in the file that the output names, if it names one.
fn found_key(shown: &Arc<Mutex<String>>) -> Option<String> {
    let text = std::fs::read_to_string(key_file(shown)?).expect("the file of the key");
    Some(text.trim().to_owned())
}

/// Waits for the admin key, and removes its file as the output asks.
fn shown_key(shown: &Arc<Mutex<String>>) -> String {
    let is_there = || found_key(shown).is_some();
    assert!(within(Duration::from_secs(60), is_there), "{}", shown.lock().expect("shown"));
    let key = found_key(shown).expect("a key");
    std::fs::remove_file(key_file(shown).expect("a file")).expect("it is removed");
    key
}

impl Node {
    fn ask(&self, key: &str, verb: &str, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.send(verb, path, &[("X-API-Key", key)], &body)
    }

    fn make_key(&self, admin: &str, wanted: &Value) -> (String, String) {
        let made = self.ask(admin, "POST", "/v1/keys", wanted);
        assert_eq!(made.status, 201, "{made:?}");
        let made = made.json();
        let text = |name: &str| made[name].as_str().expect("a text").to_owned();
        assert!(text("key").starts_with("fw_") && text("key").len() == 67, "{made}");
        (text("key"), text("id"))
    }
}

#[test]
fn the_first_start_shows_the_key_of_an_admin_who_makes_the_others() {
    let rules = "[[rule]]\ncallers = [\"!role:writer\"]\ntools = { hide = [\"count\"] }\n";
    let file = format!("{CLOSED}[audit]\nbodies = true\n{}{rules}", upstream("a", ""));
    let folder = Folder::with(&file);
    let (mut node, shown) = up(&folder);
    let admin = shown_key(&shown);
    assert_eq!(node.send("GET", "/v1/me", &[], "").json()["message"], "API key required");
    assert_eq!(node.ask(&format!("fw_{}", "0".repeat(64)), "GET", "/v1/me", &Value::Null).status, 401);
    let me = node.ask(&admin, "GET", "/v1/me", &Value::Null).json();
    assert_eq!(me, json!({"name": "key:admin", "role": "admin", "roles": ["admin"]}));

    let (user, user_id) = node.make_key(&admin, &json!({"name": "bob"}));
    let (developer, _) = node.make_key(&admin, &json!({"name": "ann", "roles": ["developer", "writer"]}));
    let (short, _) = node.make_key(&admin, &json!({"name": "brief", "ttl_s": 1}));
    // Rules use roles of created keys too. A created key works like a configured key.
    let tools = |key: &str| node.ask(key, "GET", "/v1/tools", &Value::Null).body;
    assert!(tools(&developer).contains("a__count") && !tools(&user).contains("a__count"));
    let bearer = format!("Bearer {developer}");
    let as_bearer = node.send("POST", "/v1/tools/a__count", &[("Authorization", &bearer)], "{}");
    assert_eq!(as_bearer.text(), "1");
    for (key, verb, path, body, status, reason) in [
        (&user, "GET", "/v1/keys", Value::Null, 403, "policy/ROLE"),
        (&developer, "POST", "/v1/keys", json!({"name": "x"}), 403, "policy/ROLE"),
        (&user, "GET", "/v1/operations", Value::Null, 403, "policy/ROLE"),
        (&admin, "POST", "/v1/keys", json!({"name": "bob"}), 409, "policy/KEY_TAKEN"),
        (&admin, "DELETE", "/v1/keys/nope", Value::Null, 404, "policy/KEY_UNKNOWN"),
    ] {
        let answer = node.ask(key, verb, path, &body);
        assert_eq!((answer.status, answer.reason().as_str()), (status, reason), "{verb} {path}");
    }
    let listed = node.ask(&admin, "GET", "/v1/keys", &Value::Null);
    let names: Vec<Value> =
        listed.json()["keys"].as_array().expect("keys").iter().map(|key| key["name"].clone()).collect();
    assert_eq!(names[..3], [json!("admin"), json!("bob"), json!("ann")]);
    let first = listed.json()["keys"][0]["id"].as_str().expect("an id").to_owned();
    let last = node.ask(&admin, "DELETE", &format!("/v1/keys/{first}"), &Value::Null);
    assert_eq!((last.status, last.reason().as_str()), (409, "policy/LAST_ADMIN"));
    let brief = || node.ask(&short, "GET", "/v1/me", &Value::Null).status;
    assert!(within(Duration::from_secs(30), || brief() == 401), "its time is over");

    // A revoked key fails with the next request. The other keys survive a restart.
    assert_eq!(node.ask(&admin, "DELETE", &format!("/v1/keys/{user_id}"), &Value::Null).status, 204);
    assert_eq!(node.ask(&user, "GET", "/v1/me", &Value::Null).reason(), "policy/BAD_CREDENTIALS");
    let journal = node.journal();
    node.kill();
    let (node, shown) = up(&folder);
    assert_eq!(found_key(&shown), None, "once");
    assert_eq!(node.ask(&developer, "GET", "/v1/me", &Value::Null).json()["role"], "developer");
    assert_eq!(node.ask(&user, "GET", "/v1/me", &Value::Null).status, 401);

    // No key is in the log or in a file of the state folder.
    let (journal, mut kept) = (journal + &node.journal(), Vec::new());
    for entry in std::fs::read_dir(folder.0.join("state")).expect("the state").flatten() {
        kept.extend(std::fs::read(entry.path()).unwrap_or_default());
    }
    for key in [&admin, &user, &developer, &short] {
        let in_files = kept.windows(key.len()).any(|window| window == key.as_bytes());
        assert!(!journal.contains(key) && !in_files, "a key was written down");
    }
}

#[test]
fn an_admin_of_the_file_makes_keys_too_and_so_does_one_server_alone() {
    let (root, lines) = new_key(&["--name", "root", "--role", "admin"]);
    let folder = Folder::with(&format!("servers = [\"lobby\"]\n{lines}"));
    let node = Node::up(&folder, &[]);
    let taken = node.ask(&root, "POST", "/v1/keys", &json!({"name": "root"}));
    assert_eq!((taken.status, taken.reason().as_str()), (409, "policy/KEY_TAKEN"), "a caller has one name");
    let (made, _) = node.make_key(&root, &json!({"name": "ci"}));
    assert_eq!(node.ask(&made, "GET", "/v1/me", &Value::Null).json()["name"], "key:ci");

    let folder = Folder::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_failwell"));
    command.args(["serve", "pytest", "--listen", "127.0.0.1:0", "--require-key"]);
    let (node, shown) = Node::start_showing(command, &folder);
    let admin = shown_key(&shown);
    assert_eq!(node.send("GET", "/v1/tools", &[], "").status, 401);
    let (user, _) = node.make_key(&admin, &json!({"name": "bob"}));
    assert!(node.ask(&user, "GET", "/v1/tools", &Value::Null).body.contains("execute_tests"));
}

#[test]
fn events_are_listed_and_streamed() {
    let folder = Folder::with("servers = [\"lobby\"]\n");
    let node = Node::up(&folder, &[]);
    let mut events = OperationEvents::of(&node, None);
    assert_eq!(events.next().0, "system");
    assert_eq!(events.last["type"], "connection_established");
    let failed = node.tool("fail", json!({"reason": "gateway/UPSTREAM_TIMEOUT"}));
    assert_eq!(failed.status, 504);
    let reference = failed.json()["detail"]["ref"].clone();
    let event = events.until("operation", |data| data["ref"] == reference);
    assert_eq!((&event["reason"], &event["target"]), (&json!("gateway/UPSTREAM_TIMEOUT"), &json!("fail")));
    assert!(event["duration_us"].is_u64() && event.get("story").is_none(), "{event}");
    let id = events.id.clone();

    let listed =
        || node.send("GET", "/v1/operations?failed=true&limit=5", &[], "").json()["operations"].clone();
    let is_there = || listed()[0]["ref"] == reference;
    assert!(within(Duration::from_secs(30), is_there), "{}", listed());
    assert_eq!(node.tool("wait", json!({"seconds": 1})).status, 200);
    let progress = events.until("progress", |data| data["progress"].is_number());
    assert!(progress["ref"].is_string(), "{progress}");
    drop(events);
    let missed = node.tool("echo", json!({"text": "while away"}));
    assert_eq!(missed.status, 200);
    let mut again = OperationEvents::of(&node, Some(&id));
    let event = again.until("operation", |data| data["target"] == "echo");
    assert_eq!(event["outcome"], "ok");
}

#[test]
fn nodes_share_keys_and_sessions_through_redis() {
    let mut redis = Redis::new();
    let folders = [Folder::with(&(redis.line() + CLOSED)), Folder::with(&(redis.line() + CLOSED))];
    let ((one, shown), (two, other)) = (up(&folders[0]), up(&folders[1]));
    let found = || -> Vec<String> { [&shown, &other].into_iter().filter_map(found_key).collect() };
    assert!(within(Duration::from_secs(60), || !found().is_empty()), "no key is shown");
    let firsts = found();
    let [admin] = firsts.as_slice() else { panic!("{} first keys", firsts.len()) };
    let (user, id) = one.make_key(admin, &json!({"name": "bob"}));
    let taken = two.ask(admin, "POST", "/v1/keys", &json!({"name": "bob"}));
    assert_eq!(taken.reason(), "policy/KEY_TAKEN");
    let opened = one.ask(&user, "POST", "/v1/sessions", &json!({"ttl_s": 600, "metadata": {"a": 1}}));
    assert_eq!(opened.status, 201, "{opened:?}");
    let place = opened.header("location").expect("a place");
    let item = format!("{place}/context/k");
    let put = two.ask(&user, "PUT", &item, &json!({"value": [1, "two"]}));
    assert_eq!(put.json()["context_keys"], json!(["k"]), "{put:?}");
    assert_eq!(one.ask(&user, "GET", &item, &Value::Null).json(), json!({"key": "k", "value": [1, "two"]}));
    assert_eq!(two.ask(&user, "PUT", &place, &json!({"metadata": {}})).json()["metadata"], json!({}));
    assert_eq!(
        two.ask(&user, "GET", "/v1/sessions", &Value::Null).json()["sessions"].as_array().map(Vec::len),
        Some(1)
    );
    for answer in [
        one.ask(admin, "GET", &place, &Value::Null),
        one.ask(admin, "DELETE", &place, &Value::Null),
        two.ask(admin, "PUT", &item, &json!({"value": 1})),
    ] {
        assert_eq!((answer.status, answer.reason().as_str()), (404, "server/SESSION_UNKNOWN"));
    }
    let large = json!({"value": "x".repeat(300_000)});
    assert_eq!(two.ask(&user, "PUT", &item, &large).reason(), "server/SESSION_TOO_LARGE");
    let brief =
        one.ask(&user, "POST", "/v1/sessions", &json!({"ttl_s": 1})).header("location").expect("a place");
    let is_over = || two.ask(&user, "GET", &brief, &Value::Null).status == 404;
    assert!(within(Duration::from_secs(30), is_over));
    assert_eq!(two.ask(&user, "DELETE", &place, &Value::Null).status, 204);
    assert_eq!(one.ask(&user, "POST", &format!("{place}/heartbeat"), &Value::Null).status, 404);
    assert_eq!(two.ask(admin, "DELETE", &format!("/v1/keys/{id}"), &Value::Null).status, 204);
    assert_eq!(one.ask(&user, "GET", "/v1/me", &Value::Null).status, 401);
    let all = one.ask(admin, "GET", "/v1/keys", &Value::Null).json();
    let last = two.ask(
        admin,
        "DELETE",
        &format!("/v1/keys/{}", all["keys"][0]["id"].as_str().expect("an id")),
        &Value::Null,
    );
    assert_eq!(last.reason(), "policy/LAST_ADMIN");
    // Without Redis the owner of a key is unknown, so every request fails.
    redis.stop();
    let away = one.ask(admin, "GET", "/v1/me", &Value::Null);
    assert_eq!((away.status, away.reason().as_str()), (503, "server/STATE"), "{away:?}");
}

/// A request whose client disconnects during an upstream's start is recorded and no longer counted as
/// running.
#[test]
fn a_client_that_hangs_up_early_leaves_a_record() {
    let mute = "[[upstream]]\nname = \"mute\"\ncommand = [\"sleep\", \"600\"]\nlist_wait_s = 3\n";
    let folder = Folder::with(&format!("servers = [\"lobby\"]\n{mute}"));
    let node = Node::up(&folder, &[]);
    let gone = [node.open("GET", "/v1/tools", &[], ""), node.open("POST", "/mcp/mute", &[], &hello())];
    node.works_on(2);
    drop(gone);
    node.works_on(0);
    let of =
        |records: &[Value], method: &str| records.iter().filter(|record| record["method"] == method).count();
    records_once(&folder, &[], |found| (of(found, "list_tools"), of(found, "initialize")) == (1, 1));
}

struct OperationEvents {
    lines: std::io::Lines<BufReader<std::net::TcpStream>>,
    id: String,
    last: Value,
}

impl OperationEvents {
    fn of(node: &Node, after: Option<&str>) -> OperationEvents {
        let headers = [("Accept", "text/event-stream"), ("Last-Event-ID", after.unwrap_or_default())];
        let headers = if after.is_some() { &headers[..] } else { &headers[..1] };
        let stream = node.open("GET", "/v1/events", headers, "");
        OperationEvents { lines: BufReader::new(stream).lines(), id: String::new(), last: Value::Null }
    }

    /// The next event: its type and its data.
    fn next(&mut self) -> (String, Value) {
        let mut sort = String::new();
        loop {
            let line = self.lines.next().expect("more").expect("readable");
            if let Some(id) = line.strip_prefix("id: ") {
                self.id = id.to_owned();
            } else if let Some(event) = line.strip_prefix("event: ") {
                sort = event.to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                self.last = serde_json::from_str(data).expect("JSON");
                return (sort, self.last.clone());
            }
        }
    }

    fn until(&mut self, sort: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..100 {
            let (found, data) = self.next();
            if found == sort && wanted(&data) {
                return data;
            }
        }
        panic!("no such {sort} among a hundred events")
    }
}
