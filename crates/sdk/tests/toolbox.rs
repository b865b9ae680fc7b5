//! A stranger's server, with state, reasons of its own and a question, through the test client.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use failwell_sdk::{
    Content, Context, Effect, Fault, Info, JsonSchema, Question, TestClient, TestSession, Tool, Toolbox,
    TypedOutcome, with_state,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

mod reason {
    failwell_sdk::reasons! {
        OVEN_COLD = "bakery/OVEN_COLD" {
            Precondition, ToolFailed, Server,
            title: "the oven is cold",
            detail: "the oven has {degrees} degrees",
            hint: "call preheat first, then bake again",
            about: "Bread is baked at 220 degrees or more.",
        }
    }
}

#[derive(Default)]
struct Bakery {
    degrees: AtomicU64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Preheat {
    /// How hot, in degrees.
    #[schemars(range(min = 50, max = 300))]
    degrees: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Bake {}

#[derive(Serialize, JsonSchema)]
struct Oven {
    degrees: u64,
}

async fn preheat(bakery: Arc<Bakery>, given: Preheat, _cx: Context) -> Result<Oven, Fault> {
    bakery.degrees.store(given.degrees, Ordering::Relaxed);
    Ok(Oven { degrees: given.degrees })
}

async fn bake(bakery: Arc<Bakery>, _: Bake, cx: Context) -> Result<Oven, Fault> {
    let degrees = bakery.degrees.load(Ordering::Relaxed);
    if degrees < 220 {
        return Err(Fault::new(&reason::OVEN_COLD).fact("degrees", degrees).with_effect(Effect::None));
    }
    let schema = json!({"type": "object", "properties": {"loaves": {"type": "integer"}}});
    let answers = cx.ask(&[("loaves", Question::form("How many loaves?", schema))]).await?;
    answers.accepted("loaves").ok_or_else(|| Fault::new(&reason::OVEN_COLD).fact("degrees", 0u64))?;
    Ok(Oven { degrees })
}

async fn look(bakery: Arc<Bakery>, _: Bake, _cx: Context) -> Result<TypedOutcome<Oven>, Fault> {
    let degrees = bakery.degrees.load(Ordering::Relaxed);
    let outcome = TypedOutcome::new(Oven { degrees }, format!("the oven has {degrees} degrees"));
    Ok(match degrees {
        0 => outcome.failed(Fault::new(&reason::OVEN_COLD).fact("degrees", degrees)),
        _ => outcome.with(Content::text("it glows")),
    })
}

fn toolbox() -> Result<Toolbox, Fault> {
    let bakery = Arc::new(Bakery::default());
    Ok(Toolbox::new(Info::new("bakery", "1.0.0"))
        .reasons(reason::REASONS)
        .tool(Tool::typed("preheat", "Heats the oven.", with_state(&bakery, preheat))?.idempotent())
        .tool(Tool::typed("bake", "Bakes bread.", with_state(&bakery, bake))?)
        .tool(Tool::typed_outcome("look", "Looks into the oven.", with_state(&bakery, look))?.read_only()))
}

#[tokio::test]
async fn tools_share_state_and_fail_with_reasons_of_their_own() {
    let client = TestClient::new(toolbox().expect("a toolbox")).expect("a client");
    let cold = client.call("bake", json!({})).await.expect("an answer");
    assert!(cold.is_error);
    assert_eq!(cold.fault["reason"], "bakery/OVEN_COLD", "{}", cold.fault);
    assert_eq!((&cold.fault["effect"], &cold.fault["facts"]["degrees"]), (&json!("none"), &json!(0)));
    assert!(cold.text.starts_with("the oven has 0 degrees\nhelp: call preheat first"), "{}", cold.text);
    let hot = client.call("preheat", json!({"degrees": 230})).await.expect("an answer");
    assert_eq!((hot.is_error, hot.structured), (false, json!({"degrees": 230})));
    let client = client.answering("loaves", json!({"action": "accept", "content": {"loaves": 3}}));
    assert_eq!(client.call("bake", json!({})).await.expect("an answer").structured, json!({"degrees": 230}));
}

#[tokio::test]
async fn a_typed_result_has_its_own_text_also_when_it_failed() {
    let client = TestClient::new(toolbox().expect("a toolbox")).expect("a client");
    let listed = client.tools().await.expect("a list");
    let look = listed.iter().find(|tool| tool["name"] == "look").expect("the tool");
    assert_eq!(look["outputSchema"]["required"], json!(["degrees"]));
    let cold = client.call("look", json!({})).await.expect("an answer");
    assert_eq!((cold.is_error, &cold.structured), (true, &json!({"degrees": 0})));
    assert_eq!(cold.fault["reason"], "bakery/OVEN_COLD", "{}", cold.fault);
    client.call("preheat", json!({"degrees": 230})).await.expect("an answer");
    let hot = client.call("look", json!({})).await.expect("an answer");
    assert_eq!((hot.is_error, hot.structured), (false, json!({"degrees": 230})));
    assert_eq!(hot.text, "the oven has 230 degrees\nit glows");
}

#[tokio::test]
async fn all_errors_in_arguments_are_reported_at_once() {
    let client = TestClient::new(toolbox().expect("a toolbox")).expect("a client");
    let wrong = client.call("preheat", json!({"degrees": 500, "oven": 2})).await.expect("an answer");
    assert_eq!(wrong.fault["reason"], "mcp/BAD_ARGUMENTS");
    let pointers: Vec<&str> = wrong.fault["violations"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|violation| violation["pointer"].as_str())
        .collect();
    assert_eq!(pointers.len(), 2, "{}", wrong.fault);
    let unknown = client.call("preheet", json!({})).await.expect("an answer");
    assert_eq!(unknown.fault["reason"], "mcp/UNKNOWN_TOOL");
    let names: Vec<_> =
        client.tools().await.expect("a list").iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["preheat", "bake", "look"]);
}

#[tokio::test]
async fn a_session_sees_questions_and_concurrent_calls() {
    let capabilities = json!({"elicitation": {}});
    let mut session =
        TestSession::start(toolbox().expect("a toolbox"), capabilities).await.expect("a session");
    assert!(session.call("bake", json!({})).await.expect("an answer").is_error);
    session.call("preheat", json!({"degrees": 230})).await.expect("an answer");
    let bake = session.begin("tools/call", json!({"name": "bake", "arguments": {}})).await.expect("sent");
    let question = session.receive().await.expect("a question");
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let ping = session.begin("ping", json!({})).await.expect("sent");
    assert_eq!(session.response_to(&[bake, ping]).await.expect("a response").0, ping);
    let answer = json!({"action": "accept", "content": {"loaves": 3}});
    session.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer})).await.expect("sent");
    let (_, baked) = session.response_to(&[bake]).await.expect("a response");
    assert_eq!(baked["result"]["structuredContent"], json!({"degrees": 230}), "{baked}");
    assert!(session.received().contains("the oven has 0 degrees"));
}

#[tokio::test]
async fn two_tools_of_one_name_do_not_start() {
    async fn answer(_: Bake, _cx: Context) -> Result<Oven, Fault> {
        Ok(Oven { degrees: 0 })
    }
    let tool = |name| Tool::typed(name, "Answers.", answer).expect("a tool");
    for (second, starts) in [("look", false), ("bake", false), ("Look", true)] {
        let toolbox = toolbox().expect("a toolbox").tool(tool(second));
        match TestClient::new(toolbox) {
            Ok(_) => assert!(starts, "{second}"),
            Err(fault) => {
                let text = fault.operator().to_string();
                assert!(!starts && text.contains(&format!("two tools with the name {second}")), "{text}");
            }
        }
    }
}
