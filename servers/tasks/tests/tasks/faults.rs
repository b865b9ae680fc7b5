//! Failures of the service: the reason, the retry advice, the effect, and no task added twice.

use failwell_emulator_rtm::{Fault, FaultKind, Permission};
use serde_json::{Value, json};

use super::world::World;

/// The expected fault.
struct ExpectedFault {
    reason: &'static str,
    retry: &'static str,
    effect: &'static str,
}

const fn expected(reason: &'static str, retry: &'static str, effect: &'static str) -> ExpectedFault {
    ExpectedFault { reason, retry, effect }
}

fn check(name: &str, failure: &Value, expected: &ExpectedFault) {
    let found = (failure["reason"].as_str(), failure["retry"].as_str(), failure["effect"].as_str());
    assert_eq!(
        found,
        (Some(expected.reason), Some(expected.retry), Some(expected.effect)),
        "{name}: {failure}"
    );
}

/// The journal line of a failure, with the fields of the tasks server's record (S2 in docs/sources.md).
fn check_line(world: &World, reason: &str) {
    let journal = world.journal();
    let line = journal
        .lines()
        .rev()
        .find(|line| line.contains(reason))
        .unwrap_or_else(|| panic!("{reason} in {journal}"));
    let line: Value = serde_json::from_str(line).expect("JSON");
    for field in [
        "timestamp",
        "level",
        "message",
        "service",
        "request_id",
        "connection_id",
        "error_code",
        "error_message",
        "error_details",
        "stack_trace",
    ] {
        assert!(line.get(field).is_some(), "{field} in {line}");
    }
    assert_eq!(line["reason"], json!(reason));
    let level = match reason {
        "tasks/RTM_UNAVAILABLE" | "tasks/RTM_TIMEOUT" | "tasks/BAD_ANSWER" => "warn",
        _ => "info",
    };
    assert_eq!(line["level"], json!(level), "{line}");
}

const ADD: &str = "rtm.tasks.add";

#[tokio::test]
async fn an_addition_that_fails_is_looked_up_and_never_made_twice() {
    let unavailable = expected("tasks/RTM_UNAVAILABLE", "after_ms", "none");
    let strange = expected("tasks/BAD_ANSWER", "once", "none");
    let refuse = || FaultKind::Refuse { code: 105, message: "Service currently unavailable".to_owned() };
    // A fault before the task is added is a failure. A fault after it is resolved by a lookup.
    for (name, kind, before) in [
        ("503", FaultKind::Unavailable, &unavailable),
        ("105", refuse(), &unavailable),
        ("reset", FaultKind::Reset, &unavailable),
        ("a page", FaultKind::Html, &strange),
        ("500", FaultKind::Status { status: 500 }, &strange),
    ] {
        let world = World::new().await;
        world.control().fail(Fault::new(kind.clone()).on(ADD).times(1));
        let failure = world.call("rtm_createTask", json!({"name": "Milk"})).await.expect_err(name);
        check(name, &failure, before);
        check_line(&world, before.reason);
        assert_eq!(world.count("Milk"), 0, "{name}");
        world.control().fail(Fault::new(kind).on(ADD).times(1).after());
        let made = world.done("rtm_createTask", json!({"name": "Milk"})).await;
        assert_eq!((&made["read_back"], &made["task"]["name"]), (&json!(true), &json!("Milk")), "{name}");
        assert_eq!(world.count("Milk"), 1, "{name}: once, though the answer was lost");
        // A change found by lookup can be undone as well.
        world.done("rtm_undo", json!({})).await;
        assert_eq!(world.count("Milk"), 0, "{name}");
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_off_or_takes_too_long_is_looked_up_too() {
    for kind in [
        FaultKind::Truncate,
        FaultKind::SlowBody { milliseconds: 60_000 },
        FaultKind::Delay { milliseconds: 60_000 },
    ] {
        let world = World::new().await;
        world.control().fail(Fault::new(kind.clone()).on(ADD).times(1));
        let made = world.done("rtm_createTask", json!({"name": "Milk"})).await;
        assert_eq!(made["read_back"], json!(true), "{kind:?}");
        assert_eq!(world.count("Milk"), 1, "{kind:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_looked_up_is_unknown_and_looked_up_before_it_is_tried_again() {
    let world = World::new().await;
    world.done("rtm_findTasks", json!({})).await;
    world.control().fail(Fault::new(FaultKind::Reset).on(ADD).times(1).after());
    world.control().fail(Fault::new(FaultKind::Unavailable).on("rtm.tasks.getList"));
    let failure = world.call("rtm_createTask", json!({"name": "Milk"})).await.expect_err("unknown");
    check("unknown", &failure, &expected("tasks/RTM_UNAVAILABLE", "after_ms", "unknown"));
    assert!(failure["hint"].as_str().is_some_and(|hint| hint.contains("rtm_findTasks")), "{failure}");
    // The service is still unreachable, so the change is not sent again.
    let again = world.call("rtm_createTask", json!({"name": "Milk"})).await.expect_err("unknown");
    check("still unknown", &again, &expected("tasks/RTM_UNAVAILABLE", "after_ms", "unknown"));
    world.control().clear_faults();
    let found = world.done("rtm_createTask", json!({"name": "Milk"})).await;
    assert_eq!(found["read_back"], json!(true));
    assert_eq!(world.count("Milk"), 1, "no duplicate, ever");
    // The change is confirmed now. The same name again means another task.
    world.done("rtm_createTask", json!({"name": "Milk"})).await;
    assert_eq!(world.count("Milk"), 2);
}

#[tokio::test]
async fn other_changes_are_looked_up_as_well() {
    for (tool, method, arguments) in [
        ("rtm_completeTask", "rtm.tasks.complete", json!({"taskId": "Milk"})),
        ("rtm_updateTask", "rtm.tasks.setName", json!({"task": "Milk", "name": "Oat milk"})),
        ("rtm_updateTask", "rtm.tasks.setDueDate", json!({"task": "Milk", "due": "2030-01-01"})),
        ("rtm_updateTask", "rtm.tasks.setPriority", json!({"task": "Milk", "priority": "1"})),
        ("rtm_tagTask", "rtm.tasks.addTags", json!({"task": "Milk", "add": ["x"]})),
        ("rtm_addNote", "rtm.tasks.notes.add", json!({"task": "Milk", "text": "note"})),
        ("rtm_moveTask", "rtm.tasks.moveTo", json!({"task": "Milk", "to": "Work"})),
        ("rtm_postponeTask", "rtm.tasks.postpone", json!({"task": "Milk"})),
        ("rtm_createList", "rtm.lists.add", json!({"name": "Garden"})),
        ("rtm_renameList", "rtm.lists.setName", json!({"list": "Work", "name": "Job"})),
        ("rtm_archiveList", "rtm.lists.archive", json!({"list": "Work"})),
        ("rtm_deleteTask", "rtm.tasks.delete", json!({"task": "Milk"})),
        ("rtm_deleteList", "rtm.lists.delete", json!({"list": "Work"})),
    ] {
        let world = World::new().await;
        world.done("rtm_createList", json!({"name": "Work"})).await;
        world.add("Milk ^2029-01-01").await;
        world.control().fail(Fault::new(FaultKind::Reset).on(method).times(1));
        let failure = world.call(tool, arguments.clone()).await.expect_err(tool);
        check(method, &failure, &expected("tasks/RTM_UNAVAILABLE", "after_ms", "none"));
        world.control().fail(Fault::new(FaultKind::Reset).on(method).times(1).after());
        let made = world.done(tool, arguments).await;
        assert_eq!(made["read_back"], json!(true), "{method}");
        let committed =
            world.control().calls().iter().filter(|call| call.method == method && call.committed).count();
        let expected = if method == "rtm.lists.add" { 2 } else { 1 };
        assert_eq!(committed, expected, "{method}");
    }
}

#[tokio::test]
async fn a_change_of_several_pieces_says_that_some_were_made() {
    let world = World::new().await;
    world.add("Milk").await;
    world.control().fail(Fault::new(FaultKind::Unavailable).on("rtm.tasks.setPriority"));
    let failure = world
        .call("rtm_updateTask", json!({"task": "Milk", "name": "Oat milk", "priority": "1"}))
        .await
        .expect_err("partial");
    check("partial", &failure, &expected("tasks/RTM_UNAVAILABLE", "after_ms", "partial"));
    world.control().clear_faults();
    world.done("rtm_undo", json!({})).await;
    assert_eq!((world.count("Milk"), world.count("Oat milk")), (1, 0));
}

#[tokio::test]
async fn reads_are_tried_again_within_their_budget() {
    let unavailable = expected("tasks/RTM_UNAVAILABLE", "after_ms", "none");
    let refuse = || FaultKind::Refuse { code: 105, message: String::new() };
    for (name, kind, few, many, expected) in [
        ("503", FaultKind::Unavailable, 3, 4, &unavailable),
        ("105", refuse(), 3, 4, &unavailable),
        ("reset", FaultKind::Reset, 3, 4, &unavailable),
        ("cut off", FaultKind::Truncate, 3, 4, &unavailable),
        ("a page", FaultKind::Html, 1, 2, &expected("tasks/BAD_ANSWER", "once", "none")),
        (
            "late",
            FaultKind::SlowBody { milliseconds: 60_000 },
            0,
            1,
            &expected("tasks/RTM_TIMEOUT", "after_change", "none"),
        ),
    ] {
        let world = World::new().await;
        world.add("Milk").await;
        if few > 0 {
            world.control().fail(Fault::new(kind.clone()).on("rtm.tasks.getList").times(few));
            assert_eq!(world.done("rtm_findTasks", json!({})).await["total"], json!(1), "{name}");
        }
        world.control().fail(Fault::new(kind).on("rtm.tasks.getList").times(many));
        let failure = world.call("rtm_findTasks", json!({})).await.expect_err(name);
        check(name, &failure, expected);
        check_line(&world, expected.reason);
        assert_eq!(world.done("rtm_findTasks", json!({})).await["total"], json!(1), "{name}: over");
    }
}

#[tokio::test]
async fn strange_shapes_are_understood() {
    for kind in [FaultKind::Flip, FaultKind::UnknownFields] {
        let world = World::new().await;
        world.control().fail(Fault::new(kind.clone()));
        world.done("rtm_createList", json!({"name": "Work"})).await;
        let made = world.done("rtm_createTask", json!({"name": "Milk #a !2", "list": "Work"})).await;
        assert_eq!(
            (&made["task"]["tags"], &made["task"]["priority"]),
            (&json!(["a"]), &json!("2")),
            "{kind:?} {made}"
        );
        world.done("rtm_addNote", json!({"task": "Milk", "text": "note"})).await;
        let changed = world
            .done("rtm_updateTask", json!({"task": "Milk", "repeat": "every day", "due": "tomorrow"}))
            .await;
        assert!(
            changed["task"]["repeat"].is_string() && changed["task"]["due"].is_string(),
            "{kind:?} {changed}"
        );
        assert_eq!(changed["task"]["notes"][0]["text"], json!("note"), "{kind:?}");
        world.done("rtm_undo", json!({"count": 3})).await;
        assert_eq!(world.done("rtm_findTasks", json!({})).await["total"], json!(0), "{kind:?}");
        assert_eq!(world.done("rtm_getAuthStatus", json!({})).await["username"], json!("dana"), "{kind:?}");
    }
}

#[tokio::test]
async fn a_login_that_is_refused_or_too_small_is_stored_and_reported() {
    let world = World::new().await;
    world.add("Milk").await;
    let token = world.token();
    assert!(world.control().set_permission(&token, Permission::Read));
    let failure = world.refused("rtm_createTask", json!({"name": "x"}), "tasks/NOT_PERMITTED").await;
    check("permission", &failure, &expected("tasks/NOT_PERMITTED", "never", "none"));
    check_line(&world, "tasks/NOT_PERMITTED");
    assert_eq!(world.done("rtm_findTasks", json!({})).await["total"], json!(1));
    assert!(world.control().revoke(&token));
    let failure = world.refused("rtm_findTasks", json!({}), "tasks/LOGIN_EXPIRED").await;
    check("expired", &failure, &expected("tasks/LOGIN_EXPIRED", "after_change", "none"));
    check_line(&world, "tasks/LOGIN_EXPIRED");
    assert_eq!(world.token(), token, "nobody but a person takes it away");
    assert_eq!(world.done("rtm_getAuthStatus", json!({})).await["authenticated"], json!(false));
    world.log_in(Permission::Delete).await;
    assert_eq!(world.done("rtm_findTasks", json!({})).await["total"], json!(1));
}

#[tokio::test]
async fn no_connection_and_a_forgotten_timeline() {
    let mut world = World::new().await;
    world.add("Milk").await;
    world
        .control()
        .fail(Fault::new(FaultKind::Refuse { code: 300, message: String::new() }).on(ADD).times(1));
    world.add("Bread").await;
    assert_eq!(world.count("Bread"), 1, "a new timeline is made once");
    world.emulator = None;
    let failure = world.call("rtm_createTask", json!({"name": "Eggs"})).await.expect_err("nobody there");
    check("no connection", &failure, &expected("tasks/RTM_UNAVAILABLE", "after_ms", "none"));
    assert!(!world.token().is_empty(), "an outage logs nobody out");
}

#[tokio::test]
async fn secrets_are_in_no_line_and_in_no_answer() {
    let world = World::logged_out(failwell_emulator_rtm::Seed::empty()).await;
    let begun = world.done("rtm_authenticate", json!({})).await;
    let frob = super::world::frob_of(begun["url"].as_str().expect("an address"));
    let begun = world.sent();
    assert!(world.control().approve(&frob, Permission::Delete));
    world.done("rtm_authenticate", json!({})).await;
    let token = world.token();
    for kind in [
        FaultKind::Unavailable,
        FaultKind::Reset,
        FaultKind::Html,
        FaultKind::Refuse { code: 98, message: format!("token {token}") },
        FaultKind::Refuse { code: 4242, message: "odd".to_owned() },
    ] {
        world.control().fail(Fault::new(kind));
        let _ = world.call("rtm_findTasks", json!({})).await;
        let _ = world.call("rtm_createTask", json!({"name": "Milk"})).await;
        let _ = world.call("rtm_getAuthStatus", json!({})).await;
        let _ = world.call("rtm_authenticate", json!({"permission": "delete"})).await;
        let _ = world.call("rtm_call", json!({"method": "rtm.settings.getList"})).await;
        world.control().clear_faults();
    }
    let (emulator, settings) = (world.emulator.as_ref().expect("there"), format!("{:?}", world.settings));
    let rest = world.sent().replacen(&begun, "", 1);
    for (name, secret) in
        [("key", emulator.api_key()), ("secret", emulator.secret()), ("token", &token), ("frob", &frob)]
    {
        assert!(!rest.contains(secret), "{name} was answered: {rest}");
        assert!(!settings.contains(secret), "{name} is printed");
    }
    for (name, secret) in
        [("key", emulator.api_key()), ("secret", emulator.secret()), ("token", &token), ("frob", &frob)]
    {
        assert!(!world.journal().contains(secret), "{name} was written down: {}", world.journal());
    }
}
