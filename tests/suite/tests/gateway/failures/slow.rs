//! A client that does not read what it is told, beside others that do.

use std::time::{Duration, Instant};

use failwell_rpc::Era;
use serde_json::{Value, json};

use crate::client::{GatewayClient, evil, text};

/// A call that tells so often how far it is, and says so many bytes each time.
fn telling(times: u64, bytes: u64) -> Value {
    let arguments = json!({"times": times, "bytes": bytes});
    json!({"name": "ev__progress", "arguments": arguments, "_meta": {"progressToken": "mine"}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_does_not_delay_others() {
    let mut slow = GatewayClient::new(vec![evil()]).await;
    let mut other = slow.at_reference(Era::Session).await;
    assert_eq!(text(&other.call("ev__echo", json!({})).await), "{}");
    // Far more than may wait for a reader.
    let unread = slow.start("tools/call", telling(3_000, 4_096)).await;
    let began = Instant::now();
    // Long enough for the other client to be full, and shorter than the patience with a reader.
    while began.elapsed() < Duration::from_secs(5) {
        let id = other.start("tools/call", telling(3, 0)).await;
        let messages = [other.hear().await, other.hear().await, other.hear().await, other.hear().await];
        assert_eq!(messages[3]["id"], id, "the answer comes last: {messages:?}");
    }
    let longest = Duration::from_secs(20);
    assert!(began.elapsed() < longest, "held up for {:?}", began.elapsed());
    // What is left of what it was told comes in order, and the answer after it.
    let mut last = 0;
    loop {
        let messages = slow.hear().await;
        if messages["id"] == unread {
            assert_eq!(text(&messages), "done");
            break;
        }
        let progress = messages["params"]["progress"].as_u64().expect("progress");
        assert!(progress > last, "{progress} after {last}");
        last = progress;
    }
    assert!((256..3_000).contains(&last), "it was full: {last}");
    slow.gateway.stop();
}
