//! Responses byte for byte, as clients expect them.

use failwell_emulator_rtm::Seed;
use serde_json::{Value, json};

use crate::support::{Client, start};

fn seed() -> Seed {
    serde_json::from_value(json!({
        "lists": [
            {"name": "Work", "tasks": [
                {"name": "Get bananas", "due": "today", "tags": ["fruit"], "repeat": "every week",
                 "notes": [{"title": "Ripe", "text": "yellow & <soft>"}], "url": "https://example.org", "estimate": "2 hrs"}
            ]},
            {"name": "Urgent", "filter": "priority:1"}
        ]
    }))
    .unwrap()
}

async fn body(client: &Client, method: &str, arguments: &[(&str, &str)]) -> String {
    let mut all = vec![("auth_token", client.token.as_str()), ("timeline", &client.timeline)];
    all.extend(arguments);
    client.raw(method, &all).await.unwrap().body
}

#[tokio::test]
async fn lists() {
    let client = start(seed()).await;
    let list = |id: &str, name: &str, locked: &str, position: &str, smart: &str| {
        json!({"id": id, "name": name, "deleted": "0", "locked": locked, "archived": "0", "position": position,
               "smart": smart, "sort_order": "0", "permission": "owner"})
    };
    let mut urgent = list("10000007", "Urgent", "0", "0", "1");
    urgent["filter"] = "priority:1".into();
    let expected = json!({"rsp": {"stat": "ok", "lists": {"list": [
        list("10000001", "Inbox", "1", "-1", "0"),
        list("10000003", "Work", "0", "0", "0"),
        urgent,
        list("10000002", "Sent", "1", "1", "0"),
    ]}}});
    let body = body(&client, "rtm.lists.getList", &[("format", "json"), ("v", "2")]).await;
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
}

fn series(task: Value, tags: Value, note: Value) -> Value {
    json!({
        "id": "10000004", "created": "2026-11-11T13:30:00Z", "modified": "2026-11-11T13:30:00Z",
        "name": "Get bananas", "source": "api", "url": "https://example.org", "location_id": "", "parent_task_id": "",
        "rrule": {"every": "1", "$t": "FREQ=WEEKLY;INTERVAL=1;WKST=MO"},
        "tags": {"tag": tags}, "participants": [], "notes": {"note": note}, "task": task,
    })
}

#[tokio::test]
async fn tasks_in_both_versions() {
    let client = start(seed()).await;
    let note = json!({"id": "10000006", "created": "2026-11-11T13:30:00Z", "modified": "2026-11-11T13:30:00Z",
                      "title": "Ripe", "$t": "yellow & <soft>"});
    let mut task = json!({"id": "10000005", "due": "2026-11-10T23:00:00Z", "has_due_time": "0",
                      "added": "2026-11-11T13:30:00Z", "completed": "", "deleted": "", "priority": "N",
                      "postponed": "0", "estimate": "2 hrs", "start": "", "has_start_time": "0"});
    let text = body(&client, "rtm.tasks.getList", &[("format", "json"), ("v", "2")]).await;
    let answer: Value = serde_json::from_str(&text).unwrap();
    let expected =
        json!([{"id": "10000003", "taskseries": [series(json!([task]), json!(["fruit"]), json!([note]))]}]);
    assert_eq!(answer["rsp"]["tasks"]["list"], expected);
    assert_eq!(answer["rsp"]["tasks"]["rev"].as_str().map(str::len), Some(32));

    // Version 1 knows no start dates and no parents, and writes one thing as that thing.
    task.as_object_mut().unwrap().retain(|name, _| !name.contains("start"));
    let mut one = series(task, json!("fruit"), note);
    one.as_object_mut().unwrap().remove("parent_task_id");
    let text = body(&client, "rtm.tasks.getList", &[("format", "json"), ("v", "1")]).await;
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["rsp"]["tasks"]["list"], json!({"id": "10000003", "taskseries": one}));
}

#[tokio::test]
async fn nothing_found_is_no_list() {
    let client = start(seed()).await;
    let answer = client.ok("rtm.tasks.getList", &[("filter", "tag:none")]).await;
    assert!(answer["tasks"].get("list").is_none(), "{answer}");
    let answer = client.ok("rtm.tasks.getList", &[("list_id", "10000001")]).await;
    assert_eq!(answer["tasks"]["list"], json!([{"id": "10000001"}]));
}

#[tokio::test]
async fn adding() {
    let client = start(Seed::empty()).await;
    let answer = client.ok("rtm.tasks.add", &[("name", "Get bananas")]).await;
    let expected = json!({
        "stat": "ok",
        "transaction": {"id": "10000006", "undoable": "0"},
        "list": {"id": "10000001", "taskseries": [{
            "id": "10000004", "created": "2026-11-11T13:30:00Z", "modified": "2026-11-11T13:30:00Z",
            "name": "Get bananas", "source": "api", "url": "", "location_id": "", "parent_task_id": "",
            "tags": [], "participants": [], "notes": [],
            "task": [{"id": "10000005", "due": "", "has_due_time": "0", "added": "2026-11-11T13:30:00Z",
                      "completed": "", "deleted": "", "priority": "N", "postponed": "0", "estimate": "",
                      "start": "", "has_start_time": "0"}],
        }]},
    });
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn small_answers_to_the_byte() {
    let client = start(Seed::empty()).await;
    let key = client.emulator.api_key();
    let token = &client.token;
    let path = format!("/services/rest/?method=rtm.test.echo&api_key={key}&format=json&foo=bar");
    let reply = client.send("GET", &path, "").await.unwrap();
    let expected = format!(
        r#"{{"rsp":{{"stat":"ok","api_key":"{key}","foo":"bar","format":"json","method":"rtm.test.echo"}}}}"#
    );
    assert_eq!(reply.body, expected);
    assert!(reply.head.contains("content-type: text/javascript; charset=utf-8"), "{}", reply.head);

    let text = body(&client, "rtm.timelines.create", &[("format", "json")]).await;
    assert_eq!(text, r#"{"rsp":{"stat":"ok","timeline":"10000004"}}"#);
    let text = body(&client, "rtm.auth.checkToken", &[("format", "json")]).await;
    let user = r#"{"id":"1","username":"dana","fullname":"Dana Demo"}"#;
    let expected =
        format!(r#"{{"rsp":{{"stat":"ok","auth":{{"token":"{token}","perms":"delete","user":{user}}}}}}}"#);
    assert_eq!(text, expected);
    let text = body(&client, "rtm.test.ech", &[("format", "json")]).await;
    let expected =
        r#"{"rsp":{"stat":"fail","err":{"code":"112","msg":"Method \"rtm.test.ech\" not found"}}}"#;
    assert_eq!(text, expected);
}

#[tokio::test]
async fn xml_is_the_usual_format() {
    let client = start(seed()).await;
    let text = body(&client, "rtm.tasks.getList", &[("filter", "tag:fruit"), ("v", "2")]).await;
    for part in [
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rsp stat=\"ok\"><tasks rev=\"",
        "<list id=\"10000003\"><taskseries id=\"10000004\"",
        "<rrule every=\"1\">FREQ=WEEKLY;INTERVAL=1;WKST=MO</rrule><tags><tag>fruit</tag></tags><participants/>",
        "title=\"Ripe\">yellow &amp; &lt;soft&gt;</note></notes><task id=\"10000005\" due=\"2026-11-10T23:00:00Z\"",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let text = body(&client, "rtm.nothing", &[("format", "rest")]).await;
    assert!(text.contains(
        "<rsp stat=\"fail\"><err code=\"112\" msg=\"Method &quot;rtm.nothing&quot; not found\"/></rsp>"
    ));
}

#[tokio::test]
async fn a_callback_wraps_the_answer() {
    let client = start(Seed::empty()).await;
    let text =
        body(&client, "rtm.timelines.create", &[("format", "json"), ("callback", "RTM.apiCallback")]).await;
    assert_eq!(text, r#"RTM.apiCallback({"rsp":{"stat":"ok","timeline":"10000004"}})"#);
    let text = body(&client, "rtm.timelines.create", &[("format", "json"), ("callback", "alert(1)//")]).await;
    assert_eq!(text, r#"{"rsp":{"stat":"ok","timeline":"10000005"}}"#, "a callback is a name");
}
