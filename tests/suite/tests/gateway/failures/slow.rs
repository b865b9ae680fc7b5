//! A client that does not read its messages, together with others that do.

use std::time::{Duration, Instant};

use failwell_rpc::Era;
use serde_json::{Value, json};

use crate::client::{GatewayClient, evil, text};

/// A call with this many progress notifications of this many bytes.
fn telling(times: u64, bytes: u64) -> Value {
    let arguments = json!({"times": times, "bytes": bytes});
    json!({"name": "ev__progress", "arguments": arguments, "_meta": {"progressToken": "mine"}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_does_not_delay_others() {
    let mut slow = GatewayClient::new(vec![evil()]).await;
    let mut other = slow.at_reference(Era::Session).await;
    assert_eq!(text(&other.call("ev__echo", json!({})).await), "{}");
    // Far more than the queue of a client holds.
    let unread = slow.start("tools/call", telling(3_000, 4_096)).await;
    let began = Instant::now();
    // Long enough to fill the queue of the slow client, and shorter than the time limit for a slow client.
    while began.elapsed() < Duration::from_secs(5) {
        let id = other.start("tools/call", telling(3, 0)).await;
        let messages = [other.hear().await, other.hear().await, other.hear().await, other.hear().await];
        assert_eq!(messages[3]["id"], id, "the answer comes last: {messages:?}");
    }
    let longest = Duration::from_secs(20);
    assert!(began.elapsed() < longest, "held up for {:?}", began.elapsed());
    // The queued notifications arrive in order, and the response after them.
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
