//! Lists.

use failwell_emulator_rtm::Seed;
use serde_json::Value;

use crate::support::{Client, start};

async fn names(client: &Client) -> Vec<String> {
    let answer = client.ok("rtm.lists.getList", &[]).await;
    answer["lists"]["list"]
        .as_array()
        .unwrap()
        .iter()
        .map(|list| list["name"].as_str().unwrap().to_owned())
        .collect()
}

fn id(answer: &Value) -> String {
    answer["list"]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn they_come_and_go() {
    let client = start(Seed::empty()).await;
    let work = id(&client.ok("rtm.lists.add", &[("name", "Work")]).await);
    client.add("kept #Work").await;
    assert_eq!(names(&client).await, ["Inbox", "Work", "Sent"]);
    let answer = client.ok("rtm.lists.setName", &[("list_id", &work), ("name", "Office")]).await;
    assert_eq!(answer["list"]["name"], "Office");
    let answer = client.ok("rtm.lists.archive", &[("list_id", &work)]).await;
    assert_eq!(answer["list"]["archived"], "1");
    let found = async |filter: &str| client.ok("rtm.tasks.getList", &[("filter", filter)]).await;
    assert!(found("name:kept").await["tasks"].get("list").is_none(), "the archive is not searched");
    assert!(found("name:kept AND includeArchived:true").await["tasks"].get("list").is_some());
    client.ok("rtm.lists.unarchive", &[("list_id", &work)]).await;
    let deleted = client.ok("rtm.lists.delete", &[("list_id", &work)]).await;
    assert_eq!(deleted["list"]["deleted"], "1");
    assert_eq!(names(&client).await, ["Inbox", "Sent"]);
    assert!(
        found("list:Inbox AND name:kept").await["tasks"].get("list").is_some(),
        "its tasks are in the Inbox"
    );
    client.undo(&deleted).await;
    assert!(found("list:Office AND name:kept").await["tasks"].get("list").is_some());
}

#[tokio::test]
async fn what_is_refused() {
    let client = start(Seed::empty()).await;
    for (method, arguments, code) in [
        ("rtm.lists.add", &[("name", "")][..], "3000"),
        ("rtm.lists.add", &[("name", "inbox")], "3000"),
        ("rtm.lists.add", &[("name", "Sent")], "3000"),
        ("rtm.lists.add", &[("name", "Odd"), ("filter", "colour:red")], "4140"),
        ("rtm.lists.setName", &[("list_id", "10000001"), ("name", "Mine")], "3000"),
        ("rtm.lists.delete", &[("list_id", "10000001")], "320"),
        ("rtm.lists.archive", &[("list_id", "10000002")], "320"),
        ("rtm.lists.archive", &[("list_id", "5")], "320"),
        ("rtm.lists.setDefaultList", &[("list_id", "5")], "320"),
    ] {
        assert_eq!(client.refused(method, arguments).await, code, "{method} {arguments:?}");
    }
    client.ok("rtm.lists.setDefaultList", &[]).await;
}
