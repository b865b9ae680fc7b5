//! Lost sessions, cancelled calls, detection of the era, and the headers of requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use failwell_rpc::Era;
use serde_json::{Value, json};

use crate::client::{GatewayClient, text};
use crate::script::{
    ConnectionAction, ReceivedRequest, Script, ScriptedResponse, introduced, json_response, raw, response,
};

pub(super) fn fine(seen: &ReceivedRequest) -> ScriptedResponse {
    let result = json!({"resultType": "complete", "content": [{"type": "text", "text": "fine"}]});
    json_response(&json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": result}))
}

/// How an upstream refuses the modern era.
type EraRefusal = (&'static str, fn(&ReceivedRequest) -> ScriptedResponse);

pub(super) async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..1_500 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never: {what}");
}

/// Waits until a server that was stopped is gone.
pub(super) async fn unused_address(address: std::net::SocketAddr) {
    let gone = async {
        while tokio::net::TcpStream::connect(address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone).await.expect("it stops");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_has_its_headers_from_hello_to_farewell() {
    let script = Script::upstream(Era::Session, fine).await;
    let mut world = GatewayClient::new(vec![script.settings("up")]).await;
    assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
    world.gateway.stop();
    until("a farewell", || script.seen().iter().any(|seen| seen.verb == "DELETE")).await;
    for seen in script.seen() {
        assert_eq!(seen.header("authorization"), Some("bearer s3cret"), "{seen:?}");
        let introduced = !matches!(seen.method(), "server/discover" | "initialize");
        assert_eq!(seen.header("mcp-session-id").is_some(), introduced, "{seen:?}");
        if introduced {
            assert_eq!(seen.header("mcp-protocol-version"), Some("2025-06-18"), "{seen:?}");
        }
        assert_eq!(seen.header("mcp-method").is_some(), seen.method() == "server/discover", "{seen:?}");
    }
    assert_eq!(script.count("notifications/initialized"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn modern_headers_repeat_the_body() {
    let script = Script::upstream(Era::Modern, fine).await;
    let mut world = GatewayClient::new(vec![script.settings("up")]).await;
    let list = world.ask("tools/list", json!({})).await;
    for tool in list["result"]["tools"].as_array().expect("tools") {
        let name = tool["name"].as_str().expect("a name");
        assert_eq!(text(&world.call(name, json!({})).await), "fine");
    }
    let calls: Vec<ReceivedRequest> =
        script.seen().into_iter().filter(|seen| seen.method() == "tools/call").collect();
    let names: Vec<Option<&str>> = calls.iter().map(|seen| seen.header("mcp-name")).collect();
    // The script server lowercases headers.
    assert_eq!(names, [Some("t"), Some("=?base64?z3ldvmofzq==?=")]);
    for seen in script.seen() {
        assert_eq!(seen.header("mcp-protocol-version"), Some("2026-07-28"), "{seen:?}");
        assert_eq!(seen.header("mcp-method"), Some(seen.method().to_ascii_lowercase().as_str()), "{seen:?}");
        assert_eq!(seen.header("mcp-session-id"), None);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_session_is_begun_again_once_and_the_call_is_repeated() {
    let lost = Arc::new(AtomicUsize::new(0));
    let losing = lost.clone();
    let script = Script::upstream(Era::Session, move |seen| {
        let left = losing.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        let error =
            json!({"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": "hunter2"}});
        if left.is_ok() {
            response(404, "Content-Type: application/json\r\n", &error.to_string())
        } else {
            fine(seen)
        }
    })
    .await;
    let mut world = GatewayClient::new(vec![script.settings("up")]).await;
    assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
    lost.store(1, Ordering::SeqCst);
    assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
    assert_eq!((script.count("initialize"), script.count("tools/call")), (2, 3));
    assert_eq!(script.count("server/discover"), 1, "the era is remembered");
    lost.store(2, Ordering::SeqCst);
    let failed = world.call("up__t", json!({})).await;
    assert_eq!(failed["error"]["data"]["reason"], "gateway/UPSTREAM_DOWN", "{failed}");
    assert_eq!(failed["error"]["data"]["effect"], "none", "{failed}");
    assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
    world.nothing_leaked();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_was_restarted_is_found_again() {
    let script = Script::upstream(Era::Session, fine).await;
    let mut settings = script.settings("up");
    settings.restart.budget = 20;
    let mut world = GatewayClient::new(vec![settings]).await;
    assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
    let address = script.address;
    drop(script);
    unused_address(address).await;
    let failed = world.call("up__t", json!({})).await;
    assert_eq!(failed["error"]["data"]["reason"], "gateway/UPSTREAM_DOWN", "{failed}");
    assert_eq!(failed["error"]["data"]["effect"], "none", "{failed}");
    // The server came back with the other era. The gateway detects that when a request of the old era fails.
    let script =
        Script::at(address, |seen| introduced(Era::Modern, seen).unwrap_or_else(|| fine(seen))).await;
    // After a failure the gateway does not connect for a moment.
    let back = async { while world.call("up__t", json!({})).await["result"].is_null() {} };
    tokio::time::timeout(Duration::from_secs(30), back).await.expect("it is found again");
    assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
    assert_eq!(script.count("server/discover"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_era_is_found_out_whatever_the_upstream_answers() {
    let refusals: Vec<EraRefusal> = vec![
        ("400 and -32000", |_| {
            let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "not initialized"}});
            response(400, "Content-Type: application/json\r\n", &error.to_string())
        }),
        ("404", |_| response(404, "", "not here")),
        ("405", |_| response(405, "", "")),
        ("406", |_| response(406, "", "")),
        ("-32602", |seen| {
            json_response(
                &json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": {"code": -32602, "message": ""}}),
            )
        }),
        ("-32022 with an older revision", |seen| {
            let data = json!({"supported": ["2025-11-25"], "requested": "2026-07-28"});
            let error = json!({"code": -32022, "message": "", "data": data});
            let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": error});
            response(400, "Content-Type: application/json\r\n", &body.to_string())
        }),
        ("nonsense", |_| response(200, "Content-Type: text/html\r\n", "<html>")),
    ];
    for (name, refusal) in refusals {
        let script = Script::new(move |seen| match seen.method() {
            "server/discover" => refusal(seen),
            _ => introduced(Era::Session, seen).unwrap_or_else(|| fine(seen)),
        })
        .await;
        let mut world = GatewayClient::new(vec![script.settings("up")]).await;
        assert_eq!(text(&world.call("up__t", json!({})).await), "fine", "{name}");
        assert_eq!(script.count("initialize"), 1, "{name}");
    }
    for code in [-32020, -32021] {
        let script = Script::new(move |seen| match seen.method() {
            "server/discover" => {
                let error = json!({"code": code, "message": "", "data": {}});
                let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": error});
                response(400, "Content-Type: application/json\r\n", &body.to_string())
            }
            _ => introduced(Era::Modern, seen).unwrap_or_else(|| fine(seen)),
        })
        .await;
        let mut world = GatewayClient::new(vec![script.settings("up")]).await;
        assert_eq!(text(&world.call("up__t", json!({})).await), "fine", "{code}");
        assert_eq!(script.count("initialize"), 0, "{code}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_called_off_is_called_off_upstream() {
    for era in [Era::Session, Era::Modern] {
        let script = Script::upstream(era, |_| raw("", ConnectionAction::Hang)).await;
        let mut settings = script.settings("up");
        settings.timeout = Duration::from_secs(30);
        let mut world = GatewayClient::new(vec![settings]).await;
        let list = world.ask("tools/list", json!({})).await;
        assert!(list["result"]["tools"].is_array(), "{list}");
        let id = world.start("tools/call", json!({"name": "up__t", "arguments": {}})).await;
        until("the call", || script.count("tools/call") == 1).await;
        world
            .send(
                &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}),
            )
            .await;
        until("a hang-up", || script.hung_up() == 1).await;
        let call = script.seen().into_iter().find(|seen| seen.method() == "tools/call").expect("the call");
        if era == Era::Session {
            until("a notice", || script.count("notifications/cancelled") == 1).await;
            let seen = script.seen();
            let notice =
                seen.iter().find(|seen| seen.method() == "notifications/cancelled").expect("a notice");
            assert_eq!(notice.body["params"]["requestId"], call.body["id"]);
        } else {
            assert_eq!(script.count("notifications/cancelled"), 0, "hanging up says it");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_cancels_the_call_upstream_and_other_calls_go_on() {
    let script = Script::upstream(Era::Session, |seen| {
        if seen.body["params"]["arguments"]["hang"] == true {
            raw("", ConnectionAction::Hang)
        } else {
            fine(seen)
        }
    })
    .await;
    let mut settings = script.settings("up");
    settings.timeout = Duration::from_secs(3);
    let mut world = GatewayClient::new(vec![settings]).await;
    let slow = world.start("tools/call", json!({"name": "up__t", "arguments": {"hang": true}})).await;
    assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
    let failed = world.hear().await;
    assert_eq!(failed["id"], slow);
    assert_eq!(failed["error"]["data"]["reason"], "gateway/UPSTREAM_TIMEOUT");
    until("a notice", || script.count("notifications/cancelled") == 1).await;
    assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
    assert_eq!(script.count("initialize"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_breaks_off_is_taken_up_again() {
    let script = Script::new(|seen| {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
        match (seen.verb.as_str(), seen.header("last-event-id"), seen.method()) {
            ("GET", Some("place-7"), _) => {
                let result = json!({"content": [{"type": "text", "text": "resumed"}]});
                let answer = json!({"jsonrpc": "2.0", "id": 4, "result": result});
                raw(&format!("{head}id: place-8\ndata: {answer}\n\n"), ConnectionAction::Close)
            }
            (_, _, "tools/call") => {
                raw(&format!("{head}id: place-7\nretry: 10\ndata:\n\n"), ConnectionAction::Close)
            }
            _ => introduced(Era::Session, seen).unwrap_or_else(|| response(500, "", "")),
        }
    })
    .await;
    let mut world = GatewayClient::new(vec![script.settings("up")]).await;
    let answer = world.call("up__t", json!({})).await;
    let call = script.seen().into_iter().find(|seen| seen.method() == "tools/call").expect("the call");
    assert_eq!(call.body["id"], 4, "discover, initialize and list came before");
    assert_eq!(text(&answer), "resumed");
    assert_eq!(script.count("tools/call"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_calls_at_once_are_never_crossed() {
    for era in [Era::Session, Era::Modern] {
        let script = Script::upstream(era, |seen| {
            let number = seen.body["params"]["arguments"]["n"].to_string();
            let result = json!({"resultType": "complete", "content": [{"type": "text", "text": number}]});
            json_response(&json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": result}))
        })
        .await;
        let mut world = GatewayClient::new(vec![script.settings("up")]).await;
        world.ask("tools/list", json!({})).await;
        let mut expected = std::collections::HashMap::new();
        for n in 0..100 {
            let id = world.start("tools/call", json!({"name": "up__t", "arguments": {"n": n}})).await;
            expected.insert(id, n.to_string());
        }
        while !expected.is_empty() {
            let answer = world.hear().await;
            let number = answer["id"].as_u64().and_then(|id| expected.remove(&id)).expect("an id, once");
            assert_eq!(text(&answer), number);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_heard_on_the_stream_of_their_own() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    let notice = r#"data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    for era in [Era::Session, Era::Modern] {
        let script = Script::new(move |seen| match (seen.verb.as_str(), seen.method(), era) {
            ("GET", _, Era::Session) | (_, "subscriptions/listen", Era::Modern) => {
                raw(&format!("{head}{notice}\n\n"), ConnectionAction::Hang)
            }
            _ => introduced(era, seen).unwrap_or_else(|| fine(seen)),
        })
        .await;
        let mut world = GatewayClient::new(vec![script.settings("up")]).await;
        world.start("tools/list", json!({})).await;
        // The list and the notification arrive in any order.
        let messages: [Value; 2] = [world.hear().await, world.hear().await];
        let changed = |message: &Value| message["method"] == "notifications/tools/list_changed";
        assert!(messages.iter().any(changed), "{era:?}: {messages:?}");
        world.gateway.stop();
        until("a hang-up", || script.hung_up() == 1).await;
    }
}

/// As during a deployment.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_refused_for_a_while_is_asked_for_again() {
    let stream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    let notice = r#"data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    for (era, status) in [(Era::Session, 503), (Era::Session, 409), (Era::Modern, 502), (Era::Modern, 429)] {
        let asked = AtomicUsize::new(0);
        let script = Script::new(move |seen| match (seen.verb.as_str(), seen.method(), era) {
            ("GET", _, Era::Session) | (_, "subscriptions/listen", Era::Modern) => {
                match asked.fetch_add(1, Ordering::SeqCst) {
                    0 => response(status, "", "not now"),
                    _ => raw(&format!("{stream}{notice}\n\n"), ConnectionAction::Hang),
                }
            }
            _ => introduced(era, seen).unwrap_or_else(|| fine(seen)),
        })
        .await;
        let mut world = GatewayClient::new(vec![script.settings("up")]).await;
        world.start("tools/list", json!({})).await;
        while world.hear().await["method"] != "notifications/tools/list_changed" {}
        world.gateway.stop();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_never_begins_does_not_block_subscriptions() {
    let script = Script::new(|seen| match seen.method() {
        "subscriptions/listen" => raw("", ConnectionAction::Hang),
        _ => introduced(Era::Modern, seen).unwrap_or_else(|| fine(seen)),
    })
    .await;
    let mut world = GatewayClient::new(vec![script.settings("up")]).await;
    assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
    until("the first stream", || script.count("subscriptions/listen") == 1).await;
    let answer = world.ask("resources/subscribe", json!({"uri": "up+x://a"})).await;
    assert!(answer["error"].is_null(), "{answer}");
    until("a stream with the resource", || script.count("subscriptions/listen") == 2).await;
    world.gateway.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_of_both_eras_is_spoken_to_in_that_of_the_client() {
    for (client, hello, other) in
        [(Era::Session, "initialize", "server/discover"), (Era::Modern, "server/discover", "initialize")]
    {
        let script = Script::new(|seen| {
            let era = if seen.method() == "initialize" { Era::Session } else { Era::Modern };
            introduced(era, seen).unwrap_or_else(|| fine(seen))
        })
        .await;
        let mut settings = script.settings("up");
        settings.first_era = None;
        let mut world = GatewayClient::of(client, vec![settings]).await;
        assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
        assert_eq!((script.count(hello), script.count(other)), (1, 0), "{client:?}");
    }
}

/// Delays a response until this is true, within a time limit.
fn hold(until: &AtomicBool) {
    tokio::task::block_in_place(|| {
        for _ in 0..1_500 {
            if until.load(Ordering::SeqCst) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    });
}

/// The delay before the second response, because the gateway does not show when it has read the first.
const OTHER_ANSWER_ARRIVES: Duration = Duration::from_millis(500);

/// The upstream answers `initialize` first, and `server/discover` only when the handshake is complete.
#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_of_both_eras_that_is_slow_is_spoken_to_in_one_of_them() {
    let (is_told, is_discovered) = (AtomicBool::new(false), AtomicBool::new(false));
    let script = Script::new(move |seen| match seen.method() {
        "server/discover" => {
            hold(&is_told);
            is_discovered.store(true, Ordering::SeqCst);
            introduced(Era::Modern, seen).expect("an introduction")
        }
        "notifications/initialized" => {
            is_told.store(true, Ordering::SeqCst);
            hold(&is_discovered);
            tokio::task::block_in_place(|| std::thread::sleep(OTHER_ANSWER_ARRIVES));
            response(202, "", "")
        }
        _ => introduced(Era::Session, seen).unwrap_or_else(|| fine(seen)),
    })
    .await;
    let mut world = GatewayClient::new(vec![script.settings("up")]).await;
    world.list_of_all().await;
    assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
    let seen = script.seen();
    for seen in seen.iter().filter(|seen| seen.method().starts_with("tools/")) {
        let is_modern = !seen.body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_null();
        assert_eq!(seen.header("mcp-method").is_some(), is_modern, "{seen:?}");
        assert_eq!(seen.header("mcp-session-id").is_some(), !is_modern, "{seen:?}");
    }
    world.gateway.stop();
}
