//! Login and logout.

use std::time::{Duration, Instant};

use failwell_emulator_rtm::{Fault, FaultKind, Permission, Seed};
use failwell_tasks::{Login, Settings, is_logged_in, log_out};
use serde_json::json;

use super::world::{World, frob_of};

#[tokio::test]
async fn from_a_terminal() {
    let world = World::logged_out(Seed::empty()).await;
    let settings = || world.settings.clone();
    assert!(!is_logged_in(settings()).await.expect("known"));
    let login = Login::begin(settings(), failwell_tasks::Permission::Read).await.expect("begun");
    let address = login.address().expose().clone();
    assert!(address.starts_with(&format!("{}/services/auth/?api_key=", world.settings.service)), "{address}");
    assert!(world.control().approve(&frob_of(&address), Permission::Read));
    let status = login.finish().await.expect("done");
    assert_eq!((status.username.as_deref(), status.permission.as_deref()), (Some("dana"), Some("read")));
    // A running server sees the new login.
    world.done("rtm_findTasks", json!({})).await;
    world.refused("rtm_createTask", json!({"name": "x"}), "tasks/NOT_PERMITTED").await;
    assert!(log_out(settings()).await.expect("out") && !log_out(settings()).await.expect("out"));
    // The running server notices the logout a little later.
    let end = Instant::now() + Duration::from_secs(30);
    while world.call("rtm_findTasks", json!({})).await.is_ok() {
        assert!(Instant::now() < end, "still logged in");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test]
async fn an_abandoned_login_completes_by_itself() {
    let world = World::logged_out(Seed::empty()).await;
    let begun = world.done("rtm_authenticate", json!({"permission": "read"})).await;
    assert_eq!((&begun["authenticated"], &begun["pending"]), (&json!(false), &json!(true)));
    assert!(world.control().approve(&frob_of(begun["url"].as_str().expect("an address")), Permission::Read));
    let end = Instant::now() + Duration::from_secs(30);
    while world.done("rtm_getAuthStatus", json!({})).await["authenticated"] != json!(true) {
        assert!(Instant::now() < end, "still waiting");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // The existing permission is sufficient for the first request and not for the second.
    let same = world.done("rtm_authenticate", json!({"permission": "read"})).await;
    assert_eq!(same["authenticated"], json!(true));
    let more = world.done("rtm_authenticate", json!({"permission": "delete"})).await;
    assert!(more["url"].as_str().is_some_and(|url| url.contains("perms=delete")), "{more}");
}

#[tokio::test]
async fn what_goes_wrong_on_the_way() {
    let world = World::logged_out(Seed::empty()).await;
    world.refused("rtm_authenticate", json!({"frob": "nonsense"}), "tasks/LOGIN_PENDING").await;
    world.control().fail(Fault::new(FaultKind::Unavailable));
    world.refused("rtm_authenticate", json!({}), "tasks/RTM_UNAVAILABLE").await;
    world.control().clear_faults();
    let wrong = |secret: &str, key: &str| {
        let settings = Settings {
            key: Some(failwell_tasks::ApiKey {
                key: failwell_fault::Secret::new(key.to_owned()),
                secret: failwell_fault::Secret::new(secret.to_owned()),
            }),
            ..world.settings.clone()
        };
        async move {
            Login::begin(settings, failwell_tasks::Permission::Read)
                .await
                .err()
                .map(|fault| fault.reason().id)
        }
    };
    let emulator = world.emulator.as_ref().expect("there");
    assert_eq!(wrong("WRONG", emulator.api_key()).await, Some("tasks/BAD_SECRET"));
    assert_eq!(wrong(emulator.secret(), "WRONG").await, Some("tasks/BAD_API_KEY"));
    let none = Settings { key: None, ..world.settings.clone() };
    let fault = Login::begin(none, failwell_tasks::Permission::Read).await.err().expect("refused");
    assert_eq!(fault.reason().id, "tasks/NOT_CONFIGURED");
}
