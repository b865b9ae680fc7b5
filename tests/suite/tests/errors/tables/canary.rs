//! Every reason of the catalogue, with something private in every place that can hold it.

use failwell_fault::{Condition, reason};
use failwell_rpc::Revision;
use serde_json::json;

use crate::client::stdio::Stdio;
use crate::judge;
use crate::letter;
use crate::schemas;
use crate::world::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_reason_leaks_in_any_revision() {
    for revision in Revision::ALL {
        let world = World::new();
        let mut client = Stdio::open(&world, revision).await;
        for row in reason::all() {
            // A cancelled request is met with silence; a question to the client is no failure.
            let silent = row.condition == Condition::Cancelled || row.id == "mcp/INPUT_NEEDED";
            if silent {
                continue;
            }
            client.send(letter::tool(revision, "1", "suite_fail", json!({"reason": row.id}))).await;
            let seen = client.next().await;
            let judged = judge::no_leak(&seen.text)
                .and_then(|()| schemas::check(&seen.value, Some("tools/call"), revision))
                .and_then(|()| judge::journal(&world, &seen));
            assert_eq!(judged, Ok(()), "{} in {}", row.id, revision.as_str());
            assert_eq!(seen.reason(), row.id, "{}", seen.text);
        }
        client.still_works().await;
    }
}
