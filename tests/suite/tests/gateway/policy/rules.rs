//! The operator's rules decide what callers see and call. A hidden name gets the same answer as an unknown one.

use std::sync::Arc;

use failwell_policy::{
    AccessPolicy, AccessRule, AccessRules, ArgumentCheck, CallerMatcher, CedarPolicies, ItemKind, ItemRules,
    Pattern,
};
use failwell_rpc::Era;
use failwell_toolbox::{Context, Info, Schema, Tool, ToolOutcome, ToolServer, Toolbox};
use serde_json::{Value, json};

use crate::client::{GatewayClient, evil, failed, text};

fn about(callers: &[&str], sort: ItemKind, items: ItemRules) -> AccessRule {
    let servers = vec![Pattern::new("ev")];
    AccessRule { callers: CallerMatcher::new(callers.iter().copied()), servers, sort, items }
}

fn patterns(texts: &[&str]) -> Vec<Pattern> {
    texts.iter().map(|text| Pattern::new(text)).collect()
}

fn policy(rules: Vec<AccessRule>) -> AccessPolicy {
    AccessPolicy::new(AccessRules::new(rules), None)
}

async fn with_policy(era: Era, policy: AccessPolicy) -> GatewayClient {
    let world = GatewayClient::of(era, vec![evil()]).await;
    assert!(world.gateway.set_policy(policy));
    world
}

async fn names(world: &mut GatewayClient, list: &str) -> Vec<String> {
    let answer = world.ask(&format!("{list}/list"), json!({})).await;
    let items = answer["result"][list].as_array().unwrap_or_else(|| panic!("no list in {answer}"));
    items.iter().map(|item| item["name"].as_str().expect("a name").to_owned()).collect()
}

/// A response without the members that differ in every response.
fn bare(mut answer: Value) -> Value {
    answer["id"] = Value::Null;
    let data = &mut answer["error"]["data"];
    for unique in ["ref", "request_id", "timestamp"] {
        data.as_object_mut().map(|members| members.remove(unique));
    }
    answer
}

/// A built-in server with these tools.
fn server(tools: &[&'static str]) -> Arc<dyn ToolServer> {
    let info = Info { name: "ev", title: "Ev", version: "1", instructions: "" };
    let nothing = |_: Value, _: Context| async { Ok(ToolOutcome::default()) };
    let tool = |name| Tool::new(name, "Does nothing.", nothing).expect("a tool");
    Arc::new(tools.iter().fold(Toolbox::new(info), |server, name| server.tool(tool(name))))
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_is_unknown_byte_for_byte() {
    for era in [Era::Session, Era::Modern] {
        let mut worlds = [GatewayClient::of(era, Vec::new()).await, GatewayClient::of(era, Vec::new()).await];
        let hide = ItemRules { hide: patterns(&["cra*"]), ..ItemRules::default() };
        worlds[0].gateway.set_policy(policy(vec![about(&[], ItemKind::Tools, hide)]));
        worlds[0].gateway.reload(Vec::new(), vec![("ev".to_owned(), server(&["echo", "crash", "crab"]))]);
        worlds[1].gateway.reload(Vec::new(), vec![("ev".to_owned(), server(&["echo"]))]);
        for (method, name) in [
            ("tools/list", ""),
            ("tools/call", "ev__crash"),
            ("tools/call", "crash"),
            ("tools/call", "ev__cra"),
        ] {
            let params = if name.is_empty() { json!({}) } else { json!({"name": name, "arguments": {}}) };
            let hidden = bare(worlds[0].ask(method, params.clone()).await);
            let unknown = bare(worlds[1].ask(method, params).await);
            assert_eq!(hidden.to_string(), unknown.to_string(), "{era:?} {method} {name}");
        }
        assert!(!worlds[0].transcript.contains("crab"), "not even as a name that is near");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_allowed_is_there_under_the_names_and_words_it_is_given() {
    let items = ItemRules {
        allow: Some(patterns(&["echo", "slow"])),
        rename: vec![("echo".to_owned(), "say".to_owned())],
        describe: vec![(Pattern::new("echo"), "Says it \"back\".".to_owned())],
        ..ItemRules::default()
    };
    let mut world = with_policy(Era::Session, policy(vec![about(&[], ItemKind::Tools, items)])).await;
    assert_eq!(names(&mut world, "tools").await, ["ev__say", "ev__slow"]);
    let listed = world.ask("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"][0]["description"], "Says it \"back\".");
    assert_eq!(text(&world.call("ev__say", json!({"a": 1})).await), r#"{"a":1}"#);
    assert_eq!(text(&world.call("say", json!({})).await), "{}");
    for old in ["ev__echo", "echo", "ev__crash"] {
        assert_eq!(failed(&world.call(old, json!({})).await).1, "mcp/UNKNOWN_TOOL", "{old}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_is_about_those_it_names() {
    let hide = || ItemRules { hide: patterns(&["*"]), ..ItemRules::default() };
    let mut others = with_policy(Era::Modern, policy(vec![about(&["key:*"], ItemKind::Tools, hide())])).await;
    assert!(names(&mut others, "tools").await.contains(&"ev__echo".to_owned()));
    let listed = others.ask("tools/list", json!({})).await;
    assert_eq!(listed["result"]["cacheScope"], "private", "somebody else sees another list: {listed}");
    let mut us = with_policy(Era::Modern, policy(vec![about(&["anonymous"], ItemKind::Tools, hide())])).await;
    assert_eq!(names(&mut us, "tools").await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_are_held_to_the_operators_schema() {
    let schema =
        json!({"properties": {"path": {"type": "string", "pattern": "^/data/"}}, "required": ["path"]});
    let schema = Schema::new(schema).expect("a schema");
    let check = ArgumentCheck::new(move |text| schema.violations_in(text));
    let items = ItemRules { arguments: vec![(Pattern::new("echo"), check)], ..ItemRules::default() };
    let mut world = with_policy(Era::Session, policy(vec![about(&[], ItemKind::Tools, items)])).await;
    assert_eq!(text(&world.call("ev__echo", json!({"path": "/data/x"})).await), r#"{"path":"/data/x"}"#);
    for (arguments, pointer) in [(json!({"path": "/etc/x"}), "/path"), (json!({}), "/path")] {
        let answer = world.call("ev__echo", arguments).await;
        assert_eq!(failed(&answer), (-32003, "policy/ARGUMENTS"));
        assert_eq!(answer["error"]["data"]["violations"][0]["pointer"], pointer, "{answer}");
        assert_eq!(answer["error"]["data"]["effect"], "none");
    }
    assert_eq!(
        text(&world.call("ev__slow", json!({"ms": 1})).await),
        "slept",
        "other tools are as they were"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn cedar_policies_decide_what_is_seen_and_called() {
    let text_of = r#"
        permit (principal == Caller::"anonymous", action in [Action::"see", Action::"call"], resource == Tool::"ev/echo");
        permit (principal, action == Action::"see", resource == Tool::"ev/slow");
    "#;
    let policies = CedarPolicies::parse(text_of).expect("a charter");
    let mut world =
        with_policy(Era::Session, AccessPolicy::new(AccessRules::default(), Some(policies))).await;
    assert_eq!(names(&mut world, "tools").await, ["ev__echo", "ev__slow"]);
    assert_eq!(text(&world.call("ev__echo", json!({})).await), "{}");
    assert_eq!(failed(&world.call("ev__slow", json!({})).await), (-32003, "policy/DENIED"));
    assert_eq!(failed(&world.call("ev__crash", json!({})).await).1, "mcp/UNKNOWN_TOOL");
}
