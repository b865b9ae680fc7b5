//! An exchange of error responses between two programs must end.

use failwell_rpc::Revision;
use serde_json::json;

use crate::client::stdio::Stdio;
use crate::requests;
use crate::world::World;

#[tokio::test]
async fn ten_unreadable_lines_are_answered_and_the_rest_met_with_silence() {
    let revision = Revision::LATEST_SESSION;
    let world = World::new();
    let mut client = Stdio::open(&world, revision).await;
    for _ in 0..10 {
        client.send("Traceback (most recent call last):").await;
        assert_eq!(client.next().await.code(), Some(-32700));
    }
    for _ in 0..50 {
        client.send("Traceback (most recent call last):").await;
    }
    assert!(client.still_works().await.is_empty(), "the storm is met with silence");
    // Readable requests are still answered, invalid ones too.
    client.send(requests::request(revision, "1", "no/such/method", &json!({}))).await;
    assert_eq!(client.next().await.code(), Some(-32601));
    let journal = world.journal();
    let unreadable = journal.iter().filter(|line| line["reason"] == "rpc/NOT_JSON").count();
    assert!(unreadable >= 10, "the operator reads of them: {unreadable}");
    let warnings = journal.iter().filter(|line| line["level"] == "warn" && line.get("reason").is_none());
    assert_eq!(warnings.count(), 1, "and of the storm once");
}
