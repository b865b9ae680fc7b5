//! Contacts, groups, places, times, reflection, subscriptions and scripts.

use failwell_emulator_rtm::Seed;
use serde_json::json;

use crate::support::start;

#[tokio::test]
async fn people() {
    let client = start(Seed::demo()).await;
    for (contact, code) in [("", "1000"), ("dana", "1030"), ("ines", "1010"), ("nobody", "1020")] {
        assert_eq!(client.refused("rtm.contacts.add", &[("contact", contact)]).await, code, "{contact}");
    }
    let added = client.ok("rtm.contacts.add", &[("contact", "tomasz")]).await;
    assert_eq!(added["contact"]["fullname"], "Tomasz Ekberg");
    let contact = added["contact"]["id"].as_str().unwrap();
    let group = client.ok("rtm.groups.add", &[("group", "Team")]).await;
    let group = group["group"]["id"].as_str().unwrap();
    let pair = [("group_id", group), ("contact_id", contact)];
    client.ok("rtm.groups.addContact", &pair).await;
    let groups = client.ok("rtm.groups.getList", &[]).await;
    assert_eq!(groups["groups"]["group"][0]["contacts"]["contact"][0]["id"], contact);
    client.ok("rtm.groups.removeContact", &pair).await;
    assert_eq!(
        client.refused("rtm.groups.addContact", &[("group_id", group), ("contact_id", "0")]).await,
        "330"
    );
    assert_eq!(client.refused("rtm.groups.addContact", &[("group_id", "0")]).await, "370");
    assert_eq!(client.refused("rtm.groups.add", &[]).await, "2000");
    client.ok("rtm.groups.delete", &[("group_id", group)]).await;
    client.ok("rtm.contacts.delete", &[("contact_id", contact)]).await;
    assert_eq!(client.refused("rtm.contacts.delete", &[("contact_id", contact)]).await, "330");
    let left = client.ok("rtm.contacts.getList", &[]).await;
    assert_eq!(left["contacts"]["contact"].as_array().unwrap().len(), 1);
    assert_eq!(client.ok("rtm.groups.getList", &[]).await["groups"], json!([]));
    let given = client.ok("rtm.tasks.add", &[("name", "For Ines"), ("give_to", "2")]).await;
    assert_eq!(given["list"]["taskseries"][0]["participants"]["contact"][0]["username"], "ines");
}

#[tokio::test]
async fn settings_places_and_tags() {
    let client = start(Seed::demo()).await;
    let settings = client.ok("rtm.settings.getList", &[]).await["settings"].clone();
    assert_eq!(settings["timezone"], "Europe/Berlin");
    assert_eq!((&settings["dateformat"], &settings["pro"]), (&json!("0"), &json!("1")));
    let places = client.ok("rtm.locations.getList", &[]).await;
    assert_eq!(places["locations"]["location"][0]["name"], "Home");
    let tags = client.ok("rtm.tags.getList", &[]).await;
    let expected: Vec<_> =
        ["call", "errand", "food", "online", "writing"].iter().map(|name| json!({"name": name})).collect();
    assert_eq!(tags["tags"]["tag"], json!(expected));
    assert_eq!(client.ok("rtm.test.login", &[]).await["user"]["username"], "dana");
}

#[tokio::test]
async fn times() {
    let client = start(Seed::empty()).await;
    for (text, zone, expected, precision) in [
        ("tomorrow", "Europe/Berlin", "2026-11-11T23:00:00Z", "date"),
        ("tomorrow", "", "2026-11-12T00:00:00Z", "date"),
        ("9am", "America/New_York", "2026-11-11T14:00:00Z", "time"),
    ] {
        let answer = client.ok("rtm.time.parse", &[("text", text), ("timezone", zone)]).await;
        assert_eq!(answer["time"], json!({"precision": precision, "$t": expected}), "{text} {zone}");
    }
    let american = client.ok("rtm.time.parse", &[("text", "2/1/2027"), ("dateformat", "1")]).await;
    assert_eq!(american["time"]["$t"], "2027-02-01T00:00:00Z");
    assert_eq!(client.refused("rtm.time.parse", &[("text", "gibberish")]).await, "5000");
    let arguments =
        [("from_timezone", "Europe/Berlin"), ("to_timezone", "Asia/Tokyo"), ("time", "2026-11-11T10:00:00Z")];
    let answer = client.ok("rtm.time.convert", &arguments).await;
    assert_eq!(answer["time"], json!({"timezone": "Asia/Tokyo", "$t": "2026-11-11T18:00:00"}));
    assert_eq!(client.refused("rtm.time.convert", &[("to_timezone", "Mars/Base")]).await, "5000");
    let zones = client.ok("rtm.timezones.getList", &[]).await;
    let zones = zones["timezones"]["timezone"].as_array().unwrap();
    let berlin = zones.iter().find(|zone| zone["name"] == "Europe/Berlin").unwrap();
    assert_eq!((&berlin["dst"], &berlin["offset"]), (&json!("1"), &json!("3600")));
    assert!(zones.len() > 300);
}

#[tokio::test]
async fn methods_describe_themselves() {
    let client = start(Seed::empty()).await;
    let methods = client.ok("rtm.reflection.getMethods", &[]).await;
    let methods = methods["methods"]["method"].as_array().unwrap().clone();
    assert_eq!(methods.len(), 64);
    for name in methods {
        let name = name.as_str().unwrap();
        let method =
            client.ok("rtm.reflection.getMethodInfo", &[("method_name", name)]).await["method"].clone();
        assert_eq!(method["name"], name);
        assert!(method["description"].as_str().unwrap().ends_with('.'), "{name}");
        assert_eq!(method["arguments"]["argument"][0]["name"], "api_key", "{name}");
    }
    assert_eq!(client.refused("rtm.reflection.getMethodInfo", &[("method_name", "rtm.no")]).await, "112");
}

#[tokio::test]
async fn subscriptions_and_scripts_are_stored() {
    let client = start(Seed::empty()).await;
    let topics = client.ok("rtm.push.getTopics", &[]).await;
    assert_eq!(topics["topics"]["topic"].as_array().unwrap().len(), 5);
    let good = [
        ("url", "https://hook.example/a"),
        ("topics", "task_created,task_completed"),
        ("push_format", "json"),
    ];
    let made = client.ok("rtm.push.subscribe", &good).await;
    let id = made["subscription"]["id"].as_str().unwrap();
    assert_eq!(client.refused("rtm.push.subscribe", &good).await, "6000", "one for each address");
    let plain = [("url", "http://hook.example/b"), ("topics", "task_created"), ("push_format", "json")];
    assert_eq!(client.refused("rtm.push.subscribe", &plain).await, "6000");
    let all = client.ok("rtm.push.getSubscriptions", &[]).await;
    assert_eq!(all["subscriptions"]["subscription"][0]["url"], "https://hook.example/a");
    client.ok("rtm.push.unsubscribe", &[("subscription_id", id)]).await;
    assert_eq!(client.refused("rtm.push.unsubscribe", &[("subscription_id", id)]).await, "380");
    assert_eq!(client.ok("rtm.push.getSubscriptions", &[]).await["subscriptions"], json!([]));

    let script = client.ok("rtm.scripts.add", &[("name", "tidy"), ("code", "1;")]).await;
    let id = script["script"]["id"].as_str().unwrap();
    client.ok("rtm.scripts.setName", &[("script_id", id), ("name", "clean")]).await;
    client.ok("rtm.scripts.setCode", &[("script_id", id), ("code", "2;")]).await;
    client.ok("rtm.scripts.setParams", &[("script_id", id), ("params", "{}")]).await;
    let all = client.ok("rtm.scripts.getList", &[]).await;
    let expected = json!({"id": id, "name": "clean", "code": "2;", "params": "{}"});
    assert_eq!(all["scripts"]["script"][0], expected);
    assert_eq!(client.refused("rtm.scripts.run", &[("script_id", id)]).await, "7000");
    client.ok("rtm.scripts.delete", &[("script_id", id)]).await;
    assert_eq!(client.refused("rtm.scripts.run", &[("script_id", id)]).await, "390");
}
