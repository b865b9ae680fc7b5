//! One device, one writer: a fair queue of limited length.

use std::time::Duration;

use serde_json::{Value, json};

use crate::emulated_driver::{Act, EmulatedDriver};
use crate::talk::{Talk, World, fault, phone, settings};

#[tokio::test]
async fn calls_are_made_one_after_the_other_in_the_order_they_came() {
    let driver = EmulatedDriver::start().await;
    let world = World::new(settings(vec![phone(&driver.url)]));
    let mut talk = Talk::on_phone(&world).await;
    driver.on("/value", Act::After(Duration::from_millis(600), json!(null)));
    let mut ids = Vec::new();
    for letter in ["a", "b", "c", "d"] {
        ids.push(talk.begin_call("enter_text", json!({"selector": "user", "text": letter})).await);
        // Requests sent at the same time may be read in any order, so the next one is sent later.
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    let mut answered = Vec::new();
    for _ in 0..4 {
        answered.push(talk.next_of(&ids).await.0);
    }
    assert_eq!(answered, ids, "nobody overtakes");
    assert_eq!(driver.last("/value")["text"], "d");
}

#[tokio::test]
async fn a_line_that_is_full_or_too_slow_says_so() {
    let driver = EmulatedDriver::start().await;
    let mut with = settings(vec![phone(&driver.url)]);
    (with.queue, with.queue_wait) = (1, Duration::from_secs(2));
    let world = World::new(with);
    let mut talk = Talk::on_phone(&world).await;
    driver.on("/click", Act::After(Duration::from_secs(8), json!(null)));
    let mut ids = vec![talk.begin_call("tap_element", json!({"selector": "login"})).await];
    while driver.count("/click") == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    for _ in 0..2 {
        ids.push(talk.begin_call("take_screenshot", json!({})).await);
    }
    let mut whys: Vec<Value> = Vec::new();
    for _ in 0..2 {
        let (_, answer) = talk.next_of(&ids).await;
        assert_eq!(fault(&answer["result"])["reason"], "device/BUSY", "{answer}");
        whys.push(fault(&answer["result"])["facts"]["why"].clone());
    }
    assert_eq!(whys, ["too many wait for it already", "the calls before this one take too long"]);
    let (_, tapped) = talk.next_of(&ids).await;
    assert!(tapped["result"]["isError"].is_null(), "{tapped}");
}

#[tokio::test]
async fn a_device_in_use_is_waited_for_or_refused() {
    let driver = EmulatedDriver::start().await;
    let world = World::new(settings(vec![phone(&driver.url)]));
    let mut first = Talk::on_phone(&world).await;
    let mut second = Talk::begin(&world).await;
    second.fails("start_session", json!({}), "device/BUSY").await;
    let waiting = second.begin_call("start_session", json!({"wait_s": 60})).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(driver.count("POST /session"), 1);
    first.done("stop_session", json!({})).await;
    let (_, started) = second.next_of(&[waiting]).await;
    assert_eq!(started["result"]["structuredContent"]["state"], "open", "{started}");
    assert_eq!((driver.count("DELETE /session/1"), driver.count("POST /session")), (1, 2));
}

#[tokio::test]
async fn several_sessions_are_never_guessed_at() {
    let driver = EmulatedDriver::start().await;
    let mut device = phone(&driver.url);
    device.sessions = 2;
    let world = World::new(settings(vec![device]));
    let mut talk = Talk::on_phone(&world).await;
    talk.done("start_session", json!({})).await;
    talk.fails("take_screenshot", json!({}), "device/WHICH_SESSION").await;
    let listed = talk.done("list_sessions", json!({})).await;
    let id = listed["sessions"][0]["session"].clone();
    talk.done("take_screenshot", json!({"session": id})).await;
    talk.fails("take_screenshot", json!({"session": "s0"}), "device/UNKNOWN_SESSION").await;
    talk.done("stop_session", json!({"session": id})).await;
    talk.fails("take_screenshot", json!({"session": id}), "device/UNKNOWN_SESSION").await;
    talk.done("take_screenshot", json!({})).await;
}

#[tokio::test]
async fn a_session_of_another_caller_is_unknown() {
    let driver = EmulatedDriver::start().await;
    let world = World::new(settings(vec![phone(&driver.url)]));
    let mut talk = Talk::on_phone(&world).await;
    let id = talk.done("list_sessions", json!({})).await["sessions"][0]["session"].clone();
    for (arguments, reason) in [
        (json!({"session": id}), "device/UNKNOWN_SESSION"),
        (json!({"session": "s0"}), "device/UNKNOWN_SESSION"),
        (json!({}), "device/NO_SESSION"),
    ] {
        for tool in ["take_screenshot", "stop_session", "recover_session", "get_report", "stop_recording"] {
            let refused = world.stranger(tool, arguments.clone()).await;
            assert_eq!(refused["error"]["data"]["reason"], json!(reason), "{tool}: {refused}");
        }
    }
    assert_eq!(world.stranger("list_sessions", json!({})).await["result"]["sessions"], json!([]));
    talk.done("take_screenshot", json!({})).await;
}
