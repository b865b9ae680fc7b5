//! MCP features: errors outside of tools, elicitation, resources, subscriptions, prompts.

use failwell_emulator_rtm::{Fault, FaultKind, Permission, Seed, SeedList, SeedTask};
use serde_json::{Value, json};

use super::world::{World, frob_of};

fn twins() -> Seed {
    let milk = || SeedTask { name: "Milk".to_owned(), due: Some("today".to_owned()), ..SeedTask::default() };
    let list = |name: &str| SeedList { name: name.to_owned(), tasks: vec![milk()], ..SeedList::default() };
    Seed { lists: vec![list("Work"), list("Home")], ..Seed::empty() }
}

#[tokio::test]
async fn outside_of_a_tool_the_service_failing_is_the_records_error() {
    let world = World::seeded(twins()).await;
    let mut session = world.session(json!({})).await;
    world.control().fail(Fault::new(FaultKind::Unavailable));
    for (method, params) in [
        ("resources/read", json!({"uri": "rtm://lists"})),
        ("resources/read", json!({"uri": "rtm://tasks?filter=due:today"})),
        ("prompts/get", json!({"name": "daily_plan"})),
    ] {
        let answer = session.request(method, params).await.unwrap();
        let error = &answer["error"];
        assert_eq!(
            (&error["code"], &error["message"]),
            (&json!(-32001), &json!("Failed to communicate with RTM service.")),
            "{answer}"
        );
        assert_eq!(error["data"]["reason"], json!("tasks/RTM_UNAVAILABLE"));
    }
    let failed = session.call("rtm_findTasks", json!({})).await.unwrap();
    assert!(failed.is_error, "{failed:?}");
    let text = failed.text;
    assert!(
        text.starts_with("Remember The Milk is not available")
            && text.contains("[tasks/RTM_UNAVAILABLE · retry after 5000 ms · effect none · ref "),
        "{text}"
    );
    let unknown = session.request("resources/read", json!({"uri": "rtm://nothing"})).await.unwrap();
    assert_eq!(unknown["error"]["code"], json!(-32002));
    let wrong = session.call("rtm_createTask", json!({"nmae": "x"})).await.unwrap();
    assert_eq!(wrong.fault["reason"], json!("mcp/BAD_ARGUMENTS"), "{wrong:?}");
}

#[tokio::test]
async fn a_client_that_can_ask_its_user_asks_which_task_is_meant() {
    let world = World::seeded(twins()).await;
    let mut session = world.session(json!({"elicitation": {}})).await;
    let id = session
        .begin("tools/call", json!({"name": "rtm_completeTask", "arguments": {"taskId": "Milk"}}))
        .await
        .unwrap();
    let question = session.receive().await.unwrap();
    assert_eq!(question["method"], json!("elicitation/create"), "{question}");
    let choices = question["params"]["requestedSchema"]["properties"]["task"]["enum"]
        .as_array()
        .expect("choices")
        .clone();
    assert_eq!(choices.len(), 2);
    session.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"task": choices[1]}}})).await.unwrap();
    let answer = session.receive().await.unwrap();
    assert_eq!(
        (&answer["id"], &answer["result"]["structuredContent"]["task"]["id"]),
        (&json!(id), &choices[1]),
        "{answer}"
    );
    // A user who declines leaves the choice to the model.
    session.call("rtm_undo", json!({})).await.unwrap();
    session
        .begin("tools/call", json!({"name": "rtm_deleteTask", "arguments": {"task": "Milk"}}))
        .await
        .unwrap();
    let question = session.receive().await.unwrap();
    session
        .send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}))
        .await
        .unwrap();
    let answer = session.receive().await.unwrap();
    assert_eq!(answer["result"]["isError"], json!(true));
    assert_eq!(
        answer["result"]["structuredContent"]["data"]["candidates"].as_array().map(Vec::len),
        Some(2),
        "{answer}"
    );
}

#[tokio::test]
async fn a_client_that_can_show_addresses_logs_in_without_the_model_seeing_one() {
    let world = World::logged_out(twins()).await;
    let mut session = world.session(json!({"elicitation": {"form": {}, "url": {}}})).await;
    let id = session
        .begin("tools/call", json!({"name": "rtm_authenticate", "arguments": {"permission": "write"}}))
        .await
        .unwrap();
    let question = session.receive().await.unwrap();
    assert_eq!(question["params"]["mode"], json!("url"), "{question}");
    let url = question["params"]["url"].as_str().expect("an address").to_owned();
    assert!(url.contains("perms=write"), "{url}");
    session
        .send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}}))
        .await
        .unwrap();
    // The server polls until the user is done.
    let asks = || world.control().calls().iter().filter(|call| call.method == "rtm.auth.getToken").count();
    let began = std::time::Instant::now();
    while asks() < 2 {
        assert!(began.elapsed() < std::time::Duration::from_secs(30), "it asks once only");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(world.control().approve(&frob_of(&url), Permission::Write));
    let answer = loop {
        let message = session.receive().await.unwrap();
        if message["id"] == json!(id) {
            break message;
        }
    };
    let status = &answer["result"]["structuredContent"];
    assert_eq!(
        (&status["authenticated"], &status["permission"], &status["kept_in"]),
        (&json!(true), &json!("write"), &json!("file")),
        "{answer}"
    );
    assert!(
        !answer.to_string().contains(&frob_of(&url)) && !answer.to_string().contains(&world.token()),
        "{answer}"
    );
}

#[tokio::test]
async fn resources_are_read_and_watched() {
    let world = World::seeded(twins()).await;
    let mut session = world.session(json!({})).await;
    let listed = session.request("resources/list", json!({})).await.unwrap()["result"]["resources"].clone();
    for resource in listed.as_array().expect("resources") {
        let read = session.request("resources/read", json!({"uri": resource["uri"]})).await.unwrap();
        let text = read["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{read}"));
        let _: Value = serde_json::from_str(text).expect("JSON");
    }
    let read = |answer: Value| -> Value {
        serde_json::from_str(
            answer["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")),
        )
        .expect("JSON")
    };
    let found = read(
        session
            .request("resources/read", json!({"uri": "rtm://tasks?filter=list%3AHome%20AND%20due%3Atoday"}))
            .await
            .unwrap(),
    );
    assert_eq!(found["total"], json!(1), "{found}");
    let (list, task) = (
        found["tasks"][0]["list_id"].as_str().expect("an id"),
        found["tasks"][0]["id"].as_str().expect("an id"),
    );
    assert_eq!(
        read(session.request("resources/read", json!({"uri": format!("rtm://list/{list}")})).await.unwrap())
            ["list"]["name"],
        json!("Home")
    );
    assert_eq!(
        read(session.request("resources/read", json!({"uri": format!("rtm://task/{task}")})).await.unwrap())
            ["task"]["name"],
        json!("Milk")
    );
    let gone = session.request("resources/read", json!({"uri": "rtm://task/1_2"})).await.unwrap();
    assert_eq!(gone["error"]["code"], json!(-32002), "{gone}");
    let watched = format!("rtm://task/{task}");
    for uri in [watched.as_str(), "rtm://today"] {
        assert_eq!(
            session.request("resources/subscribe", json!({"uri": uri})).await.unwrap()["result"],
            json!({})
        );
    }
    // Another client changes it.
    world.afresh().done("rtm_updateTask", json!({"task": task, "name": "Oat milk"})).await;
    let mut messages = [session.receive().await.unwrap(), session.receive().await.unwrap()]
        .map(|notice| notice["params"]["uri"].as_str().unwrap_or_else(|| panic!("{notice}")).to_owned());
    messages.sort();
    let mut expected = [watched.clone(), "rtm://today".to_owned()];
    expected.sort();
    assert_eq!(messages, expected);
    for uri in [watched.as_str(), "rtm://today"] {
        session.request("resources/unsubscribe", json!({"uri": uri})).await.unwrap();
    }
}

#[tokio::test]
async fn prompts_hold_the_tasks_they_are_about() {
    let world = World::seeded(twins()).await;
    let mut session = world.session(json!({})).await;
    for (name, part) in [
        ("daily_plan", "Due today (2):"),
        ("weekly_review", "Due in the next week (2):"),
        ("inbox_triage", "Inbox (0):\nnone"),
        ("brain_dump", "call mum"),
    ] {
        let answer = session
            .request("prompts/get", json!({"name": name, "arguments": {"focus": "call mum"}}))
            .await
            .unwrap();
        let text =
            answer["result"]["messages"][0]["content"]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(
            text.contains(part) && (name == "inbox_triage" || text.contains("call mum")),
            "{name}: {text}"
        );
    }
    let missing = session.request("prompts/get", json!({"name": "brain_dump"})).await.unwrap();
    assert_eq!(missing["error"]["code"], json!(-32602), "{missing}");
}

#[tokio::test]
async fn behind_a_gateway_changes_carry_the_name_the_client_knows() {
    let world = World::seeded(twins()).await;
    let gateway = world.behind_a_gateway();
    let mut session = gateway.session(json!({})).await;
    let found = session.call("tasks__rtm_findTasks", json!({})).await.unwrap();
    assert_eq!(found.structured["total"], json!(2), "{found:?}");
    let uri = "tasks+rtm://today";
    assert_eq!(
        session.request("resources/subscribe", json!({"uri": uri})).await.unwrap()["result"],
        json!({})
    );
    let task = &found.structured["tasks"][0]["id"];
    world.done("rtm_updateTask", json!({"task": task, "name": "Oat milk"})).await;
    let notice = session.receive().await.unwrap();
    assert_eq!(
        (&notice["method"], &notice["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!(uri)),
        "{notice}"
    );
}
