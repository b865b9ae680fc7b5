//! Guards that treat servers differently: an answer is judged by the rule of the server it came from.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use failwell_controls::{GuardSet, Settings};
use failwell_gateway::UpstreamSettings;
use failwell_policy::Guards;
use failwell_policy::guard::{Action, Direction, GuardRule, GuardSettings};
use failwell_rpc::Era;
use failwell_toolbox::ToolServer;
use serde_json::{Value, json};

use crate::client::{GatewayClient, evil};
use crate::script::{Script, json_response};

/// A client of a gateway that has listed no tools yet. Its guard applies to results of this server only.
async fn strict_with(upstream: UpstreamSettings) -> GatewayClient {
    let secrets = GuardRule {
        servers: BTreeMap::from([(upstream.name.clone(), Action::Block)]),
        directions: vec![Direction::Result],
        ..GuardRule::everywhere(Action::Off)
    };
    let guards = Guards::compile(GuardSettings { secrets, ..GuardSettings::default() }).expect("guards");
    let guard_set = Some(GuardSet::new(guards));
    let world = GatewayClient::of(Era::Modern, vec![upstream]).await;
    let server: Arc<dyn ToolServer> = Arc::new(world.gateway.clone());
    let mut strict = world.before(server, Settings { guard_set, ..Settings::default() }, Era::Modern).await;
    strict.capabilities["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
    strict
}

fn token() -> String {
    format!("ghp{}{}", "_", "z9Y8x7W6v5U4".repeat(3))
}

fn assert_blocked(answer: &Value, world: &GatewayClient) {
    assert!(answer.to_string().contains("policy/BLOCKED"), "{answer}");
    assert!(!world.transcript.contains(&token()), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servers_own_rule_holds_from_the_first_call() {
    let mut world = strict_with(evil()).await;
    let answer = world.call("echo", json!({"said": token()})).await;
    assert_blocked(&answer, &world);
    world.gateway.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servers_own_rule_holds_for_what_its_tasks_come_to() {
    let script = Script::upstream(Era::Modern, |seen| {
        let mut task = json!({"resultType": "task", "taskId": "theirs", "status": "working", "ttlMs": 60_000,
            "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "pollIntervalMs": 50});
        if seen.method() != "tools/call" {
            task["resultType"] = json!("complete");
            task["status"] = json!("completed");
            task["result"] = json!({"content": [{"type": "text", "text": token()}]});
        }
        json_response(&json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": task}))
    })
    .await;
    let mut world = strict_with(script.settings("up")).await;
    let created = world.call("up__t", json!({})).await;
    let id = created["result"]["taskId"].as_str().unwrap_or_else(|| panic!("no task: {created}")).to_owned();
    for _ in 0..1_000 {
        let account = world.ask("tasks/get", json!({"taskId": id})).await;
        if account["result"]["status"] != "working" {
            return assert_blocked(&account, &world);
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    panic!("the task never ended");
}
