//! Two nodes with a real Redis: one continues the work of the other.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::setup::folder::{Folder, upstream};
use crate::setup::node::{Node, within};
use crate::setup::redis::{PASSWORD, Redis};

/// Two nodes with shared state.
struct Pair {
    a: Node,
    b: Node,
    redis: Redis,
    _folder: Folder,
}

impl Pair {
    fn new(more: &str, arguments: &[&str]) -> Pair {
        let redis = Redis::new();
        let folder =
            Folder::with(&format!("{}servers = [\"lobby\"]\n{}{more}", redis.line(), upstream("up", "")));
        let (a, b) = (Node::alone(&folder, arguments), Node::alone(&folder, arguments));
        Pair { a, b, redis, _folder: folder }
    }

    /// A session that was started on the first node.
    fn session(&self) -> String {
        let answer = self.a.initialize("/mcp");
        answer.header("mcp-session-id").unwrap_or_else(|| panic!("no session: {answer:?}"))
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            for node in [&self.a, &self.b] {
                assert!(!node.journal().contains(PASSWORD), "a password is told: {}", node.journal());
            }
        }
    }
}

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    let meta = json!({"progressToken": id});
    let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

#[test]
fn a_session_goes_on_with_any_node_and_ends_on_all() {
    let pair = Pair::new("", &[]);
    let session = pair.session();
    let listed = pair.b.say(&session, &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    assert_eq!(listed.status, 200, "{listed:?}");
    assert!(listed.body.contains("up__pid") && listed.body.contains("lobby__echo"));
    let (here, there) = (
        pair.a.say(&session, &call(3, "up__pid", &json!({}))),
        pair.b.say(&session, &call(4, "up__pid", &json!({}))),
    );
    assert_ne!(here.text(), there.text(), "each node has its own child");
    let other = pair.b.send(
        "POST",
        "/mcp/up",
        &[("Mcp-Session-Id", &session)],
        &call(5, "pid", &json!({})).to_string(),
    );
    assert_eq!(other.status, 404, "another pipeline, other sessions: {other:?}");

    assert_eq!(pair.b.send("DELETE", "/mcp", &[("Mcp-Session-Id", &session)], "").status, 204);
    for node in [&pair.a, &pair.b] {
        let lost = node.say(&session, &call(6, "up__pid", &json!({})));
        assert_eq!((lost.status, lost.reason().as_str()), (404, "http/SESSION_LOST"));
    }
}

#[test]
fn what_a_client_says_reaches_the_node_it_is_about() {
    let pair = Pair::new("", &[]);
    let session = pair.session();
    let mut events = pair.a.events(&session, &call(2, "up__ask", &json!({})));
    let question = std::iter::from_fn(|| events.next()).find(|event| event["method"] == "elicitation/create");
    let question = question.expect("a question");
    let result = json!({"action": "accept", "content": {"name": "Ada"}});
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
    assert_eq!(pair.b.say(&session, &answer).status, 202);
    let answered = events.rest();
    let answered = answered.iter().find(|event| event["id"] == 2).expect("an answer");
    assert_eq!(answered["result"]["content"][0]["text"], r#"{"name": "Ada"}"#);

    let began = Instant::now();
    let mut events = pair.a.events(&session, &call(3, "up__slow", &json!({"ms": 90_000})));
    events.next().expect("progress");
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}});
    assert_eq!(pair.b.say(&session, &cancel).status, 202);
    let rest = events.rest();
    assert!(rest.iter().all(|event| event["id"] != 3), "a cancelled call was answered: {rest:?}");
    assert!(began.elapsed() < Duration::from_secs(60), "it was called off at once");
}

#[test]
fn a_stream_is_read_on_from_another_node() {
    let pair = Pair::new("", &[]);
    let session = pair.session();
    let mut events = pair.a.events(&session, &call(2, "up__slow", &json!({"ms": 3_000})));
    let seen: Vec<Value> = (0..3).filter_map(|_| events.next()).collect();
    let last = events.last.clone();
    drop(events);
    let mut rest = pair.b.resume(&session, &last);
    let later = rest.rest();
    let progress: Vec<f64> =
        seen.iter().chain(&later).filter_map(|event| event["params"]["progress"].as_f64()).collect();
    let expected: Vec<f64> = (1..=progress.len()).map(|step| step as f64).collect();
    assert_eq!(progress, expected, "nothing twice and nothing missing");
    assert!(progress.len() > 10, "{progress:?}");
    let answers: Vec<&Value> = later.iter().filter(|event| event["id"] == 2).collect();
    assert_eq!(answers.len(), 1, "{later:?}");
    assert!(answers[0]["result"]["content"][0]["text"].is_string(), "{answers:?}");
    // Resuming once more, on either node, returns the same events.
    for node in [&pair.a, &pair.b] {
        assert_eq!(node.resume(&session, &last).rest().last(), later.last());
    }
}

#[test]
fn a_node_that_dies_is_answered_for_and_its_clients_go_on() {
    let mut pair = Pair::new("", &[]);
    let session = pair.session();
    let mut events = pair.a.events(&session, &call(2, "up__slow", &json!({"ms": 60_000})));
    for _ in 0..3 {
        events.next().expect("progress");
    }
    let child = pair.a.tool("up__pid", json!({})).text();
    pair.a.kill();
    while events.next().is_some() {}
    let other = pair.b.say(&session, &call(3, "up__count", &json!({})));
    assert_eq!(other.text(), "1", "the session goes on at once: {other:?}");
    let later = pair.b.resume(&session, &events.last).rest();
    let answers: Vec<&Value> = later.iter().filter(|event| event["id"] == 2).collect();
    assert_eq!(answers.len(), 1, "exactly one answer: {later:?}");
    let data = &answers[0]["error"]["data"];
    assert_eq!(
        (data["reason"].as_str(), data["effect"].as_str()),
        (Some("server/NODE_LOST"), Some("unknown"))
    );
    assert!(crate::setup::node::ends(&child), "what it had started is gone too");
    let again = pair.b.resume(&session, &events.last).rest();
    assert_eq!(again.last(), later.last(), "the same answer for whoever asks again");
}

#[test]
fn rates_and_rests_are_counted_over_all_nodes() {
    // No process listens on port 1.
    let more =
        "[[upstream]]\nname = \"dead\"\nurl = \"http://127.0.0.1:1/mcp\"\nrestart = { budget = 100 }\n";
    let pair = Pair::new(more, &["--rate", "4"]);
    let began = Instant::now();
    let mut passed = 0;
    let mut refused = Vec::new();
    for _ in 0..8 {
        for node in [&pair.a, &pair.b] {
            let answer = node.modern("tools/list", "", json!({}));
            if answer.status == 429 { refused.push(answer.reason()) } else { passed += 1 }
        }
    }
    let most = 8.0 + 4.0 * (began.elapsed().as_secs_f64() + 0.5);
    assert!(f64::from(passed) <= most, "{passed} passed, {most} are allowed to all nodes together");
    assert!(refused.iter().all(|reason| reason == "policy/RATE_LIMITED"));

    // An upstream that fails on one node opens the circuit on the other too.
    let downs = || {
        (0..100).filter(|_| {
            std::thread::sleep(Duration::from_millis(260));
            pair.a.tool("dead__t", json!({})).reason() == "gateway/UPSTREAM_DOWN"
        })
    };
    // The fifth back-off lasts four seconds, which is enough time for a call on the other node.
    assert_eq!(downs().take(5).count(), 5, "it fails again and again");
    // The rate limit is shared too, so the call may have to be repeated.
    let reason = (0..20).map(|_| pair.b.tool("dead__t", json!({})).reason()).find(|reason| {
        std::thread::sleep(Duration::from_millis(100));
        reason != "policy/RATE_LIMITED"
    });
    assert_eq!(reason.as_deref(), Some("gateway/CIRCUIT_OPEN"), "never tried from here");
}

#[test]
fn modern_calls_go_on_anywhere_unless_they_wait_somewhere() {
    let mut pair = Pair::new("", &[]);
    let asked = pair.a.modern("tools/call", "lobby__ask", json!({"name": "lobby__ask", "arguments": {}}));
    let answered = |asked: &Value, tool: &str| {
        let keys = asked["result"]["inputRequests"].as_object().expect("questions").keys();
        let answer = json!({"action": "accept", "content": {"name": "Ada"}});
        let answers: serde_json::Map<String, Value> = keys.map(|key| (key.clone(), answer.clone())).collect();
        json!({"name": tool, "arguments": {}, "inputResponses": answers,
            "requestState": asked["result"]["requestState"]})
    };
    let again = answered(&asked.json(), "lobby__ask");
    let there = pair.b.modern("tools/call", "lobby__ask", again);
    assert!(there.text().contains("Ada"), "sealed on one node, opened on the other: {there:?}");

    let asked = pair.a.modern("tools/call", "up__ask", json!({"name": "up__ask", "arguments": {}})).json();
    let again = answered(&asked, "up__ask");
    let there = pair.b.modern("tools/call", "up__ask", again.clone());
    assert_eq!(there.reason(), "gateway/ELSEWHERE");
    assert_eq!(there.json()["error"]["data"]["effect"], "none");
    assert!(pair.a.modern("tools/call", "up__ask", again.clone()).text().contains("Ada"));
    assert_eq!(pair.a.modern("tools/call", "up__ask", again.clone()).reason(), "mcp/BAD_STATE", "only once");

    let asked = pair.a.modern("tools/call", "up__ask", json!({"name": "up__ask", "arguments": {}})).json();
    let again = answered(&asked, "up__ask");
    pair.a.kill();
    let reason = || pair.b.modern("tools/call", "up__ask", again.clone()).reason();
    assert!(within(Duration::from_secs(40), || reason() == "server/NODE_LOST"), "{}", reason());
}

#[test]
fn redis_goes_away_and_comes_back() {
    let mut pair = Pair::new("", &["--rate", "1000"]);
    let session = pair.session();
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let away = |pair: &Pair| {
        let began = Instant::now();
        let refused = pair.b.say(&session, &list);
        assert_eq!((refused.status, refused.reason().as_str()), (200, "server/STATE"), "{refused:?}");
        assert!(began.elapsed() < Duration::from_secs(50), "{:?}", began.elapsed());
        assert_eq!(pair.b.initialize("/mcp").reason(), "server/STATE");
        let modern = pair.b.modern(
            "tools/call",
            "lobby__echo",
            json!({"name": "lobby__echo", "arguments": {"text": "x"}}),
        );
        assert!(modern.text().contains("x"), "the modern era needs no other node: {modern:?}");
    };
    pair.redis.signal("-STOP");
    away(&pair);
    pair.redis.signal("-CONT");
    let is_back = |node: &Node| node.say(&session, &list).status == 200;
    assert!(within(Duration::from_secs(30), || is_back(&pair.b)), "nothing was lost");
    assert!(within(Duration::from_secs(30), || is_back(&pair.a)), "nor for the other one");

    pair.redis.stop();
    away(&pair);
    pair.redis.start_again();
    let is_new = |node: &Node| node.say(&session, &list).reason() == "http/SESSION_LOST";
    for node in [&pair.a, &pair.b] {
        assert!(within(Duration::from_secs(30), || is_new(node)), "what Redis lost is lost");
    }
    let session = pair.session();
    assert_eq!(pair.b.say(&session, &list).status, 200, "and new sessions are shared again");
    // The nodes reconnect at different times, so the cancellation is repeated until it arrives.
    let mut events = pair.a.events(&session, &call(3, "up__slow", &json!({"ms": 90_000})));
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}});
    let began = Instant::now();
    while events.next().is_some() {
        assert!(began.elapsed() < Duration::from_secs(60), "it was never called off");
        assert_eq!(pair.b.say(&session, &cancel).status, 202);
    }
}

#[test]
fn a_start_without_redis_says_so_and_not_the_password() {
    let mut redis = Redis::new();
    redis.stop();
    let folder = Folder::with(&redis.line());
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_failwell"));
    command.args(["up", "--listen", "127.0.0.1:0"]).current_dir(&folder.0);
    let output = command.output().expect("it ends by itself");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(errors.starts_with("error: redis://127.0.0.1:") && errors.contains("cannot be used"), "{errors}");
    assert!(errors.contains("help: start Redis or Valkey there") && !errors.contains(PASSWORD), "{errors}");
}

#[test]
fn nodes_share_state_over_tls_with_trusted_servers_only() {
    let redis = Redis::over_tls();
    let config = |state: &str| Folder::with(&format!("servers = [\"lobby\"]\n{}{state}", upstream("up", "")));
    let folder = config(&redis.lines_over_tls("localhost", true));
    let (a, b) = (Node::alone(&folder, &[]), Node::alone(&folder, &[]));
    let session = a.initialize("/mcp").header("mcp-session-id").expect("a session");
    // Commands reach Redis over TLS, and messages of one node reach the other.
    let answer = b.say(&session, &call(2, "up__count", &json!({})));
    assert!(answer.json()["result"]["content"].is_array(), "{answer:?}");
    let mut events = a.events(&session, &call(3, "up__slow", &json!({"ms": 20_000})));
    events.next().expect("progress");
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}});
    assert_eq!(b.say(&session, &cancel).status, 202);
    assert!(events.rest().iter().all(|event| event["id"] != 3));
    for node in [&a, &b] {
        assert!(!node.journal().contains(PASSWORD), "{}", node.journal());
    }

    for (host, trusting) in [("localhost", false), ("127.0.0.1", true)] {
        let folder = config(&redis.lines_over_tls(host, trusting));
        let mut command = std::process::Command::new("timeout");
        command.args(["60", env!("CARGO_BIN_EXE_failwell"), "up", "--listen", "127.0.0.1:0"]);
        command.current_dir(&folder.0).env("FAILWELL_STATE", folder.0.join("state"));
        let refused = command.output().expect("it runs");
        let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{host} {trusting}: {errors}");
        assert!(
            errors.contains("rediss://") && errors.contains("certificate"),
            "{host} {trusting}: {errors}"
        );
        assert!(!errors.contains(PASSWORD), "{errors}");
    }
}
