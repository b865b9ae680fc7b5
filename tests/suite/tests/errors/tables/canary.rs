//! Every reason of the catalogue, with a marker in every private field.

use failwell_fault::{Condition, ReasonRegistry};
use failwell_rpc::Revision;
use serde_json::json;

use crate::client::http::{Http, Server, settings};
use crate::client::stdio::Stdio;
use crate::judge;
use crate::requests;
use crate::schemas;
use crate::world::World;

fn reasons() -> ReasonRegistry {
    failwell_catalogue::registry().expect("no id twice")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_reason_leaks_in_any_revision() {
    for revision in Revision::ALL {
        let world = World::new();
        let mut client = Stdio::open(&world, revision).await;
        for row in reasons().iter() {
            // A cancelled request has no response, and a question to the client is no failure.
            let silent = row.condition == Condition::Cancelled || row.id == "mcp/INPUT_NEEDED";
            if silent {
                continue;
            }
            client.send(requests::tool(revision, "1", "suite_fail", json!({"reason": row.id}))).await;
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

#[tokio::test]
async fn no_reason_leaks_on_the_plain_dialects() {
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::raw(&server, Revision::LATEST);
    for row in reasons().iter() {
        let arguments = json!({"reason": row.id});
        let rpc = json!({"jsonrpc": "2.0", "id": 1, "method": "suite_fail", "params": arguments});
        for (path, body, accept) in [
            ("/rpc", &rpc, "application/json"),
            ("/v1/tools/suite_fail", &arguments, "application/json"),
            ("/v1/tools/suite_fail", &arguments, "application/problem+json"),
        ] {
            let response = client.post_with(path, body.to_string(), &[("Accept", accept)]).await;
            let seen = response.message();
            assert_eq!(seen.reason(), row.id, "{}", seen.text);
            assert_eq!(judge::no_leak(&format!("{:?} {}", response.headers, seen.text)), Ok(()));
            assert_eq!(judge::journal(&world, &seen), Ok(()), "{} {path}", row.id);
            let expected = if path == "/rpc" { response.status == 200 } else { response.status >= 400 };
            assert!(expected, "{} {path}: {}", row.id, response.status);
        }
    }
    client.still_works().await;
}
