//! Calls that run as tasks upstream, for clients with and without task support.

use std::time::Duration;

use failwell_rpc::Era;
use serde_json::{Value, json};

use crate::client::{GatewayClient, text};
use crate::http::cells::fixture;
use crate::script::{ReceivedRequest, Script, ScriptedResponse, introduced, json_response, settings};

/// A client with task support, with the fixture as upstream.
async fn following() -> GatewayClient {
    let mut world = GatewayClient::of(Era::Modern, vec![settings("fx", fixture().await)]).await;
    follow(&mut world);
    world
}

fn follow(world: &mut GatewayClient) {
    world.capabilities["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
}

/// Starts a task, and returns its id.
async fn started(world: &mut GatewayClient, tool: &str, arguments: Value) -> String {
    let created = world.call(tool, arguments).await;
    assert_eq!(created["result"]["resultType"], "task", "{created}");
    assert_eq!(created["result"]["status"], "working", "{created}");
    created["result"]["taskId"].as_str().expect("an id").to_owned()
}

/// Polls until the task has this status.
async fn until(world: &mut GatewayClient, id: &str, status: &str) -> Value {
    for _ in 0..1_000 {
        let account = world.ask("tasks/get", json!({"taskId": id})).await;
        if account["result"]["status"] == status {
            return account["result"].clone();
        }
        assert!(account["error"].is_null(), "{account}");
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    panic!("it never was {status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_upstream_is_a_task_for_a_client_that_follows_tasks() {
    let mut world = following().await;
    let id = started(&mut world, "fx__slow_compute", json!({"seconds": 0.2, "label": "sums"})).await;
    let done = until(&mut world, &id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "Computed sums in 0.2 seconds", "{done}");
    let id = started(&mut world, "fx__failing_job", json!({})).await;
    let done = until(&mut world, &id, "completed").await;
    assert_eq!(done["result"]["isError"], true, "{done}");
    let id = started(&mut world, "fx__protocol_error_job", json!({})).await;
    let failed = until(&mut world, &id, "failed").await;
    assert_eq!(failed["error"]["data"]["reason"], "gateway/UPSTREAM_ERROR", "{failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_asks_is_answered_through_its_account() {
    let mut world = following().await;
    let id = started(&mut world, "fx__confirm_delete", json!({"filename": "notes"})).await;
    let waiting = until(&mut world, &id, "input_required").await;
    let asked = waiting["inputRequests"].as_object().expect("questions");
    let (key, question) = asked.iter().next().expect("one question");
    assert_eq!(question["params"]["message"], "Delete notes?", "{waiting}");
    let answers = json!({key: {"action": "accept", "content": {"confirm": true}}});
    world.ask("tasks/update", json!({"taskId": id, "inputResponses": answers})).await;
    let done = until(&mut world, &id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "Deleted notes", "{done}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_waits_for_a_tool_that_is_always_a_task() {
    let mut settings = settings("fx", fixture().await);
    settings.timeout = Duration::from_secs(30);
    let mut world = GatewayClient::new(vec![settings]).await;
    let failed = world.call("fx__failing_job", json!({})).await;
    assert!(text(&failed).contains("as it always does"), "{failed}");
}

fn answer(seen: &ReceivedRequest, result: Value) -> ScriptedResponse {
    json_response(&json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": result}))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_called_off_is_called_off_upstream() {
    let script = Script::upstream(Era::Modern, |seen| {
        let task = json!({"resultType": "task", "taskId": "theirs", "status": "working", "ttlMs": 60_000,
            "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "pollIntervalMs": 100});
        let mut account = task.clone();
        account["resultType"] = json!("complete");
        answer(seen, if seen.method() == "tools/call" { task } else { account })
    })
    .await;
    let mut world = GatewayClient::of(Era::Modern, vec![script.settings("up")]).await;
    follow(&mut world);
    let id = started(&mut world, "up__t", json!({})).await;
    assert_ne!(id, "theirs", "ids are ours");
    world.ask("tasks/cancel", json!({"taskId": id})).await;
    until(&mut world, &id, "cancelled").await;
    for _ in 0..1_500 {
        if script.count("tasks/cancel") > 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let seen = script.seen().into_iter().find(|seen| seen.method() == "tasks/cancel").expect("told");
    assert_eq!(seen.body["params"]["taskId"], "theirs");
    assert_eq!(seen.header("mcp-name"), Some("theirs"));
}

/// An upstream of the session era whose tool requires a task, so the result has to be fetched.
async fn of_session_era() -> Script {
    Script::new(|seen| {
        let task = json!({"taskId": "theirs", "status": "working", "ttl": 60_000, "pollInterval": 50,
            "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"});
        match seen.method() {
            "tools/list" => {
                let tool = json!({"name": "t", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}});
                answer(seen, json!({"tools": [tool]}))
            }
            "tools/call" if seen.body["params"]["task"]["ttl"].is_u64() => answer(seen, json!({"task": task})),
            "tasks/get" => {
                let mut account = task.clone();
                account["status"] = json!("completed");
                answer(seen, account)
            }
            "tasks/result" => {
                let related = json!({"io.modelcontextprotocol/related-task": {"taskId": "theirs"}, "kept": 1});
                answer(seen, json!({"content": [{"type": "text", "text": "at last"}], "_meta": related}))
            }
            _ => introduced(Era::Session, seen).unwrap_or_else(|| answer(seen, json!({}))),
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_of_the_session_era_that_must_be_a_task_works_for_everybody() {
    for era in [Era::Session, Era::Modern] {
        let script = of_session_era().await;
        let mut world = GatewayClient::of(era, vec![script.settings("up")]).await;
        let called = world.call("up__t", json!({})).await;
        assert_eq!(text(&called), "at last", "{era:?}: {called}");
        let meta = &called["result"]["_meta"];
        assert_eq!((&meta["kept"], &meta["io.modelcontextprotocol/related-task"]), (&json!(1), &json!(null)));
    }
    let script = of_session_era().await;
    let mut world = GatewayClient::of(Era::Modern, vec![script.settings("up")]).await;
    follow(&mut world);
    let id = started(&mut world, "up__t", json!({})).await;
    let done = until(&mut world, &id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "at last", "{done}");
}
