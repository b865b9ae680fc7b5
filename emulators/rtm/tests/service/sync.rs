//! `last_sync`: what changed, and what went away.

use std::time::Duration;

use failwell_emulator_rtm::Seed;
use serde_json::{Value, json};

use crate::support::{Client, start};

async fn since(client: &Client, time: &str) -> Value {
    client.ok("rtm.tasks.getList", &[("last_sync", time)]).await["tasks"].clone()
}

fn names(tasks: &Value) -> Vec<String> {
    let lists = tasks["list"].as_array().cloned().unwrap_or_default();
    let series = lists.iter().flat_map(|list| list["taskseries"].as_array().cloned().unwrap_or_default());
    series.map(|series| series["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn only_what_changed() {
    let client = start(Seed::empty()).await;
    let first = client.add("first").await;
    client.add("second").await;
    client.control.advance_clock(Duration::from_secs(60));
    let mark = client.control.now().to_string();
    assert!(since(&client, &mark).await.get("list").is_none());
    client.on("rtm.tasks.setName", &first, &[("name", "renamed")]).await;
    client.control.advance_clock(Duration::from_secs(60));
    let changed = since(&client, &mark).await;
    assert_eq!(names(&changed), ["renamed"]);
    assert_eq!(changed["list"][0]["current"], json!(mark));
    assert_eq!(names(&since(&client, "2026-11-11T13:30:00").await).len(), 2, "a time without a zone is UTC");
    assert_eq!(client.refused("rtm.tasks.getList", &[("last_sync", "lately")]).await, "5000");
}

#[tokio::test]
async fn removed_items_are_announced() {
    let client = start(Seed::empty()).await;
    let work =
        client.ok("rtm.lists.add", &[("name", "Work")]).await["list"]["id"].as_str().unwrap().to_owned();
    let deleted = client.add("deleted").await;
    let moved = client.add("moved #Work").await;
    let weekly = client.add("weekly ^today *every week").await;
    client.control.advance_clock(Duration::from_secs(60));
    let mark = client.control.now().to_string();
    let delete = client.on("rtm.tasks.delete", &deleted, &[]).await;
    let inbox = deleted[0].clone();
    client
        .ok(
            "rtm.tasks.moveTo",
            &[
                ("from_list_id", &work),
                ("to_list_id", &inbox),
                ("taskseries_id", &moved[1]),
                ("task_id", &moved[2]),
            ],
        )
        .await;
    let complete = client.on("rtm.tasks.complete", &weekly, &[]).await;
    let made = complete["list"]["taskseries"][0]["task"][1]["id"].as_str().unwrap().to_owned();
    let gone = |tasks: &Value, list: &str| -> Vec<String> {
        let lists = tasks["list"].as_array().unwrap();
        let list = lists.iter().find(|known| known["id"] == list);
        let series =
            list.and_then(|list| list["deleted"]["taskseries"].as_array()).cloned().unwrap_or_default();
        series
            .iter()
            .flat_map(|one| one["task"].as_array().unwrap().clone())
            .map(|task| {
                assert_eq!(task["deleted"], "2026-11-11T13:31:00Z");
                task["id"].as_str().unwrap().to_owned()
            })
            .collect()
    };
    let changed = since(&client, &mark).await;
    assert_eq!(names(&changed), ["moved", "weekly"]);
    assert_eq!(gone(&changed, &inbox), [deleted[2].clone()]);
    assert_eq!(gone(&changed, &work), [moved[2].clone()]);
    client.undo(&delete).await;
    client.undo(&complete).await;
    let changed = since(&client, &mark).await;
    assert_eq!(names(&changed), ["deleted", "moved", "weekly"], "an undo is a change");
    assert_eq!(gone(&changed, &inbox), [made], "what completing made is gone again");
}
