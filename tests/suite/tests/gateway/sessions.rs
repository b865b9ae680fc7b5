//! Several clients of one gateway: what they share with each other, and what they do not.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use failwell_gateway::{Endpoint, SessionSharing, UpstreamSettings};
use failwell_rpc::Era;
use serde_json::{Value, json};

use crate::client::{GatewayClient, text};
use crate::script::{ReceivedRequest, Script, ScriptedResponse, introduced, json_response, response};

pub(crate) fn memory_upstream(sharing: Option<SessionSharing>) -> UpstreamSettings {
    let reach = Endpoint::Child {
        program: PathBuf::from(env!("CARGO_BIN_EXE_memory_upstream")),
        arguments: Vec::new(),
        folder: std::env::temp_dir(),
        environment: Vec::new(),
        inherited: Vec::new(),
    };
    let mut settings = UpstreamSettings::new("up", reach);
    (settings.sharing, settings.timeout) = (sharing, Duration::from_secs(30));
    settings
}

/// The messages that the upstream of this client recorded.
pub(crate) async fn memory(world: &mut GatewayClient) -> Value {
    let answer = world.call("up__memory", json!({})).await;
    serde_json::from_str(text(&answer)).expect("JSON")
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..1_500 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never: {what}");
}

fn answer(seen: &ReceivedRequest, result: &Value) -> ScriptedResponse {
    json_response(&json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": result}))
}

/// An HTTP upstream that gives each client a session, and returns the session of each call.
async fn with_sessions() -> Script {
    let sessions = AtomicUsize::new(0);
    Script::new(move |seen| match seen.method() {
        "initialize" => {
            let number = sessions.fetch_add(1, Ordering::SeqCst) + 1;
            let capabilities = json!({"tools": {}, "logging": {}, "resources": {"subscribe": true}});
            let hello = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities,
                "serverInfo": {"name": "s", "version": "1"}});
            let hello = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": hello});
            let headers = format!("Content-Type: application/json\r\nMcp-Session-Id: s{number}\r\n");
            response(200, &headers, &hello.to_string())
        }
        "tools/call" if seen.body["params"]["arguments"]["lose"] == true => response(404, "", "gone"),
        "tools/call" => {
            let session = seen.header("mcp-session-id").unwrap_or("none").to_owned();
            answer(seen, &json!({"content": [{"type": "text", "text": session}]}))
        }
        "resources/subscribe" | "resources/unsubscribe" | "logging/setLevel" => answer(seen, &json!({})),
        _ => introduced(Era::Session, seen).unwrap_or_else(|| response(500, "", "")),
    })
    .await
}

fn in_sessions(script: &Script, method: &str) -> Vec<String> {
    let seen = script.seen();
    let of_method = seen.iter().filter(|seen| seen.method() == method);
    of_method.map(|seen| seen.header("mcp-session-id").unwrap_or("none").to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http_everybody_has_a_session_of_their_own_as_long_as_they_stay() {
    let script = with_sessions().await;
    let mut first = GatewayClient::new(vec![script.settings("up")]).await;
    let mut second = first.at_reference(Era::Session).await;
    let ours = text(&first.call("up__t", json!({})).await).to_owned();
    let theirs = text(&second.call("up__t", json!({})).await).to_owned();
    assert_ne!(ours, theirs);
    for _ in 0..3 {
        assert_eq!(text(&first.call("up__t", json!({})).await), ours);
        assert_eq!(text(&second.call("up__t", json!({})).await), theirs);
    }
    assert_eq!(script.count("initialize"), 2);
    assert_eq!(script.count("server/discover"), 1, "what is known is not asked again");
    drop(second);
    let ended = || script.seen().into_iter().filter(|seen| seen.verb == "DELETE").collect::<Vec<_>>();
    until("a farewell", || ended().len() == 1).await;
    assert_eq!(ended()[0].header("mcp-session-id"), Some(theirs.as_str()));
    assert_eq!(text(&first.call("up__t", json!({})).await), ours);
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_bounded_and_the_one_used_least_recently_makes_room() {
    let script = with_sessions().await;
    let mut settings = script.settings("up");
    settings.most_sessions = 2;
    let first = GatewayClient::new(vec![settings]).await;
    let second = first.at_reference(Era::Session).await;
    let third = first.at_reference(Era::Session).await;
    let mut seen = BTreeSet::new();
    let mut worlds = [first, second, third];
    for which in [0, 1, 2, 0] {
        seen.insert(text(&worlds[which].call("up__t", json!({})).await).to_owned());
    }
    assert_eq!(seen.len(), 4, "the first had to begin again");
    let ended = || script.seen().iter().filter(|seen| seen.verb == "DELETE").count();
    until("two farewells", || ended() == 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_sessions_there_is_one_connection_for_all() {
    for era in [Era::Modern, Era::Session] {
        let script = Script::new(move |seen| {
            let result = json!({"resultType": "complete", "content": [{"type": "text", "text": "fine"}]});
            let response = introduced(era, seen).unwrap_or_else(|| answer(seen, &result));
            // An upstream without sessions.
            let text = String::from_utf8_lossy(&response.bytes).replace("Mcp-Session-Id: one\r\n", "");
            ScriptedResponse { bytes: text.into_bytes(), then: response.then }
        })
        .await;
        let mut first = GatewayClient::new(vec![script.settings("up")]).await;
        let mut second = first.at_reference(Era::Session).await;
        for world in [&mut first, &mut second] {
            assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
        }
        assert_eq!(script.count("server/discover"), 1);
        assert_eq!(script.count("initialize"), usize::from(era == Era::Session));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_clients_at_once_are_never_crossed() {
    let script = with_sessions().await;
    let first = GatewayClient::new(vec![script.settings("up")]).await;
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let mut world = first.at_reference(Era::Session).await;
        clients.spawn(async move {
            let mut seen = BTreeSet::new();
            for _ in 0..10 {
                seen.insert(text(&world.call("up__t", json!({})).await).to_owned());
            }
            assert_eq!(seen.len(), 1, "one client, one session: {seen:?}");
            (seen.pop_first().expect("one"), world)
        });
    }
    let all: Vec<(String, GatewayClient)> = clients.join_all().await;
    let distinct: BTreeSet<&String> = all.iter().map(|(session, _)| session).collect();
    assert_eq!(distinct.len(), 12);
    assert_eq!(script.count("initialize"), 12, "nobody's start was wasted");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_asked_for_is_asked_for_again_in_a_new_session() {
    let script = with_sessions().await;
    let mut world = GatewayClient::new(vec![script.settings("up")]).await;
    world.ask("logging/setLevel", json!({"level": "warning"})).await;
    assert_eq!(text(&world.call("up__t", json!({})).await), "s1");
    for uri in ["up+x://a", "up+x://b"] {
        let answer = world.ask("resources/subscribe", json!({"uri": uri})).await;
        assert!(answer["result"].is_object(), "{answer}");
    }
    let answer = world.ask("resources/unsubscribe", json!({"uri": "up+x://b"})).await;
    assert!(answer["result"].is_object(), "{answer}");
    until("the end of a subscription", || script.count("resources/unsubscribe") == 1).await;
    world.call("up__t", json!({"lose": true})).await;
    let last = text(&world.call("up__t", json!({})).await).to_owned();
    assert_ne!(last, "s1");
    let again = in_sessions(&script, "resources/subscribe");
    assert_eq!((again[..2].to_vec(), again.last()), (vec!["s1".to_owned(); 2], Some(&last)), "{again:?}");
    let subscribed = script.seen().into_iter().rfind(|seen| seen.method() == "resources/subscribe");
    assert_eq!(subscribed.expect("one").body["params"]["uri"], "x://a", "and not what was given up");
    let levels = in_sessions(&script, "logging/setLevel");
    assert_eq!((levels.first().map(String::as_str), levels.last()), (Some("s1"), Some(&last)), "{levels:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_is_shared_unless_everybody_is_to_have_their_own() {
    for (sharing, is_shared) in [(None, true), (Some(SessionSharing::PerCaller), false)] {
        let mut first = GatewayClient::new(vec![memory_upstream(sharing)]).await;
        let mut second = first.at_reference(Era::Session).await;
        let [ours, theirs] = [memory(&mut first).await, memory(&mut second).await];
        assert_eq!(ours["pid"] == theirs["pid"], is_shared);
        // An upstream of one client gets that client's capabilities. A shared upstream gets all that the gateway supports.
        assert_eq!(ours["capabilities"].get("roots").is_some(), is_shared, "{ours}");
        let pid = theirs["pid"].as_u64().expect("a pid");
        drop(second);
        if !is_shared {
            let gone = || !std::path::Path::new(&format!("/proc/{pid}")).exists();
            until("the end of a child nobody uses", gone).await;
        }
        assert_eq!(memory(&mut first).await["pid"], ours["pid"]);
        first.gateway.stop();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unaddressed_messages_of_a_child_reach_its_only_client() {
    let mut first = GatewayClient::new(vec![memory_upstream(None)]).await;
    let mut second = first.at_reference(Era::Session).await;
    memory(&mut second).await;
    // Both have calls running, so the message and the question cannot be attributed.
    let calls = async |world: &mut GatewayClient| memory(world).await["calls"].as_u64().expect("a number");
    let mut before = calls(&mut first).await;
    let waiting = json!({"name": "up__tell", "arguments": {"what": "nothing", "ms": 2500}});
    let other = second.start("tools/call", waiting).await;
    // Asking for the number of calls is a call too: two more, one of them by the other client.
    loop {
        let now = calls(&mut first).await;
        if now == before + 2 {
            break;
        }
        before = now;
    }
    first.call("up__tell", json!({"what": "crossed-log"})).await;
    let asked = first.call("up__ask", json!({"what": "crossed-question"})).await;
    assert!(text(&asked).contains("no client can answer"), "{asked}");
    while second.hear().await["id"] != other {}
    for world in [&first, &second] {
        assert!(!world.transcript.contains("crossed-"), "{}", world.transcript);
    }
    // With a single client they are attributed to it, even during several calls.
    first.start("tools/call", json!({"name": "up__tell", "arguments": {"what": "x", "ms": 1000}})).await;
    let id = first.start("tools/call", json!({"name": "up__ask", "arguments": {"what": "mine"}})).await;
    let question = loop {
        let message = first.hear().await;
        if message["method"] == "elicitation/create" {
            break message;
        }
    };
    let accepted = json!({"action": "accept", "content": {"a": "answered"}});
    first.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": accepted})).await;
    let answer = loop {
        let message = first.hear().await;
        if message["id"] == id {
            break message;
        }
    };
    assert!(text(&answer).contains("answered"), "{answer}");
    first.gateway.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_a_resource_are_heard_by_those_who_watch_it() {
    for sharing in [None, Some(SessionSharing::PerCaller)] {
        let mut first = GatewayClient::new(vec![memory_upstream(sharing)]).await;
        let mut second = first.at_reference(Era::Session).await;
        first.ask("resources/subscribe", json!({"uri": "up+x://a"})).await;
        second.ask("resources/subscribe", json!({"uri": "up+x://b"})).await;
        for uri in ["x://a", "x://b"] {
            first.call("up__touch", json!({"uri": uri})).await;
        }
        let was_told =
            |world: &GatewayClient, uri: &str| world.transcript.contains(&format!("\"uri\":\"up+{uri}\""));
        // Notifications and responses have no common order, so the test waits for both.
        for _ in 0..300 {
            memory(&mut first).await;
            memory(&mut second).await;
            if was_told(&first, "x://a") && (was_told(&second, "x://b") || sharing.is_some()) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(was_told(&first, "x://a") && !was_told(&first, "x://b"), "{sharing:?}: {}", first.transcript);
        assert!(!was_told(&second, "x://a"), "{sharing:?}: {}", second.transcript);
        assert_eq!(was_told(&second, "x://b"), sharing.is_none(), "{sharing:?}: {}", second.transcript);
        first.gateway.stop();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restarted_child_gets_levels_and_subscriptions_again() {
    let mut world = GatewayClient::new(vec![memory_upstream(None)]).await;
    let mut other = world.at_reference(Era::Session).await;
    world.ask("logging/setLevel", json!({"level": "error"})).await;
    world.ask("resources/subscribe", json!({"uri": "up+x://a"})).await;
    other.ask("logging/setLevel", json!({"level": "debug"})).await;
    other.ask("resources/subscribe", json!({"uri": "up+x://a"})).await;
    other.ask("resources/subscribe", json!({"uri": "up+x://b"})).await;
    let before = memory(&mut world).await;
    assert_eq!((&before["level"], &before["watched"]), (&json!("debug"), &json!(["x://a", "x://b"])));
    assert_eq!(
        memory(&mut other).await["pid"],
        before["pid"],
        "shared, with as much as the one who wants most"
    );
    world.call("up__crash", json!({})).await;
    let after = memory(&mut world).await;
    assert_ne!(after["pid"], before["pid"]);
    assert_eq!((&after["level"], &after["watched"]), (&json!("debug"), &json!(["x://a", "x://b"])));
    // When a client leaves, its subscriptions end, unless another client has the same.
    drop(other);
    for _ in 0..1_000 {
        if memory(&mut world).await["watched"] == json!(["x://a"]) {
            world.gateway.stop();
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("still watched: {}", memory(&mut world).await);
}
