//! Sub-tasks.

use failwell_emulator_rtm::Seed;
use serde_json::Value;

use crate::support::{Client, path, start};

async fn child(client: &Client, name: &str, parent: &str) -> Value {
    client.call("rtm.tasks.add", &[("name", name), ("parse", "1"), ("parent_task_id", parent)]).await
}

fn code(answer: &Value) -> &str {
    answer["err"]["code"].as_str().unwrap_or("ok")
}

#[tokio::test]
async fn three_levels_and_no_more() {
    let client = start(Seed::empty()).await;
    let work = client.ok("rtm.lists.add", &[("name", "Work")]).await;
    let one = client.add("one #Work").await;
    let two = path(&child(&client, "two", &one[2]).await);
    assert_eq!(two[0], work["list"]["id"].as_str().unwrap(), "a sub-task is in its parent's list");
    let answer = child(&client, "three", &two[2]).await;
    assert_eq!(answer["list"]["taskseries"][0]["parent_task_id"], two[2].as_str());
    let three = path(&answer);
    assert_eq!(code(&child(&client, "four", &three[2]).await), "4060");
    assert_eq!(code(&child(&client, "lost", "99").await), "4050");
    client.control.set_pro(false);
    assert_eq!(code(&child(&client, "poor", &one[2]).await), "4040");
    assert_eq!(client.refused_on("rtm.tasks.setParentTask", &three, &[]).await, "4040");
}

#[tokio::test]
async fn a_parent_can_be_set_and_cleared() {
    let client = start(Seed::empty()).await;
    client.ok("rtm.lists.add", &[("name", "Work")]).await;
    let (one, two) = (client.add("one #Work").await, client.add("two").await);
    let three = path(&child(&client, "three", &two[2]).await);
    let answer = client.on("rtm.tasks.setParentTask", &two, &[("parent_task_id", &one[2])]).await;
    assert_eq!(answer["list"]["id"], one[0].as_str(), "it moves to its parent's list");
    let two = path(&answer);
    let found = client.ok("rtm.tasks.getList", &[("filter", "isSubtask:true AND list:Work")]).await;
    assert_eq!(
        found["tasks"]["list"][0]["taskseries"].as_array().unwrap().len(),
        2,
        "and takes its own along"
    );
    assert_eq!(
        client.refused_on("rtm.tasks.setParentTask", &one, &[("parent_task_id", &one[2])]).await,
        "4090"
    );
    assert_eq!(
        client.refused_on("rtm.tasks.setParentTask", &one, &[("parent_task_id", &three[2])]).await,
        "4090"
    );
    let deep = client.add("deep").await;
    let shallow = path(&child(&client, "below", &deep[2]).await);
    assert_eq!(shallow[0], deep[0]);
    assert_eq!(
        client.refused_on("rtm.tasks.setParentTask", &deep, &[("parent_task_id", &two[2])]).await,
        "4060"
    );
    client.on("rtm.tasks.setParentTask", &two, &[]).await;
    client.on("rtm.tasks.setParentTask", &deep, &[("parent_task_id", &two[2])]).await;
}

#[tokio::test]
async fn families_do_not_repeat() {
    let client = start(Seed::empty()).await;
    let (one, weekly) = (client.add("one").await, client.add("weekly *every week").await);
    assert_eq!(code(&child(&client, "two", &weekly[2]).await), "4070");
    assert_eq!(code(&child(&client, "two *every day", &one[2]).await), "4070");
    let two = path(&child(&client, "two", &one[2]).await);
    assert_eq!(client.refused_on("rtm.tasks.setRecurrence", &two, &[("repeat", "every day")]).await, "4070");
    assert_eq!(client.refused_on("rtm.tasks.setRecurrence", &one, &[("repeat", "every day")]).await, "4070");
    assert_eq!(
        client.refused_on("rtm.tasks.setParentTask", &weekly, &[("parent_task_id", &one[2])]).await,
        "4070"
    );
}

#[tokio::test]
async fn what_happens_to_a_parent_happens_to_its_parts() {
    let client = start(Seed::empty()).await;
    let one = client.add("one").await;
    let two = path(&child(&client, "two", &one[2]).await);
    child(&client, "three", &two[2]).await;
    let complete = client.on("rtm.tasks.complete", &one, &[]).await;
    let open = client.ok("rtm.tasks.getList", &[("filter", "status:incomplete")]).await;
    assert!(open["tasks"].get("list").is_none(), "{open}");
    client.undo(&complete).await;
    client.on("rtm.tasks.delete", &one, &[]).await;
    assert_eq!(client.refused_on("rtm.tasks.complete", &two, &[]).await, "340");
}
