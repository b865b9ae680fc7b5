//! Resources that are watched, and given back.

use failwell_rpc::Era;
use failwell_suite::program::Folder;
use serde_json::json;

use crate::client::{World, evil_with, text};

/// More than may wait on one connection.
const OFTEN: usize = 4_200;

#[tokio::test(flavor = "multi_thread")]
async fn watching_and_giving_up_for_ever_jams_nobody() {
    let folder = Folder::create();
    let log = folder.path().join("log");
    let path = log.to_str().expect("UTF-8");
    let mut first = World::new(vec![evil_with(&[("EVIL_ERA", "modern"), ("EVIL_LOG", path)])]).await;
    let mut second = first.beside(Era::Session).await;
    let uri = json!({"uri": "ev+file:///a"});
    for _ in 0..OFTEN {
        for method in ["resources/subscribe", "resources/unsubscribe"] {
            let answer = first.ask(method, uri.clone()).await;
            assert!(answer["error"].is_null(), "{answer}");
        }
    }
    assert_eq!(text(&second.call("ev__echo", json!({})).await), "{}");
    let heard = std::fs::read_to_string(&log).expect("a log");
    let count = |line: &str| heard.lines().filter(|heard| *heard == line).count();
    assert_eq!(count("notifications/cancelled of subscriptions/listen"), OFTEN);
    assert_eq!(count("subscriptions/listen"), OFTEN + 1, "and one for the lists");
    first.gateway.stop();
}
