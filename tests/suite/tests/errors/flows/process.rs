//! The fixture as a process: its standard output and its exit.

use std::process::Stdio;

use failwell_rpc::Revision;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

use crate::client::soon;
use crate::client::wire::{Wire, request};
use crate::received_message::ReceivedMessage;
use crate::requests;

const REVISION: Revision = Revision::LATEST;

fn fixture(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixture"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true).spawn().expect("the fixture starts")
}

async fn terminate(child: &Child) {
    let pid = child.id().expect("it still runs").to_string();
    let sent = Command::new("kill").args(["-TERM", &pid]).status().await.expect("kill runs");
    assert!(sent.success());
}

#[tokio::test]
async fn standard_output_is_protocol_and_nothing_else() {
    let mut child = fixture(&["--stdio"]);
    let mut input = child.stdin.take().expect("stdin");
    let lines = [
        requests::tool(REVISION, "1", "suite_panic", json!({})),
        "Traceback (most recent call last):".to_owned(),
        requests::good(REVISION, "2"),
    ];
    input.write_all((lines.join("\n") + "\n").as_bytes()).await.expect("written");
    drop(input);
    let output = soon("the end", child.wait_with_output()).await.expect("output");
    assert!(output.status.success(), "{}", output.status);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let mut ids: Vec<Option<String>> =
        text.lines().map(|line| ReceivedMessage::read(line.as_bytes()).expect("a message").id).collect();
    ids.sort();
    assert_eq!(ids, [None, Some("1".to_owned()), Some("2".to_owned())], "{text}");
    let errors = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(errors.lines().count(), 2, "one line per failure: {errors}");
}

#[tokio::test]
async fn it_answers_before_it_stops() {
    let mut child = fixture(&["--stdio"]);
    let mut input = child.stdin.take().expect("stdin");
    let call = requests::tool(REVISION, "1", "suite_late", json!({"ms": 2_000})) + "\n";
    input.write_all((call + &requests::good(REVISION, "2") + "\n").as_bytes()).await.expect("written");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
    let first = soon("an answer", lines.next_line()).await.expect("readable").expect("an answer");
    assert!(ReceivedMessage::read(first.as_bytes()).expect("a message").is_answer_to("2"), "{first}");
    terminate(&child).await;
    let second = soon("an answer", lines.next_line()).await.expect("readable").expect("an answer");
    assert_eq!(ReceivedMessage::read(second.as_bytes()).expect("a message").first_text(), "2000 ms later");
    assert!(soon("the end", child.wait()).await.expect("ended").success());
    drop(input);
}

#[tokio::test]
async fn over_http_too() {
    let mut child = fixture(&["--listen", "127.0.0.1:0"]);
    let mut errors = BufReader::new(child.stderr.take().expect("stderr"));
    let mut line = String::new();
    soon("the address", errors.read_line(&mut line)).await.expect("readable");
    let address = line.trim().strip_prefix("listening on http://").and_then(|rest| rest.strip_suffix("/mcp"));
    let address: std::net::SocketAddr = address.and_then(|text| text.parse().ok()).expect("an address");

    let mut call: Value =
        serde_json::from_str(&requests::tool(REVISION, "1", "suite_late", json!({"ms": 1_000})))
            .expect("a message");
    call["params"]["_meta"]["progressToken"] = json!("begun");
    let body = call.to_string();
    let mut headers = requests::headers(body.as_bytes(), REVISION);
    headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
    headers.push(("Accept".to_owned(), "application/json, text/event-stream".to_owned()));
    let mut wire = Wire::connect(address).await;
    wire.write(&request("POST", "/mcp", &address.to_string(), &headers, body.as_bytes())).await;
    let mut response = wire.head().await;
    response.body.extend(wire.chunk().await.expect("the first progress"));
    terminate(&child).await;
    while let Some(chunk) = wire.chunk().await {
        response.body.extend(chunk);
    }
    assert_eq!(response.message().first_text(), "1000 ms later");
    assert!(soon("the end", child.wait()).await.expect("ended").success());
    let mut rest = String::new();
    soon("the journal", errors.read_to_string(&mut rest)).await.expect("readable");
    assert_eq!(rest, "", "nothing failed, so nothing is told");
}
