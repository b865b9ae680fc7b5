//! Error messages of upstreams: which of them callers get, and which are only in the journal.

use std::path::PathBuf;

use failwell_gateway::Endpoint;
use failwell_toolbox::ToolServer;
use serde_json::{Value, json};

use crate::client::{GatewayClient, evil, failed, text};

/// Texts that no caller may get, even if the operator trusts the messages of a server.
const NEVER: [&str; 4] = ["hunter2", "ghp_", "/srv/secret", "db.internal"];

#[tokio::test(flavor = "multi_thread")]
async fn callers_read_an_excerpt_of_what_a_trusted_upstream_says_and_nothing_of_another() {
    for trusted in [false, true] {
        let mut settings = evil();
        settings.trusted_errors = trusted;
        let mut world = GatewayClient::new(vec![settings]).await;
        let answer = world.call("ev__nasty", json!({})).await;
        assert_eq!(failed(&answer).1, "gateway/UPSTREAM_ERROR");
        let data = &answer["error"]["data"];
        assert_eq!(data["facts"]["upstream_code"], -32050);
        for member in ["title", "detail", "hint"] {
            assert!(!data[member].to_string().contains("connect"), "not in a sentence of ours: {answer}");
        }
        if trusted {
            let excerpt = data["excerpt"].as_str().expect("an excerpt");
            assert!(excerpt.starts_with("```\nconnect [address] failed: token [secret]"), "{excerpt}");
            assert!(excerpt.ends_with("\n```"), "{excerpt}");
            for secret in NEVER {
                assert!(
                    !world.transcript.contains(secret),
                    "{secret} reached the caller: {}",
                    world.transcript
                );
            }
        } else {
            assert_eq!(data.get("excerpt"), None, "{answer}");
            world.nothing_leaked();
        }
        let journal = world.journal();
        assert!(journal.contains("db.internal"), "the operator reads it");
        assert!(!journal.contains("hunter2"), "but no password: {journal}");
        world.gateway.stop();
    }
}

/// The number under this name.
fn number(world: &GatewayClient, name: &str) -> u64 {
    let mut numbers = failwell_toolbox::MetricsText::default();
    world.gateway.metrics(&mut numbers);
    let metrics = numbers.into_text();
    let line = metrics.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{metrics}"));
    line.rsplit(' ').next().and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_lines_are_counted_and_reported_with_a_crash() {
    let mut world = GatewayClient::new(vec![evil()]).await;
    assert_eq!(text(&world.call("ev__noise", json!({})).await), "after the noise");
    assert_eq!(number(&world, "failwell_upstream_stray_lines_total{upstream=\"ev\"}"), 2);
    let answer = world.call("ev__crash", json!({})).await;
    assert_eq!(failed(&answer).1, "gateway/UPSTREAM_CRASHED");
    let journal = world.journal();
    assert!(journal.contains("2 lines on its standard output were no messages"), "{journal}");
    assert!(journal.contains("debug: starting up"), "{journal}");
    assert!(!world.transcript.contains("debug: starting up"));
    world.call("ev__noise", json!({})).await;
    assert_eq!(number(&world, "failwell_upstream_stray_lines_total"), 4, "over all connections");
    world.gateway.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_only_prints_is_known_by_what_it_printed() {
    let mut settings = evil();
    settings.start_timeout = std::time::Duration::from_secs(4);
    if let Endpoint::Child { program, arguments, .. } = &mut settings.endpoint {
        *program = PathBuf::from("/bin/sh");
        *arguments =
            ["-c", "echo usage: serve PORT; echo no port given; sleep 30"].map(str::to_owned).to_vec();
    }
    let mut world = GatewayClient::new(vec![settings]).await;
    let answer = world.ask("resources/read", json!({"uri": "ev+x://y"})).await;
    assert_eq!(failed(&answer).1, "gateway/UPSTREAM_STARTING", "{answer}");
    assert!(world.journal().contains("2 lines it said until then were no messages"), "{}", world.journal());
    world.gateway.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_be_listed_is_in_the_log_once() {
    let mut gone = evil();
    gone.name = "gone".to_owned();
    if let Endpoint::Child { program, .. } = &mut gone.endpoint {
        *program = PathBuf::from("/no/such/program");
    }
    let mut world = GatewayClient::new(vec![evil(), gone]).await;
    for _ in 0..5 {
        let list = world.ask("tools/list", json!({})).await;
        assert_eq!(list["result"]["_meta"]["dev.failwell/unreachable"][0]["server"], "gone", "{list}");
    }
    let journal = world.journal();
    let lines: Vec<Value> = journal
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .filter(|line: &Value| line["error_details"]["unlisted"] == "gone")
        .collect();
    assert_eq!(lines.len(), 1, "{journal}");
    assert_eq!(lines[0]["reason"], "gateway/UPSTREAM_DOWN");
    world.gateway.stop();
}
