//! The behaviour of each tool for its caller.

use std::time::Duration;

use failwell_emulator_rtm::{Seed, SeedList, SeedTask};
use serde_json::{Value, json};

use super::oracle::agree_on_mutations;
use super::world::World;

fn task(name: &str) -> SeedTask {
    SeedTask { name: name.to_owned(), ..SeedTask::default() }
}

fn shop() -> Seed {
    let due = |name: &str, due: &str| SeedTask { due: Some(due.to_owned()), ..task(name) };
    let work = SeedList {
        name: "Work".to_owned(),
        tasks: vec![due("Report", "tomorrow"), due("Call Ann", "today"), task("Milk")],
        ..SeedList::default()
    };
    let home = SeedList {
        name: "Home".to_owned(),
        tasks: vec![task("Milk"), task("Water plants")],
        ..SeedList::default()
    };
    Seed { lists: vec![work, home], ..Seed::empty() }
}

fn names(found: &Value) -> Vec<&str> {
    found["tasks"]
        .as_array()
        .expect("tasks")
        .iter()
        .map(|task| task["name"].as_str().expect("a name"))
        .collect()
}

#[tokio::test]
async fn the_six_original_tools_work_as_they_did() {
    let world = World::logged_out(shop()).await;
    let before = world.done("rtm_getAuthStatus", json!({})).await;
    assert_eq!(before["authenticated"], json!(false));
    world.refused("rtm_getTasks", json!({}), "tasks/LOGIN_NEEDED").await;
    world.log_in(failwell_emulator_rtm::Permission::Delete).await;
    let after = world.done("rtm_getAuthStatus", json!({})).await;
    assert_eq!((&after["username"], &after["permission"]), (&json!("dana"), &json!("delete")));
    let made =
        world.done("rtm_createTask", json!({"name": "Bread ^tomorrow !1 #bakery", "list": "home"})).await;
    let made = &made["task"];
    assert_eq!(
        (&made["name"], &made["list"], &made["priority"], &made["tags"]),
        (&json!("Bread"), &json!("Home"), &json!("1"), &json!(["bakery"]))
    );
    let found = world.done("rtm_getTasks", json!({"filter": "list:Home AND status:incomplete"})).await;
    assert_eq!((found["total"].as_u64(), found["source"].as_str()), (Some(3), Some("service")));
    let done = world.done("rtm_completeTask", json!({"taskId": made["id"], "listId": made["list_id"]})).await;
    assert!(done["task"]["completed"].is_string(), "{done}");
    assert_eq!(world.done("rtm_clearAuth", json!({})).await, json!({"cleared": true}));
    world.refused("rtm_getTasks", json!({}), "tasks/LOGIN_NEEDED").await;
}

#[tokio::test]
async fn names_are_never_guessed() {
    let world = World::seeded(shop()).await;
    let failure = world.refused("rtm_completeTask", json!({"taskId": "milk"}), "tasks/AMBIGUOUS").await;
    let candidates = failure["candidates"].as_array().expect("candidates");
    assert_eq!(candidates.len(), 2);
    assert_eq!(failure["effect"], json!("none"));
    let near = world.refused("rtm_completeTask", json!({"taskId": "plants"}), "tasks/NO_SUCH_TASK").await;
    assert_eq!(near["candidates"][0]["name"], json!("Water plants"));
    world.refused("rtm_completeTask", json!({"taskId": "nothing of this name"}), "tasks/NO_SUCH_TASK").await;
    world.refused("rtm_completeTask", json!({"taskId": "1_2"}), "tasks/NO_SUCH_TASK").await;
    world.refused("rtm_moveTask", json!({"task": "Report", "to": "Nowhere"}), "tasks/NO_SUCH_LIST").await;
    let done = world.done("rtm_completeTask", json!({"taskId": "MILK", "listId": "home"})).await;
    assert_eq!(done["task"]["list"], json!("Home"));
}

#[tokio::test]
async fn tasks_are_found_in_what_is_known() {
    let world = World::seeded(shop()).await;
    let found = world.done("rtm_findTasks", json!({})).await;
    assert_eq!(names(&found), ["Call Ann", "Report", "Milk", "Milk", "Water plants"]);
    assert_eq!(
        (found["source"].as_str(), found["time_zone"].as_str()),
        (Some("known"), Some("Europe/Berlin"))
    );
    let page = world.done("rtm_findTasks", json!({"limit": 2, "sort": "name"})).await;
    assert_eq!((names(&page), page["next_cursor"].as_str()), (vec!["Call Ann", "Milk"], Some("2")));
    let rest = world.done("rtm_findTasks", json!({"limit": 5, "sort": "name", "cursor": "2"})).await;
    assert_eq!((names(&rest).len(), &rest["next_cursor"]), (3, &Value::Null));
    let due = world.done("rtm_findTasks", json!({"filter": "dueBefore:tomorrow"})).await;
    assert_eq!(names(&due), ["Call Ann"]);
    let words = world.done("rtm_findTasks", json!({"text": "PLANT water"})).await;
    assert_eq!(names(&words), ["Water plants"]);
    let asked = world.done("rtm_findTasks", json!({"filter": "NOT source:nowhere AND list:Work"})).await;
    assert_eq!(asked["source"], json!("service"), "what only the service knows, it is asked");
    let wrong =
        world.refused("rtm_findTasks", json!({"filter": "statsu:incomplete"}), "tasks/INVALID_FILTER").await;
    assert!(wrong["hint"].as_str().is_some_and(|hint| hint.contains("`status`")), "{wrong}");
    let trap = world.done("rtm_checkFilter", json!({"filter": "completedAfter:\"7 days ago\""})).await;
    assert!(trap["hints"][0].as_str().is_some_and(|hint| hint.contains("completedWithin")), "{trap}");
}

#[tokio::test]
async fn a_task_is_changed_piece_by_piece_and_taken_back_as_a_whole() {
    let world = World::seeded(shop()).await;
    let before = world.done("rtm_getTask", json!({"task": "Report"})).await;
    let id = before["task"]["id"].clone();
    let changed = world
        .done("rtm_updateTask", json!({"task": id, "name": "Big report", "due": "2031-03-01T15:30", "start": "2031-02-01", "priority": "2", "estimate": "2 hours", "url": "https://example.org/", "repeat": "every week"}))
        .await;
    let task = &changed["task"];
    assert_eq!(
        (&task["name"], &task["due"], &task["due_utc"]),
        (&json!("Big report"), &json!("2031-03-01 15:30"), &json!("2031-03-01T14:30:00Z"))
    );
    assert_eq!(
        (&task["start"], &task["priority"], &task["url"]),
        (&json!("2031-02-01"), &json!("2"), &json!("https://example.org/"))
    );
    assert!(task["repeat"].as_str().is_some_and(|repeat| repeat.starts_with("every FREQ=WEEKLY")), "{task}");
    // Both dates are earlier than the old ones, in one call.
    let earlier =
        world.done("rtm_updateTask", json!({"task": id, "due": "2030-05-02", "start": "2030-05-01"})).await;
    assert_eq!(
        (&earlier["task"]["start"], &earlier["task"]["due"]),
        (&json!("2030-05-01"), &json!("2030-05-02"))
    );
    world.refused("rtm_updateTask", json!({"task": id, "start": "2030-06-01"}), "tasks/INVALID_DATE").await;
    world
        .refused("rtm_updateTask", json!({"task": id, "due": "whenever you like"}), "tasks/INVALID_DATE")
        .await;
    world.refused("rtm_updateTask", json!({"task": id, "url": "no address"}), "tasks/INVALID_VALUE").await;
    let words = world.done("rtm_updateTask", json!({"task": id, "start": "", "due": "tomorrow"})).await;
    let tomorrow = world.done("rtm_parseTime", json!({"text": "tomorrow"})).await;
    assert_eq!(words["task"]["due"], tomorrow["local"]);
    let undone = world.done("rtm_undo", json!({"count": 3})).await;
    assert_eq!(undone["count"], json!(3));
    let after = world.done("rtm_getTask", json!({"task": id})).await;
    let without_time = |mut view: Value| {
        view["task"]["modified"] = Value::Null;
        view
    };
    assert_eq!(without_time(after), without_time(before));
    world.refused("rtm_undo", json!({}), "tasks/NOTHING_TO_UNDO").await;
}

#[tokio::test]
async fn notes_lists_tags_and_sub_tasks() {
    let world = World::seeded(shop()).await;
    let noted = world
        .done("rtm_addNote", json!({"task": "Report", "title": "why", "text": "because\nof this"}))
        .await;
    let note = noted["task"]["notes"][0].clone();
    assert_eq!(note["text"], json!("because\nof this"));
    let edited = world.done("rtm_editNote", json!({"note": note["id"], "text": "anew"})).await;
    assert_eq!(
        (&edited["task"]["notes"][0]["text"], &edited["task"]["notes"][0]["title"]),
        (&json!("anew"), &json!("why"))
    );
    let gone = world.done("rtm_deleteNote", json!({"note": note["id"]})).await;
    assert_eq!(gone["task"]["notes"], json!([]));
    world.refused("rtm_deleteNote", json!({"note": "424242"}), "tasks/NO_SUCH_NOTE").await;
    let list = world.done("rtm_createList", json!({"name": "Garden"})).await;
    assert_eq!(list["list"]["name"], json!("Garden"));
    world.refused("rtm_createList", json!({"name": " inbox "}), "tasks/INVALID_LIST_NAME").await;
    world.done("rtm_renameList", json!({"list": "Garden", "name": "Yard"})).await;
    let moved = world.done("rtm_moveTask", json!({"task": "Water plants", "to": "yard"})).await;
    assert_eq!(moved["task"]["list"], json!("Yard"));
    let tagged = world.done("rtm_tagTask", json!({"task": "Water plants", "add": ["green", "daily"]})).await;
    assert_eq!(tagged["task"]["tags"], json!(["daily", "green"]));
    let less = world.done("rtm_tagTask", json!({"task": "Water plants", "remove": ["daily"]})).await;
    assert_eq!(less["task"]["tags"], json!(["green"]));
    world.refused("rtm_tagTask", json!({"task": "Water plants"}), "tasks/INVALID_VALUE").await;
    let child = world
        .done("rtm_createTask", json!({"name": "Fill the can", "list": "Yard", "parent": "Water plants"}))
        .await;
    let parent = moved["task"]["id"].as_str().expect("an id").split('_').next_back().map(str::to_owned);
    assert_eq!(child["task"]["parent_task_id"].as_str().map(str::to_owned), parent);
    world
        .refused(
            "rtm_setParent",
            json!({"task": moved["task"]["id"], "parent": moved["task"]["id"]}),
            "tasks/INVALID_SUBTASK",
        )
        .await;
    let archived = world.done("rtm_archiveList", json!({"list": "Home"})).await;
    assert_eq!(archived["list"]["archived"], json!(true));
    let lists = world.done("rtm_getLists", json!({})).await;
    assert!(!lists.to_string().contains("\"Home\""), "{lists}");
    world.done("rtm_archiveList", json!({"list": "Home", "archived": false})).await;
    assert_eq!(world.done("rtm_history", json!({})).await["count"], json!(11));
    world.done("rtm_undo", json!({"count": 11})).await;
    let found = world.done("rtm_findTasks", json!({})).await;
    assert_eq!(names(&found), ["Call Ann", "Report", "Milk", "Milk", "Water plants"]);
    assert!(!world.done("rtm_getLists", json!({"archived": true})).await.to_string().contains("Yard"));
}

#[tokio::test]
async fn a_batch_is_one_change_and_says_what_became_of_each() {
    let world = World::seeded(shop()).await;
    let done = world
        .done(
            "rtm_batch",
            json!({"operations": [
                {"op": "create", "name": "One", "literal": true},
                {"op": "complete", "task": "Call Ann"},
                {"op": "tag", "task": "Report", "set": ["x"]},
                {"op": "note", "task": "Report", "text": "n"},
                {"op": "move", "task": "Water plants", "to": "Work"},
                {"op": "update", "task": "Report", "priority": "1"},
            ]}),
        )
        .await;
    assert_eq!((done["done"].as_u64(), done["failed"].as_u64()), (Some(6), Some(0)), "{done}");
    world.done("rtm_undo", json!({})).await;
    assert_eq!(
        names(&world.done("rtm_findTasks", json!({"completed": true})).await),
        ["Call Ann", "Report", "Milk", "Milk", "Water plants"]
    );
    let half = world
        .refused("rtm_batch", json!({"operations": [
            {"op": "create", "name": "Two"}, {"op": "complete", "task": "Milk"}, {"op": "create", "name": "Three"},
        ]}), "tasks/AMBIGUOUS")
        .await;
    assert_eq!(
        (&half["effect"], &half["done"], &half["skipped"]),
        (&json!("partial"), &json!(1), &json!(1)),
        "{half}"
    );
    assert_eq!((world.count("Two"), world.count("Three")), (1, 0));
    let bad = world
        .call("rtm_batch", json!({"operations": [{"op": "create", "nmae": "x"}]}))
        .await
        .expect_err("refused");
    assert_eq!(bad["reason"], json!("mcp/BAD_ARGUMENTS"), "{bad}");
}

#[tokio::test]
async fn a_repeating_task_comes_back_with_its_next_date() {
    let world = World::new().await;
    world.done("rtm_createTask", json!({"name": "Bins ^today *every week"})).await;
    world.done("rtm_completeTask", json!({"taskId": "Bins"})).await;
    let found = world.done("rtm_findTasks", json!({"filter": "name:Bins"})).await;
    assert_eq!(found["total"], json!(1), "{found}");
    assert!(found["tasks"][0]["completed"].is_null());
    let all = world.done("rtm_findTasks", json!({"filter": "name:Bins", "completed": true})).await;
    assert_eq!(all["total"], json!(2), "{all}");
}

#[tokio::test]
async fn methods_that_only_read_can_be_called_and_tell_no_secrets() {
    let world = World::seeded(shop()).await;
    let called =
        world.done("rtm_call", json!({"method": "rtm.time.parse", "parameters": {"text": "tomorrow"}})).await;
    assert!(called["answer"].to_string().contains("precision"), "{called}");
    for method in ["rtm.test.echo", "rtm.tasks.add", "rtm.auth.checkToken"] {
        world.refused("rtm_call", json!({"method": method}), "tasks/METHOD_NOT_ALLOWED").await;
    }
    world
        .refused(
            "rtm_call",
            json!({"method": "rtm.tasks.getList", "parameters": {"api_key": "x"}}),
            "tasks/INVALID_VALUE",
        )
        .await;
}

#[tokio::test]
async fn what_others_change_is_seen_with_the_next_look_and_by_changes_alone() {
    let world = World::seeded(shop()).await;
    world.done("rtm_findTasks", json!({})).await;
    let second = world.afresh();
    second.done("rtm_updateTask", json!({"task": "Report", "name": "Reports"})).await;
    second.done("rtm_moveTask", json!({"task": "Water plants", "to": "Work"})).await;
    second.done("rtm_deleteTask", json!({"task": "Call Ann"})).await;
    world.control().clear_calls();
    let found = world.done("rtm_findTasks", json!({"filter": "list:Work"})).await;
    assert_eq!(names(&found), ["Reports", "Milk", "Water plants"]);
    let asked: Vec<_> =
        world.control().calls().into_iter().filter(|call| call.method == "rtm.tasks.getList").collect();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].params.contains_key("last_sync"), "{:?}", asked[0].params);
}

#[tokio::test]
async fn every_answer_keeps_the_schema_it_promised() {
    let world = World::seeded(shop()).await;
    let caller = failwell_rpc::Caller::anonymous();
    let incoming = failwell_pipeline::IncomingRequest::in_process(failwell_rpc::Dialect::Rpc, &caller);
    let call = failwell_pipeline::Call::list(failwell_sdk::List::Tools);
    let reply = world.pipeline.handle_call(incoming, Ok(call)).await.reply.expect("an answer");
    let body: Value = serde_json::from_slice(&reply.body).expect("JSON");
    let tools = body["result"]["tools"].as_array().expect("tools");
    assert_eq!(tools.len(), 29, "{:?}", tools.iter().map(|tool| tool["name"].as_str()).collect::<Vec<_>>());
    for tool in tools {
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], json!("object"), "{tool}");
            jsonschema::meta::validate(&tool[schema])
                .unwrap_or_else(|error| panic!("{}: {error}", tool["name"]));
            agree_on_mutations(&tool["name"].to_string(), &tool[schema]);
        }
        assert!(tool["title"].is_string() && tool["description"].is_string(), "{tool}");
    }
}

/// For every operator that is evaluated locally, the result equals the service's.
#[tokio::test]
async fn filters_mean_the_same_here_and_there() {
    let world = World::seeded(Seed::demo()).await;
    world.done("rtm_postponeTask", json!({"task": "Quarterly report"})).await;
    // The service counts whole seconds, so `now` differs within the second of a change.
    let changed = world.control().now();
    while world.control().now() == changed {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let everything = world.done("rtm_findTasks", json!({"completed": true, "limit": 500})).await;
    assert!(everything["total"].as_u64().is_some_and(|total| total > 10), "{everything}");
    let mut filters: Vec<String> = [
        "status:completed",
        "status:incomplete",
        "priority:1",
        "priority:none",
        "isTagged:true",
        "isTagged:false",
        "tagContains:e",
        "isRepeating:true",
        "hasNotes:true",
        "hasTimeEstimate:true",
        "isLocated:true",
        "isSubtask:true",
        "hasSubtasks:true",
        "postponed:1",
        "postponed:\"> 0\"",
        "postponed:\"< 1\"",
        "name:re",
        "report",
        "due:never",
        "due:today",
        "due:tomorrow",
        "due:yesterday",
        "NOT due:never",
        "isShared:true",
        "completed:today",
        "added:today",
        "updated:today",
        "list:inbox",
        "priority:1 OR priority:2 AND status:incomplete",
        "NOT (priority:1 OR priority:2)",
        "start:never",
        "startBefore:tomorrow",
        "includeArchived:true AND status:incomplete",
    ]
    .map(str::to_owned)
    .to_vec();
    for field in ["due", "start", "completed", "added", "updated"] {
        for day in
            ["today", "tomorrow", "yesterday", "now", "friday", "in 3 days", "2026-01-01", "2031-12-31"]
        {
            for relation in ["Before", "After"] {
                filters.push(format!("{field}{relation}:\"{day}\""));
            }
        }
        for span in [
            "1 day of today",
            "2 days of tomorrow",
            "1 week of today",
            "7 days of today",
            "1 month of yesterday",
        ] {
            filters.push(format!("{field}Within:\"{span}\""));
        }
    }
    let lists = world.done("rtm_getLists", json!({})).await;
    for list in lists["lists"].as_array().expect("lists") {
        filters.push(format!("list:\"{}\"", list["name"].as_str().expect("a name")));
    }
    let ids = |found: &Value| -> Vec<String> {
        let mut ids: Vec<String> = found["tasks"]
            .as_array()
            .expect("tasks")
            .iter()
            .map(|task| format!("{} {}", task["id"], task["name"]))
            .collect();
        ids.sort();
        ids
    };
    let mut different = Vec::new();
    for filter in &filters {
        let here =
            world.done("rtm_findTasks", json!({"filter": filter, "completed": true, "limit": 500})).await;
        let there = world.done("rtm_getTasks", json!({"filter": filter})).await;
        let (here, there) = (ids(&here), ids(&there));
        let only_here: Vec<&String> = here.iter().filter(|id| !there.contains(id)).collect();
        let only_there: Vec<&String> = there.iter().filter(|id| !here.contains(id)).collect();
        if here != there {
            different.push(format!("{filter}: only here {only_here:?}, only there {only_there:?}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
