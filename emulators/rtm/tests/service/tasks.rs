//! Adding and changing tasks.

use failwell_emulator_rtm::Seed;
use serde_json::{Value, json};

use crate::support::{Client, path, start};

async fn task(client: &Client, name: &str) -> Value {
    let answer = client.ok("rtm.tasks.getList", &[("filter", &format!("name:\"{name}\""))]).await;
    answer["tasks"]["list"][0]["taskseries"][0].clone()
}

#[tokio::test]
async fn a_whole_line() {
    let seed: Seed = serde_json::from_value(json!({
        "locations": [{"name": "Market", "latitude": 1.0, "longitude": 2.0}], "lists": [{"name": "Personal"}],
    }))
    .unwrap();
    let client = start(seed).await;
    client.add("Pay rent ^tomorrow 9am ~today !1 #Personal #bills @market *every month =30 min https://example.org // by card").await;
    let series = task(&client, "Pay rent").await;
    assert_eq!(series["name"], "Pay rent");
    assert_eq!(series["url"], "https://example.org");
    assert_eq!(series["tags"], json!({"tag": ["bills"]}));
    assert_eq!(series["notes"]["note"][0]["$t"], "by card");
    assert_eq!(series["rrule"]["$t"], "FREQ=MONTHLY;INTERVAL=1");
    assert_ne!(series["location_id"], "");
    let task = &series["task"][0];
    assert_eq!((&task["due"], &task["has_due_time"]), (&json!("2026-11-12T08:00:00Z"), &json!("1")));
    assert_eq!((&task["start"], &task["has_start_time"]), (&json!("2026-11-10T23:00:00Z"), &json!("0")));
    assert_eq!((&task["priority"], &task["estimate"]), (&json!("1"), &json!("30 min")));
}

#[tokio::test]
async fn without_parse_a_line_is_a_name() {
    let client = start(Seed::empty()).await;
    let answer =
        client.ok("rtm.tasks.add", &[("name", "Meet ^tomorrow #work"), ("external_id", "abc-1")]).await;
    let series = &answer["list"]["taskseries"][0];
    assert_eq!((&series["name"], &series["external_id"]), (&json!("Meet ^tomorrow #work"), &json!("abc-1")));
}

#[tokio::test]
async fn new_tasks_go_to_the_inbox_whatever_the_default_list() {
    let client = start(Seed::empty()).await;
    let list = client.ok("rtm.lists.add", &[("name", "Work")]).await;
    let id = list["list"]["id"].as_str().unwrap();
    client.ok("rtm.lists.setDefaultList", &[("list_id", id)]).await;
    assert_eq!(client.ok("rtm.settings.getList", &[]).await["settings"]["defaultlist"], id);
    assert_ne!(client.add("x").await[0], id);
    let answer = client.ok("rtm.tasks.add", &[("name", "y"), ("list_id", id)]).await;
    assert_eq!(answer["list"]["id"], id);
}

#[tokio::test]
async fn what_is_refused() {
    let client = start(Seed::demo()).await;
    let path = client.add("x ^today").await;
    for (method, argument, value, code) in [
        ("rtm.tasks.setDueDate", "due", "whenever", "4100"),
        ("rtm.tasks.setStartDate", "start", "whenever", "4110"),
        ("rtm.tasks.setStartDate", "start", "2027-01-01", "4080"),
        ("rtm.tasks.setRecurrence", "repeat", "now and then", "4120"),
        ("rtm.tasks.setEstimate", "estimate", "long", "4130"),
        ("rtm.tasks.setPriority", "priority", "9", "4150"),
        ("rtm.tasks.movePriority", "direction", "sideways", "4150"),
        ("rtm.tasks.setLocation", "location_id", "9", "360"),
        ("rtm.tasks.setName", "name", "  ", "4000"),
        ("rtm.tasks.setName", "task_id", "9", "340"),
        ("rtm.tasks.setName", "taskseries_id", "nine", "340"),
        ("rtm.tasks.setName", "list_id", "9", "320"),
        ("rtm.tasks.notes.add", "note_title", "", "350"),
        ("rtm.tasks.notes.edit", "note_id", "9", "350"),
        ("rtm.tasks.notes.delete", "note_id", "", "350"),
        ("rtm.tasks.add", "name", "", "4000"),
        ("rtm.tasks.add", "give_to", "77", "4000"),
        ("rtm.tasks.getList", "filter", "colour:red", "4140"),
        ("rtm.tasks.getList", "list_id", "9", "320"),
    ] {
        let mut before = client.control.dump();
        assert_eq!(client.refused_on(method, &path, &[(argument, value)]).await, code, "{method} {argument}");
        assert_eq!(client.control.dump(), before.take(), "{method} {argument} changes nothing");
    }
    let long = "x".repeat(1_001);
    assert_eq!(client.refused("rtm.tasks.add", &[("name", &long)]).await, "4000");
    assert_eq!(client.refused("rtm.tasks.add", &[("name", "x"), ("give_to", "77")]).await, "330");
    let bad = [("name", "x ~tomorrow ^today"), ("parse", "1")];
    assert_eq!(client.refused("rtm.tasks.add", &bad).await, "4080");
}

#[tokio::test]
async fn tasks_stay_out_of_smart_lists_and_sent() {
    let client = start(Seed::empty()).await;
    let smart = client.ok("rtm.lists.add", &[("name", "Hot"), ("filter", "priority:1")]).await;
    let smart = smart["list"]["id"].as_str().unwrap();
    let path = client.add("x !1").await;
    for list in [smart, "10000002"] {
        assert_eq!(client.refused("rtm.tasks.add", &[("name", "x"), ("list_id", list)]).await, "320");
        let arguments = [("from_list_id", path[0].as_str()), ("to_list_id", list)];
        assert_eq!(client.refused_on("rtm.tasks.moveTo", &path, &arguments).await, "320");
    }
    let found = client.ok("rtm.tasks.getList", &[("list_id", smart)]).await;
    assert_eq!(found["tasks"]["list"][0]["taskseries"][0]["name"], "x", "a smart list shows what it finds");
}

#[tokio::test]
async fn dates() {
    let mut client = start(Seed::empty()).await;
    let path = client.add("x").await;
    for (arguments, due, timed) in [
        (&[("due", "2026-11-20T10:15:00Z"), ("has_due_time", "1")][..], "2026-11-20T10:15:00Z", "1"),
        (&[("due", "2026-11-20T10:15:00Z")], "2026-11-19T23:00:00Z", "0"),
        (&[("due", "2026-11-20T23:30:00")], "2026-11-20T23:00:00Z", "0"),
        (&[("due", "2026-11-20")], "2026-11-19T23:00:00Z", "0"),
        (&[("due", "friday 8pm"), ("parse", "1")], "2026-11-13T19:00:00Z", "1"),
        (&[("due", "friday"), ("parse", "1")], "2026-11-12T23:00:00Z", "0"),
        (&[], "", "0"),
    ] {
        let answer = client.on("rtm.tasks.setDueDate", &path, arguments).await;
        let task = &answer["list"]["taskseries"][0]["task"][0];
        assert_eq!((&task["due"], &task["has_due_time"]), (&json!(due), &json!(timed)), "{arguments:?}");
    }
    client.on("rtm.tasks.setStartDate", &path, &[("start", "2026-11-20")]).await;
    assert_eq!(client.refused_on("rtm.tasks.setDueDate", &path, &[("due", "2026-11-19")]).await, "4080");
    client.version = "1";
    client.on("rtm.tasks.setDueDate", &path, &[("due", "2026-11-19")]).await;
    client.version = "2";
    let series = task(&client, "x").await;
    assert_eq!(series["task"][0]["start"], series["task"][0]["due"], "version 1 moves the start instead");
}

#[tokio::test]
async fn putting_off() {
    let client = start(Seed::empty()).await;
    for (line, expected) in [
        ("a", "2026-11-10T23:00:00Z"),
        ("b ^yesterday", "2026-11-10T23:00:00Z"),
        ("c ^today", "2026-11-11T23:00:00Z"),
        ("d ^tomorrow", "2026-11-12T23:00:00Z"),
        ("e ^tomorrow 9am", "2026-11-13T08:00:00Z"),
    ] {
        let path = client.add(line).await;
        let answer = client.on("rtm.tasks.postpone", &path, &[]).await;
        let task = &answer["list"]["taskseries"][0]["task"][0];
        assert_eq!((&task["due"], &task["postponed"]), (&json!(expected), &json!("1")), "{line}");
    }
}

#[tokio::test]
async fn priorities_tags_and_notes() {
    let client = start(Seed::empty()).await;
    let path = client.add("x").await;
    for (direction, expected) in [
        ("up", "3"),
        ("up", "2"),
        ("up", "1"),
        ("up", "1"),
        ("down", "2"),
        ("down", "3"),
        ("down", "N"),
        ("down", "N"),
    ] {
        let answer = client.on("rtm.tasks.movePriority", &path, &[("direction", direction)]).await;
        assert_eq!(answer["list"]["taskseries"][0]["task"][0]["priority"], expected);
    }
    for (method, tags, expected) in [
        ("rtm.tasks.addTags", "Red, blue,red", json!({"tag": ["red", "blue"]})),
        ("rtm.tasks.removeTags", "RED", json!({"tag": ["blue"]})),
        ("rtm.tasks.setTags", "green,yellow", json!({"tag": ["green", "yellow"]})),
        ("rtm.tasks.setTags", "", json!([])),
    ] {
        let answer = client.on(method, &path, &[("tags", tags)]).await;
        assert_eq!(answer["list"]["taskseries"][0]["tags"], expected, "{method} {tags}");
    }
    let added =
        client.on("rtm.tasks.notes.add", &path, &[("note_title", "T"), ("note_text", "line\nline")]).await;
    let note = added["note"]["id"].as_str().unwrap();
    assert_eq!(added["note"]["$t"], "line\nline");
    let edited = client
        .ok("rtm.tasks.notes.edit", &[("note_id", note), ("note_title", ""), ("note_text", "new")])
        .await;
    assert_eq!((&edited["note"]["title"], &edited["note"]["$t"]), (&json!(""), &json!("new")));
    client.ok("rtm.tasks.notes.delete", &[("note_id", note)]).await;
    assert_eq!(task(&client, "x").await["notes"], json!([]));
}

#[tokio::test]
async fn get_and_post_are_the_same() {
    let client = start(Seed::empty()).await;
    let arguments =
        [("auth_token", client.token.as_str()), ("timeline", &client.timeline), ("name", "über & 100%")];
    let form = client.form("rtm.tasks.add", &[&arguments[..], &[("format", "json"), ("v", "2")]].concat());
    let reply = client.send("GET", &format!("/services/rest?{form}"), "").await.unwrap();
    let answer: Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!(answer["rsp"]["list"]["taskseries"][0]["name"], "über & 100%");
    let reply = client.send("PUT", "/services/rest/", &form).await.unwrap();
    assert_eq!(reply.status, 405);
    assert_eq!(path(&answer["rsp"]).len(), 3);
}
