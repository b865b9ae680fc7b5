//! Control over HTTP.

use failwell_emulator_rtm::{Options, Permission, Seed};
use serde_json::{Value, json};

use crate::support::{Client, start, start_with};

async fn control(client: &Client, method: &str, what: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let reply = client.send(method, &format!("/_control/{what}"), &body).await.unwrap();
    (reply.status, serde_json::from_str(&reply.body).unwrap())
}

async fn done(client: &Client, what: &str, body: Value) -> Value {
    let (status, answer) = control(client, "POST", what, &body).await;
    assert_eq!(status, 200, "{what}: {answer}");
    answer
}

async fn look(client: &Client, what: &str) -> Value {
    let (status, answer) = control(client, "GET", what, &Value::Null).await;
    assert_eq!(status, 200, "{what}: {answer}");
    answer
}

#[tokio::test]
async fn everything_can_be_set_from_outside() {
    let mut client = start(Seed::empty()).await;
    done(&client, "clock", json!({"set": "2027-01-01T00:00:00Z", "advance_seconds": 60})).await;
    assert_eq!(look(&client, "clock").await["now"], "2027-01-01T00:01:00Z");
    done(&client, "clock", json!({"run": true})).await;
    assert_ne!(look(&client, "clock").await["now"], "2027-01-01T00:01:00Z");
    done(&client, "seed", json!("demo")).await;
    done(&client, "seed", json!({"lists": [{"name": "Boat", "tasks": [{"name": "Patch the sail"}]}]})).await;
    let dump = look(&client, "dump").await;
    assert!(dump["lists"].as_array().unwrap().iter().any(|list| list["name"] == "Boat"));
    assert_eq!(dump, client.control.dump());

    let frob =
        client.bare("rtm.auth.getFrob", &[("format", "json")]).await["frob"].as_str().unwrap().to_owned();
    done(&client, "approve", json!({"frob": frob, "perms": "read"})).await;
    let given = client.bare("rtm.auth.getToken", &[("format", "json"), ("frob", &frob)]).await;
    assert_eq!(given["auth"]["perms"], "read");
    assert_eq!(control(&client, "POST", "deny", &json!({"frob": frob})).await.0, 404);
    let token = done(&client, "token", Value::Null).await["token"].as_str().unwrap().to_owned();
    done(&client, "perms", json!({"token": token, "perms": "write"})).await;
    done(&client, "revoke", json!({"token": token})).await;
    assert_eq!(control(&client, "POST", "revoke", &json!({"token": token})).await.0, 404);

    done(&client, "fail", json!({"kind": "refuse", "code": 105, "methods": "rtm.lists.*", "times": 1})).await;
    assert_eq!(client.refused("rtm.lists.getList", &[]).await, "105");
    done(&client, "delay", json!({"milliseconds": 1, "times": 1})).await;
    done(&client, "fail", json!({"kind": "html"})).await;
    client.ok("rtm.lists.getList", &[]).await;
    assert_eq!(control(&client, "DELETE", "fail", &Value::Null).await.0, 200);
    client.ok("rtm.lists.getList", &[]).await;
    let calls = look(&client, "calls").await;
    let last = calls["calls"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["method"], &last["outcome"]), (&json!("rtm.lists.getList"), &json!("ok")));
    assert_eq!(last["params"]["auth_token"], json!(client.token));
    control(&client, "DELETE", "calls", &Value::Null).await;
    assert_eq!(look(&client, "calls").await["calls"], json!([]));

    done(&client, "pro", json!({"on": false})).await;
    done(&client, "timezone", json!("Asia/Tokyo")).await;
    let settings = client.ok("rtm.settings.getList", &[]).await;
    assert_eq!(
        (&settings["settings"]["pro"], &settings["settings"]["timezone"]),
        (&json!("0"), &json!("Asia/Tokyo"))
    );
    done(&client, "rate", json!({"on": true, "rate": {"per_second": 0.001, "burst": 1.0}})).await;
    assert_eq!(client.raw("rtm.test.echo", &[]).await.unwrap().status, 200);
    assert_eq!(client.raw("rtm.test.echo", &[]).await.unwrap().status, 503);
    done(&client, "rate", json!({"on": false})).await;

    done(&client, "reset", Value::Null).await;
    assert_eq!(client.refused("rtm.lists.getList", &[]).await, "98", "tokens go too");
    let old = std::mem::replace(&mut client.token, client.control.token(Permission::Read));
    assert_ne!(old, client.token, "what was given out is not given out again");
    assert_eq!(look(&client, "dump").await["taskseries"], json!([]));
}

#[tokio::test]
async fn mistakes_are_said() {
    let client = start(Seed::empty()).await;
    for (method, what, body, status, excerpt) in [
        ("POST", "clok", json!({}), 404, "there is no action clok; one of: reset, seed"),
        ("GET", "reset", Value::Null, 405, "use GET to look"),
        ("PUT", "reset", Value::Null, 405, "use GET to look"),
        ("POST", "clock", json!({"to": 5}), 422, "unknown field `to`"),
        ("POST", "fail", json!({"kind": "explode"}), 422, "unknown variant `explode`"),
        ("POST", "approve", json!({"frob": "x"}), 404, "no login is waiting"),
        ("POST", "timezone", json!("Mars/Base"), 404, "no such time zone"),
        (
            "POST",
            "seed",
            json!({"lists": [{"name": "A", "tasks": [{"name": "b", "due": "whenever"}]}]}),
            422,
            "due date",
        ),
        ("POST", "seed", json!({"lists": [{"name": "A", "filter": "colour:red"}]}), 422, "filter"),
        ("POST", "seed", json!({"timezone": "Mars/Base"}), 422, "time zone"),
    ] {
        let (got, answer) = control(&client, method, what, &body).await;
        assert_eq!(got, status, "{what} {body}: {answer}");
        assert!(answer["error"].as_str().unwrap().contains(excerpt), "{what} {body}: {answer}");
    }
}

#[tokio::test]
async fn control_can_be_left_out() {
    let client = start_with(Options { control: false, ..Options::default() }).await;
    assert_eq!(client.send("GET", "/_control/dump", "").await.unwrap().status, 404);
}

/// A page whose name points here, and a page that merely sends a request, change nothing and read nothing.
#[tokio::test]
async fn web_pages_have_no_control() {
    let client = start(Seed::empty()).await;
    let clock = look(&client, "clock").await;
    for headers in [
        "host: rebound.example",
        "host: 127.0.0.1\r\norigin: https://page.example",
        "host: localhost\r\norigin: null",
    ] {
        for (method, path, body) in [
            ("POST", "/_control/clock", r#"{"set": "2030-01-01T00:00:00Z"}"#),
            ("GET", "/_control/dump", ""),
            ("DELETE", "/_control/calls", ""),
        ] {
            let reply = client.send_from(headers, method, path, body).await.unwrap();
            assert_eq!(reply.status, 403, "{headers} {method} {path}: {}", reply.body);
            assert!(reply.body.contains("host") || reply.body.contains("Host"), "{}", reply.body);
        }
        // The emulated service itself does not look at these headers, like the real one.
        let page = client.send_from(headers, "GET", "/", "").await.unwrap();
        assert_eq!(page.status, 200, "{headers}");
    }
    assert_eq!(look(&client, "clock").await, clock);
}
