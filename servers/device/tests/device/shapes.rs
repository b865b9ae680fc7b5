//! Every tool has schemas, and its results match them.

use serde_json::{Value, json};

use crate::emulated_driver::EmulatedDriver;
use crate::oracle::agree_on_mutations;
use crate::talk::{Talk, World, phone, settings};

#[tokio::test]
async fn every_tool_has_schemas_and_refuses_what_they_do_not_know() {
    let driver = EmulatedDriver::start().await;
    let world = World::new(settings(vec![phone(&driver.url)]));
    let mut talk = Talk::on_phone(&world).await;
    let before = driver.commands().len();
    let listed = talk.ask("tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    assert!(tools.len() >= 40, "{}", tools.len());
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{name}");
            jsonschema::validator_for(&tool[schema])
                .unwrap_or_else(|error| panic!("{name} {schema}: {error}"));
            agree_on_mutations(name, &tool[schema]);
        }
        assert!(
            tool["title"].is_string() && tool["description"].as_str().is_some_and(|it| it.ends_with('.')),
            "{name}"
        );
        for (parameter, schema) in tool["inputSchema"]["properties"].as_object().into_iter().flatten() {
            assert_ne!(schema, &Value::Bool(true), "{name}: {parameter} takes anything");
        }
        let answer = talk.call(name, json!({"surprise": 1})).await;
        let reason = &answer["_meta"]["dev.failwell/fault"]["reason"];
        assert_eq!(reason, "mcp/BAD_ARGUMENTS", "{name}: {answer}");
    }
    assert_eq!(driver.commands().len(), before, "nothing reached the driver");
}

#[tokio::test]
async fn without_a_device_every_tool_says_what_is_missing() {
    let world = World::new(settings(Vec::new()));
    let mut talk = Talk::begin(&world).await;
    assert_eq!(talk.done("list_devices", json!({})).await["devices"], json!([]));
    talk.fails("start_session", json!({}), "device/NOT_CONFIGURED").await;
    talk.fails("take_screenshot", json!({}), "device/NO_SESSION").await;
}
