//! Undo restores the previous state.

use failwell_emulator_rtm::Seed;
use serde_json::{Value, json};

use crate::support::{Client, start};

fn seed() -> Seed {
    serde_json::from_value(json!({
        "people": [{"username": "ana", "fullname": "Ana Lima", "contact": true}],
        "locations": [{"name": "Home", "latitude": 52.5, "longitude": 13.4}],
        "lists": [
            {"name": "Work", "tasks": [
                {"name": "one", "due": "today", "start": "yesterday", "priority": 2, "tags": ["red", "blue"],
                 "notes": [{"title": "first"}, {"title": "second", "text": "text"}], "estimate": "1 hour"},
                {"name": "weekly", "due": "today", "repeat": "every week"},
                {"name": "later", "due": "today", "repeat": "after 2 days"},
                {"name": "parent", "subtasks": [{"name": "child", "subtasks": [{"name": "grandchild"}]}]}
            ]},
            {"name": "Home"}
        ]
    }))
    .unwrap()
}

/// The three ids of a task of this name.
fn find(client: &Client, name: &str) -> [String; 3] {
    let dump = client.control.dump();
    let series = dump["taskseries"].as_array().unwrap().iter().find(|series| series["name"] == name).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    [text(&series["list_id"]), text(&series["id"]), text(&series["tasks"][0]["id"])]
}

fn list(client: &Client, name: &str) -> String {
    let dump = client.control.dump();
    let list = dump["lists"].as_array().unwrap().iter().find(|list| list["name"] == name).unwrap();
    list["id"].as_str().unwrap().to_owned()
}

type Arguments = Vec<(&'static str, String)>;

/// Every method that can be undone, with arguments that change something.
fn changes(client: &Client) -> Vec<(&'static str, &'static str, Arguments)> {
    let dump = client.control.dump();
    let notes = dump["taskseries"][0]["notes"].as_array().unwrap().clone();
    let note = |place: usize| notes[place]["id"].as_str().unwrap().to_owned();
    let location = dump["locations"][0]["id"].as_str().unwrap().to_owned();
    let (work, home) = (list(client, "Work"), list(client, "Home"));
    let one = find(client, "one");
    let text = |text: &str| text.to_owned();
    vec![
        ("rtm.lists.archive", "", vec![("list_id", work.clone())]),
        ("rtm.lists.delete", "", vec![("list_id", work.clone())]),
        ("rtm.lists.setName", "", vec![("list_id", work.clone()), ("name", text("Office"))]),
        ("rtm.lists.unarchive", "", vec![("list_id", work.clone())]),
        ("rtm.tasks.addTags", "one", vec![("tags", text("green, RED"))]),
        ("rtm.tasks.complete", "one", vec![]),
        ("rtm.tasks.complete", "weekly", vec![]),
        ("rtm.tasks.complete", "later", vec![]),
        ("rtm.tasks.complete", "parent", vec![]),
        ("rtm.tasks.delete", "one", vec![]),
        ("rtm.tasks.delete", "parent", vec![]),
        ("rtm.tasks.movePriority", "one", vec![("direction", text("up"))]),
        ("rtm.tasks.moveTo", "one", vec![("from_list_id", work.clone()), ("to_list_id", home.clone())]),
        ("rtm.tasks.moveTo", "child", vec![("from_list_id", work), ("to_list_id", home)]),
        ("rtm.tasks.postpone", "one", vec![]),
        ("rtm.tasks.removeTags", "one", vec![("tags", text("red"))]),
        ("rtm.tasks.setDueDate", "one", vec![("due", text("tomorrow 9am")), ("parse", text("1"))]),
        ("rtm.tasks.setDueDate", "one", vec![]),
        ("rtm.tasks.setEstimate", "one", vec![("estimate", text("5 min"))]),
        ("rtm.tasks.setLocation", "one", vec![("location_id", location)]),
        ("rtm.tasks.setName", "one", vec![("name", text("uno"))]),
        ("rtm.tasks.setParentTask", "grandchild", vec![]),
        ("rtm.tasks.setParentTask", "one", vec![("parent_task_id", find(client, "parent")[2].clone())]),
        ("rtm.tasks.setPriority", "one", vec![("priority", text("1"))]),
        ("rtm.tasks.setRecurrence", "one", vec![("repeat", text("every day"))]),
        ("rtm.tasks.setRecurrence", "weekly", vec![]),
        ("rtm.tasks.setStartDate", "one", vec![("start", text("2026-11-09"))]),
        ("rtm.tasks.setTags", "one", vec![("tags", text("green"))]),
        ("rtm.tasks.setURL", "one", vec![("url", text("https://example.org"))]),
        ("rtm.tasks.uncomplete", "one", vec![]),
        ("rtm.tasks.notes.delete", "", vec![("note_id", note(0))]),
        (
            "rtm.tasks.notes.edit",
            "",
            vec![("note_id", note(1)), ("note_title", text("new")), ("note_text", text("x"))],
        ),
        ("rtm.tasks.add", "", vec![("name", one[0].clone())]),
    ]
}

async fn perform(client: &Client, method: &str, task: &str, arguments: &[(&'static str, String)]) -> Value {
    let arguments: Vec<(&str, &str)> =
        arguments.iter().map(|(name, value)| (*name, value.as_str())).collect();
    match task {
        "" => client.ok(method, &arguments).await,
        task => client.on(method, &find(client, task), &arguments).await,
    }
}

#[tokio::test]
async fn every_change_can_be_taken_back() {
    let client = start(seed()).await;
    let mut seen = std::collections::BTreeSet::new();
    for (method, task, arguments) in changes(&client) {
        let before = client.control.dump();
        client.control.advance_clock(std::time::Duration::from_secs(60));
        let answer = perform(&client, method, task, &arguments).await;
        let after = client.control.dump();
        // These two have nothing to do here, and can be undone all the same.
        if !matches!(method, "rtm.lists.unarchive" | "rtm.tasks.uncomplete") {
            assert_ne!(before, after, "{method} of {task} changes something");
        }
        let undoable = answer["transaction"]["undoable"].as_str().unwrap();
        let undone = client.undo(&answer).await;
        if method == "rtm.tasks.add" {
            assert_eq!((undoable, undone["err"]["code"].as_str()), ("0", Some("310")), "{method}");
            continue;
        }
        assert_eq!((undoable, undone["stat"].as_str()), ("1", Some("ok")), "{method}");
        assert_eq!(client.control.dump(), before, "{method} of {task}");
        assert_eq!(client.undo(&answer).await["err"]["code"], "310", "{method}: once is enough");
        seen.insert(method);
    }
    let answer = client.bare("rtm.reflection.getMethods", &[("format", "json")]).await;
    let known = answer["methods"]["method"].as_array().unwrap();
    let tasks = known.iter().filter_map(Value::as_str).filter(|name| {
        let area = name.starts_with("rtm.tasks.") || name.starts_with("rtm.lists.");
        let adds = ["add", "getList", "setDefaultList"].iter().any(|end| name.ends_with(&format!(".{end}")));
        area && !adds
    });
    assert_eq!(seen, tasks.collect(), "every method that can be undone was");
}

#[tokio::test]
async fn an_undo_leaves_what_came_later_elsewhere() {
    let client = start(seed()).await;
    let one = find(&client, "one");
    let renamed = client.on("rtm.tasks.setName", &one, &[("name", "uno")]).await;
    client.on("rtm.tasks.addTags", &one, &[("tags", "green")]).await;
    client.on("rtm.tasks.setPriority", &one, &[("priority", "1")]).await;
    client.on("rtm.tasks.notes.add", &one, &[("note_title", "third"), ("note_text", "")]).await;
    client.undo(&renamed).await;
    let dump = client.control.dump();
    let series = &dump["taskseries"][0];
    assert_eq!(series["name"], "one");
    assert_eq!(series["tags"], json!(["red", "blue", "green"]));
    assert_eq!(series["tasks"][0]["priority"], "1");
    assert_eq!(series["notes"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_transaction_belongs_to_its_timeline() {
    let mut client = start(seed()).await;
    let answer = client.on("rtm.tasks.setName", &find(&client, "one"), &[("name", "uno")]).await;
    let other = client.ok("rtm.timelines.create", &[]).await;
    let first = std::mem::replace(&mut client.timeline, other["timeline"].as_str().unwrap().to_owned());
    assert_eq!(client.undo(&answer).await["err"]["code"], "310");
    client.timeline = first;
    assert_eq!(client.undo(&answer).await["stat"], "ok");
    assert_eq!(client.refused("rtm.transactions.undo", &[("transaction_id", "77")]).await, "310");
    assert_eq!(client.refused("rtm.transactions.undo", &[]).await, "310");
}

/// Many changes, taken back in the opposite order: all of it is as it was.
#[tokio::test]
async fn a_stack_of_changes_unwinds() {
    let client = start(seed()).await;
    let before = client.control.dump();
    let one = find(&client, "one");
    let mut answers = vec![];
    for round in 0..30 {
        let name = format!("name {round}");
        let (method, arguments): (&str, Vec<(&str, &str)>) = match round % 6 {
            0 => ("rtm.tasks.setName", vec![("name", &name)]),
            1 => ("rtm.tasks.postpone", vec![]),
            2 => ("rtm.tasks.complete", vec![]),
            3 => ("rtm.tasks.uncomplete", vec![]),
            4 => ("rtm.tasks.movePriority", vec![("direction", "down")]),
            _ => ("rtm.tasks.setTags", vec![("tags", &name)]),
        };
        answers.push(client.on(method, &one, &arguments).await);
    }
    for answer in answers.iter().rev() {
        assert_eq!(client.undo(answer).await["stat"], "ok");
    }
    assert_eq!(client.control.dump(), before);
}
