//! Drivers that die, hang, lose sessions, refuse commands and send invalid responses. Each case has an exact
//! reason, and no action is repeated.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::emulated_driver::{Act, EmulatedDriver, picture};
use crate::talk::{Talk, World, fault, phone, settings};

#[tokio::test]
async fn a_driver_that_dies_in_the_middle_leaves_the_effect_unknown_and_is_asked_once() {
    let driver = EmulatedDriver::start().await;
    let world = World::new(settings(vec![phone(&driver.url)]));
    let mut talk = Talk::on_phone(&world).await;
    driver.on("/click", Act::Cut);
    let died = talk.fails("tap_element", json!({"selector": "login"}), "device/DRIVER_DIED").await;
    assert_eq!(fault(&died)["effect"], "unknown");
    assert_eq!(driver.count("/click"), 1, "an action is sent once");
    talk.fails("take_screenshot", json!({}), "device/SESSION_GONE").await;
    let listed = talk.done("list_sessions", json!({})).await;
    assert_eq!(listed["sessions"][0]["state"], "lost");
    driver.when(|_, _| None);
    let recovered = talk.done("recover_session", json!({})).await;
    assert_eq!(recovered["session"], listed["sessions"][0]["session"], "the id stays");
    talk.done("tap_element", json!({"selector": "login"})).await;
    assert_eq!(driver.count("/click"), 2);
}

#[tokio::test]
async fn a_driver_that_hangs_is_given_up_and_the_next_has_its_turn() {
    let driver = EmulatedDriver::start().await;
    let mut with = settings(vec![phone(&driver.url)]);
    with.timeout = Duration::from_millis(2_500);
    let world = World::new(with);
    let mut talk = Talk::on_phone(&world).await;
    driver.on("/click", Act::Hang);
    let hung = talk.fails("tap_element", json!({"selector": "login"}), "device/TIMEOUT").await;
    assert_eq!(
        (&fault(&hung)["effect"], &fault(&hung)["facts"]["limit_s"]),
        (&json!("unknown"), &json!(2.5))
    );
    driver.on("/source", Act::Hang);
    let hung = talk.fails("get_screen_hierarchy", json!({}), "device/TIMEOUT").await;
    assert_eq!(fault(&hung)["effect"], "none", "looking changes nothing");
    driver.when(|_, _| None);
    talk.done("get_screen_hierarchy", json!({})).await;
}

#[tokio::test]
async fn a_session_that_expired_is_gone_and_holds_no_device() {
    let driver = EmulatedDriver::start().await;
    let world = World::new(settings(vec![phone(&driver.url)]));
    let mut talk = Talk::on_phone(&world).await;
    driver.on("/element", Act::Error(404, "invalid session id"));
    talk.fails("tap_element", json!({"selector": "login"}), "device/SESSION_GONE").await;
    driver.when(|_, _| None);
    talk.done("start_session", json!({})).await;
    talk.done("tap_element", json!({"selector": "login"})).await;
}

#[tokio::test]
async fn an_alert_in_the_way_is_named_and_answered() {
    let driver = EmulatedDriver::start().await;
    let world = World::new(settings(vec![phone(&driver.url)]));
    let mut talk = Talk::on_phone(&world).await;
    driver.when(|command, _| match command.rsplit('/').next() {
        Some("text") if command.ends_with("alert/text") => {
            Some(Act::Value(json!("Delete ```everything```?")))
        }
        Some("accept") => Some(Act::Value(json!(null))),
        _ => Some(Act::Error(500, "unexpected alert open")),
    });
    let result = talk.fails("tap_element", json!({"selector": "login"}), "device/ALERT_OPEN").await;
    assert_eq!(result["structuredContent"]["alert"], "Delete ```everything```?");
    let text = result["content"].to_string();
    assert!(text.contains("Delete '''everything'''?"), "it cannot leave its fence: {text}");
    let answered = talk.done("handle_alert", json!({"action": "accept"})).await;
    assert_eq!(answered["alert"], "Delete ```everything```?");
    driver.when(|_, _| None);
    talk.fails("handle_alert", json!({"action": "accept", "timeout": 0.2}), "device/NO_ALERT").await;
}

#[tokio::test]
async fn an_element_that_goes_stale_is_found_again_until_the_time_is_up() {
    let driver = EmulatedDriver::start().await;
    let world = World::new(settings(vec![phone(&driver.url)]));
    let mut talk = Talk::on_phone(&world).await;
    let times = Arc::new(AtomicUsize::new(0));
    let counted = times.clone();
    driver.when(move |command, _| {
        let is_early = command.ends_with("/click") && counted.fetch_add(1, Ordering::SeqCst) < 2;
        is_early.then_some(Act::Error(404, "stale element reference"))
    });
    talk.done("tap_element", json!({"selector": "login"})).await;
    assert_eq!(times.load(Ordering::SeqCst), 3);
    driver.on("/click", Act::Error(404, "stale element reference"));
    talk.fails("tap_element", json!({"selector": "login", "timeout": 0.3}), "device/STALE_ELEMENT").await;
    driver.on("/click", Act::Error(400, "element click intercepted"));
    let covered = talk
        .fails("tap_element", json!({"selector": "login", "timeout": 0.3}), "device/NOT_INTERACTABLE")
        .await;
    assert!(covered["structuredContent"]["screenshot"]["uri"].is_string(), "{covered}");
}

#[tokio::test]
async fn twenty_megabytes_of_screenshot_pass_and_more_than_the_cap_names_both_sizes() {
    const LARGE: usize = 20 << 20;
    let driver = EmulatedDriver::start().await;
    let world = World::new(settings(vec![phone(&driver.url)]));
    let mut talk = Talk::on_phone(&world).await;
    let whole = picture(LARGE);
    driver.on("/screenshot", Act::Value(json!(whole)));
    let taken = talk.done("take_screenshot", json!({})).await;
    assert_eq!(
        (&taken["screenshot"]["bytes"], &taken["inline"]),
        (&json!(LARGE), &json!(false)),
        "linked, not sent"
    );
    assert_eq!((&taken["width"], &taken["height"]), (&json!(1_170), &json!(2_532)));

    let mut with = settings(vec![phone(&driver.url)]);
    with.largest_answer = 1 << 20;
    let world = World::new(with);
    let mut talk = Talk::on_phone(&world).await;
    let refused = talk.fails("take_screenshot", json!({}), "device/TOO_LARGE").await;
    let announced = json!({"value": whole}).to_string();
    let facts = &fault(&refused)["facts"];
    assert_eq!((&facts["bytes"], &facts["limit_bytes"]), (&json!(announced.len()), &json!(1 << 20)));
    driver.on("/screenshot", Act::Chunked(announced.into_bytes()));
    let refused = talk.fails("take_screenshot", json!({}), "device/TOO_LARGE").await;
    let facts = &fault(&refused)["facts"];
    assert!(facts["bytes"].as_u64() > Some(1 << 20) && facts["bytes"].as_u64() < Some(2 << 20), "{facts}");
}

#[tokio::test]
async fn refused_connections_and_refused_requests_are_distinguished() {
    // No process listens on port 1.
    let mut with = settings(vec![phone("http://127.0.0.1:1")]);
    with.start_timeout = Duration::from_secs(5);
    let mut talk = Talk::begin(&World::new(with)).await;
    talk.fails("start_session", json!({}), "device/DRIVER_UNREACHABLE").await;

    let driver = EmulatedDriver::start().await;
    let world = World::new(settings(vec![phone(&driver.url)]));
    let mut talk = Talk::begin(&world).await;
    for act in [Act::Error(500, "session not created"), Act::Error(500, "unknown error")] {
        driver.on("POST /session", act);
        talk.fails("start_session", json!({}), "device/SESSION_NOT_CREATED").await;
    }
    driver.on("POST /session", Act::InvalidResponse("<html>MARK-page</html>"));
    talk.fails("start_session", json!({}), "device/BAD_ANSWER").await;
    driver.on("POST /session", Act::Value(json!({"sessionId": "../../status"})));
    talk.fails("start_session", json!({}), "device/BAD_ANSWER").await;
    assert!(!talk.received().contains("MARK"), "what the driver says stays with the operator");
    assert!(world.journal().contains("MARK-words"), "who finds it there");
    driver.when(|_, _| None);
    talk.done("start_session", json!({})).await;
    assert!(!talk.received().contains("MARK-path"), "and so do paths of its machine");
}

#[tokio::test]
async fn what_a_driver_cannot_do_is_said() {
    let driver = EmulatedDriver::start().await;
    let world = World::new(settings(vec![phone(&driver.url)]));
    let mut talk = Talk::on_phone(&world).await;
    driver.on("/orientation", Act::Error(405, "unknown method"));
    talk.fails("set_device_orientation", json!({"orientation": "landscape"}), "device/UNSUPPORTED").await;
    talk.fails("reset_app", json!({"app": "com.example"}), "device/UNSUPPORTED").await;
    driver.on("/element", Act::Error(400, "invalid selector"));
    let wrong = json!({"selector": "//[", "strategy": "xpath"});
    let refused = talk.fails("find_element", wrong, "device/INVALID_SELECTOR").await;
    assert_eq!(fault(&refused)["facts"]["wanted"], "//[");
    let both = json!({"selector": "login", "ref": "e1"});
    talk.fails("tap_element", both, "device/INVALID_VALUE").await;
    let denied = json!({"device": "phone", "capabilities": {"appium:app": "/etc/passwd"}});
    talk.fails("start_session", denied, "device/CAPABILITY_DENIED").await;
    talk.fails("start_session", json!({"device": "fone"}), "device/UNKNOWN_DEVICE").await;
}

#[tokio::test]
async fn what_was_begun_is_seen_through_when_its_caller_calls_it_off() {
    let driver = EmulatedDriver::start().await;
    let world = World::new(settings(vec![phone(&driver.url)]));
    let mut talk = Talk::on_phone(&world).await;
    driver.on("/click", Act::After(Duration::from_secs(5), json!(null)));
    let tap = talk.begin_call("tap_element", json!({"selector": "login"})).await;
    while driver.count("/click") == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let began = std::time::Instant::now();
    talk.cancel(tap).await;
    talk.done("take_screenshot", json!({})).await;
    assert!(began.elapsed() > Duration::from_secs(2), "the picture waits until the tap is over");
    assert_eq!(driver.count("/click"), 1);
}

#[tokio::test]
async fn an_unused_session_is_ended_at_the_driver_too() {
    let driver = EmulatedDriver::start().await;
    let mut with = settings(vec![phone(&driver.url)]);
    with.idle = Duration::from_millis(400);
    let world = World::new(with);
    let mut talk = Talk::on_phone(&world).await;
    while driver.count("DELETE /session/1") == 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    talk.fails("take_screenshot", json!({}), "device/NO_SESSION").await;
}
