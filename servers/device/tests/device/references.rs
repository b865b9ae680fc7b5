//! Stable references, batches, recordings and reports.

use serde_json::{Value, json};

use crate::emulated_driver::{Act, EmulatedDriver, SCREEN};
use crate::talk::{Talk, World, fault, phone, settings};

fn reference(seen: &Value, id: &str) -> String {
    let elements = seen["elements"].as_array().unwrap();
    let found = elements.iter().find(|it| it["accessibility_id"] == id || it["name"] == id);
    found.unwrap_or_else(|| panic!("{id} in {seen}"))["ref"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_reference_survives_looks_and_actions_until_its_element_is_gone() {
    let driver = EmulatedDriver::start().await;
    let world = World::new(settings(vec![phone(&driver.url)]));
    let mut talk = Talk::on_phone(&world).await;
    let seen = talk.done("get_screen_hierarchy", json!({})).await;
    let (login, cancel) = (reference(&seen, "login"), reference(&seen, "cancel"));
    // A new element above them, and one of them removed.
    let changed = SCREEN
        .replace(
            "<XCUIElementTypeTextField",
            "<XCUIElementTypeButton name=\"news\" label=\"News\"/><XCUIElementTypeTextField",
        )
        .replace("name=\"cancel\" label=\"Cancel\"", "name=\"other\" label=\"Other\"");
    driver.when(move |command, _| command.ends_with("/source").then(|| Act::Value(json!(changed))));
    let looks = driver.count("/source");
    talk.done("tap_element", json!({"ref": login})).await;
    assert_eq!(driver.count("/source"), looks, "nothing was done since the look, so it still holds");
    assert_eq!(driver.last("/element")["value"], "login");
    talk.done("tap_element", json!({"ref": login})).await;
    assert_eq!(driver.count("/source"), looks + 1, "after an action it is looked up anew");
    let gone =
        talk.fails("tap_element", json!({"ref": cancel, "timeout": 0.2}), "device/STALE_REFERENCE").await;
    assert!(fault(&gone)["hint"].as_str().unwrap().contains("get_screen_hierarchy"), "{gone}");
    talk.fails("tap_element", json!({"ref": "e99999", "timeout": 0}), "device/STALE_REFERENCE").await;
    let seen = talk.done("get_screen_hierarchy", json!({})).await;
    assert_eq!(reference(&seen, "login"), login, "the same element keeps its reference");
}

#[tokio::test]
async fn a_failed_action_shows_the_screen_and_what_comes_nearest() {
    let driver = EmulatedDriver::start().await;
    let world = World::new(settings(vec![phone(&driver.url)]));
    let mut talk = Talk::on_phone(&world).await;
    let failed = talk
        .fails("tap_element", json!({"selector": "logn", "timeout": 0.2}), "device/NO_SUCH_ELEMENT")
        .await;
    let object = &failed["structuredContent"];
    assert_eq!(object["nearest"][0]["accessibility_id"], "login", "{failed}");
    let uri = object["screenshot"]["uri"].as_str().unwrap();
    let read = talk.ask("resources/read", json!({"uri": uri})).await;
    assert_eq!(read["result"]["contents"][0]["blob"], crate::emulated_driver::PIXEL, "{read}");
    let near = object["nearest"][0]["ref"].clone();
    talk.done("tap_element", json!({"ref": near})).await;
}

#[tokio::test]
async fn an_assertion_that_does_not_hold_is_a_finding() {
    let driver = EmulatedDriver::start().await;
    let world = World::new(settings(vec![phone(&driver.url)]));
    let mut talk = Talk::on_phone(&world).await;
    for (tool, arguments, holds) in [
        ("assert_element_exists", json!({"selector": "login"}), true),
        ("assert_element_exists", json!({"selector": "logn", "timeout": 0.1}), false),
        ("assert_element_exists", json!({"selector": "logn", "exists": false}), true),
        (
            "assert_element_property",
            json!({"selector": "login", "property": "text", "equals": "Log in"}),
            true,
        ),
        (
            "assert_element_property",
            json!({"selector": "login", "property": "text", "contains": "out", "timeout": 0.1}),
            false,
        ),
        (
            "assert_element_property",
            json!({"selector": "login", "property": "enabled", "equals": "true"}),
            true,
        ),
        ("wait_for_condition", json!({"selector": "login", "condition": "visible"}), true),
        ("wait_for_condition", json!({"selector": "login", "condition": "gone", "timeout": 0.1}), false),
    ] {
        let shown = arguments.to_string();
        let checked = talk.done(tool, arguments).await;
        assert_eq!(checked["holds"], json!(holds), "{tool} {shown}: {checked}");
        assert_eq!(checked["screenshot"].is_object(), !holds, "a picture of what is wrong: {checked}");
    }
    let report = talk.done("get_report", json!({"title": "<Shop>"})).await;
    assert_eq!((&report["passed"], &report["failed"], &report["broken"]), (&json!(5), &json!(3), &json!(0)));
    for (uri, part) in [(&report["html"]["uri"], "&lt;Shop&gt;"), (&report["junit"]["uri"], "<testsuite")] {
        let read = talk.ask("resources/read", json!({"uri": uri})).await;
        assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains(part), "{read}");
    }
}

#[tokio::test]
async fn a_batch_is_read_before_its_first_step_and_stops_where_it_must() {
    let driver = EmulatedDriver::start().await;
    let world = World::new(settings(vec![phone(&driver.url)]));
    let mut talk = Talk::on_phone(&world).await;
    let tap =
        |selector: &str| json!({"tool": "tap_element", "arguments": {"selector": selector, "timeout": 0.1}});
    for (wrong, why) in [
        (json!({"tool": "tap_elment"}), "there is no such tool"),
        (json!({"tool": "run_steps"}), "there is no such tool"),
        (json!({"tool": "tap_element", "arguments": {"selektor": "x"}}), "its arguments do not fit the tool"),
        (
            json!({"tool": "tap_element", "arguments": {"session": "s1", "selector": "x"}}),
            "a step has no session of its own",
        ),
    ] {
        let refused =
            talk.fails("run_steps", json!({"steps": [tap("login"), wrong]}), "device/BAD_RECORDING").await;
        let facts = &fault(&refused)["facts"];
        assert_eq!((&facts["number"], &facts["why"]), (&json!(2), &json!(why)));
    }
    assert_eq!(driver.count("/click"), 0, "nothing was done");
    let unsure = json!({"tool": "assert_element_exists", "arguments": {"selector": "nope", "timeout": 0.1}});
    let steps = json!([tap("login"), unsure, tap("missing"), tap("cancel")]);
    let stopped = talk.fails("run_steps", json!({"steps": steps}), "device/STEP_FAILED").await;
    assert_eq!(fault(&stopped)["effect"], "partial");
    let results = &stopped["structuredContent"];
    let counts = ["passed", "failed", "broken", "skipped"].map(|name| results[name].as_u64().unwrap());
    assert_eq!(counts, [1, 1, 1, 1], "{results}");
    assert_eq!(results["steps"][2]["error"]["reason"], "device/NO_SUCH_ELEMENT");
    let all =
        talk.fails("run_steps", json!({"steps": steps, "keep_going": true}), "device/STEP_FAILED").await;
    assert_eq!(all["structuredContent"]["passed"], 2);
    let found =
        talk.done("run_steps", json!({"steps": [unsure, tap("login")], "stop_on_finding": true})).await;
    assert_eq!((&found["failed"], &found["skipped"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn a_recording_holds_selectors_and_no_secrets_and_plays_again() {
    let driver = EmulatedDriver::start().await;
    let world = World::new(settings(vec![phone(&driver.url)]));
    let mut talk = Talk::on_phone(&world).await;
    talk.fails("stop_recording", json!({}), "device/NOT_RECORDING").await;
    let seen = talk.done("get_screen_hierarchy", json!({})).await;
    talk.done("start_recording", json!({})).await;
    talk.done("enter_text", json!({"selector": "user", "text": "MARK-secret", "secret_name": "pin"})).await;
    talk.done("tap_element", json!({"ref": reference(&seen, "login")})).await;
    talk.fails("tap_element", json!({"selector": "nothing", "timeout": 0}), "device/NO_SUCH_ELEMENT").await;
    let recorded = talk.done("stop_recording", json!({})).await;
    let steps = recorded["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 2, "what failed is not repeated: {recorded}");
    assert_eq!(steps[1]["arguments"]["selector"], "login", "a reference means nothing on another day");
    assert_eq!(steps[0]["arguments"]["text"], "${pin}");
    let uri = &recorded["recording"]["uri"];
    talk.fails("replay", json!({"uri": uri}), "device/BAD_RECORDING").await;
    let clicks = driver.count("/click");
    let played = talk.done("replay", json!({"uri": uri, "values": {"pin": "1234"}})).await;
    assert_eq!((&played["passed"], driver.count("/click")), (&json!(2), clicks + 1));
    assert_eq!(driver.last("/value")["text"], "1234");
    talk.fails("replay", json!({"uri": "resource://recordings/none.json"}), "device/KEPT_NOTHING").await;
    talk.done("get_report", json!({})).await;
    assert!(!talk.received().contains("MARK-secret"), "neither recording nor report holds it");
}
