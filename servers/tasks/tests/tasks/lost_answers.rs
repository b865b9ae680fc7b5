//! Changes whose caller is gone before the answer, and undo of changes whose answer was lost.

use std::time::Duration;

use failwell_emulator_rtm::{Fault, FaultKind};
use serde_json::{Value, json};

use super::world::World;

/// Calls a tool and goes away before the service answers.
async fn leave(world: &World, method: &str, tool: &str, arguments: Value, fault: Fault) {
    world.control().fail(fault.on(method).times(1));
    let gone = tokio::time::timeout(Duration::from_millis(300), world.call(tool, arguments)).await;
    assert!(gone.is_err(), "{tool} was answered too early: {gone:?}");
}

/// The service has answered by then.
const LONGER_THAN_SLOW: Duration = Duration::from_secs(2);

fn slow() -> Fault {
    Fault::new(FaultKind::Delay { milliseconds: 1_500 })
}

#[tokio::test]
async fn a_repetition_after_the_caller_left_adds_nothing_twice() {
    for (name, fault) in [("before", slow()), ("after", slow().after())] {
        let world = World::new().await;
        world.done("rtm_findTasks", json!({})).await;
        leave(&world, "rtm.tasks.add", "rtm_createTask", json!({"name": "Milk"}), fault.clone()).await;
        let again = world.done("rtm_createTask", json!({"name": "Milk"})).await;
        assert_eq!((world.count("Milk"), &again["read_back"]), (1, &json!(true)), "{name}: {again}");
        // The caller has heard of it now: the same name again means another task.
        world.done("rtm_createTask", json!({"name": "Milk"})).await;
        assert_eq!(world.count("Milk"), 2, "{name}");

        let note = json!({"task": "Bread", "text": "n"});
        world.add("Bread").await;
        leave(&world, "rtm.tasks.notes.add", "rtm_addNote", note.clone(), fault).await;
        let noted = world.done("rtm_addNote", note).await;
        assert_eq!(noted["task"]["notes"].as_array().map(Vec::len), Some(1), "{name}: {noted}");
    }
}

#[tokio::test]
async fn a_repetition_long_after_the_first_was_made_is_looked_up_too() {
    let world = World::new().await;
    leave(&world, "rtm.tasks.add", "rtm_createTask", json!({"name": "Milk"}), slow().after()).await;
    tokio::time::sleep(LONGER_THAN_SLOW).await;
    world.done("rtm_createTask", json!({"name": "Milk"})).await;
    assert_eq!(world.count("Milk"), 1);
    world.done("rtm_undo", json!({})).await;
    assert_eq!(world.count("Milk"), 0, "it is in the history once");
    world.refused("rtm_undo", json!({}), "tasks/NOTHING_TO_UNDO").await;
}

#[tokio::test]
async fn a_repeated_undo_takes_back_nothing_else() {
    let world = World::new().await;
    world.add("Milk").await;
    world.add("Bread").await;
    leave(&world, "rtm.tasks.delete", "rtm_undo", json!({}), slow()).await;
    let again = world.done("rtm_undo", json!({})).await;
    assert_eq!((world.count("Milk"), world.count("Bread")), (1, 0), "{again}");
    assert_eq!(again["undone"][0]["about"], json!("Bread"), "{again}");
    world.done("rtm_undo", json!({})).await;
    assert_eq!(world.count("Milk"), 0);
}

#[tokio::test]
async fn a_change_whose_answer_was_lost_is_taken_back_by_the_opposite() {
    for (tool, method, arguments, filter) in [
        ("rtm_completeTask", "rtm.tasks.complete", json!({"taskId": "Milk"}), "status:incomplete"),
        ("rtm_updateTask", "rtm.tasks.setName", json!({"task": "Milk", "name": "Oat"}), "name:Milk"),
        (
            "rtm_updateTask",
            "rtm.tasks.setPriority",
            json!({"task": "Milk", "priority": "1"}),
            "priority:none",
        ),
        ("rtm_tagTask", "rtm.tasks.addTags", json!({"task": "Milk", "add": ["x"]}), "isTagged:false"),
        ("rtm_updateTask", "rtm.tasks.setDueDate", json!({"task": "Milk", "due": "2030-01-01"}), "due:never"),
        ("rtm_moveTask", "rtm.tasks.moveTo", json!({"task": "Milk", "to": "Work"}), "list:Inbox"),
    ] {
        let world = World::new().await;
        world.done("rtm_createList", json!({"name": "Work"})).await;
        world.add("Milk").await;
        world.control().fail(Fault::new(FaultKind::Reset).on(method).times(1).after());
        world.done(tool, arguments).await;
        let found = || world.done("rtm_findTasks", json!({"filter": filter}));
        assert_eq!(found().await["total"], json!(0), "{method} was made");
        let undone = world.done("rtm_undo", json!({})).await;
        assert_eq!((&undone["count"], &found().await["total"]), (&json!(1), &json!(1)), "{method}: {undone}");
    }
}

#[tokio::test]
async fn a_change_that_cannot_be_undone_is_passed_over() {
    let world = World::new().await;
    world.add("Bread").await;
    world.add("Milk").await;
    world.control().fail(Fault::new(FaultKind::Reset).on("rtm.tasks.delete").times(1).after());
    world.done("rtm_deleteTask", json!({"task": "Milk"})).await;
    let undone = world.done("rtm_undo", json!({"count": 2})).await;
    assert_eq!(undone["passed_over"][0]["tool"], json!("rtm_deleteTask"), "{undone}");
    assert_eq!(world.count("Bread"), 0, "what lies before is undone: {undone}");
    let failure = world.refused("rtm_undo", json!({}), "tasks/NOT_UNDOABLE").await;
    assert!(failure["hint"].as_str().is_some_and(|hint| hint.contains("rtm_createTask")), "{failure}");
}
