//! `failwell up --demo`: the first minute of a user without an account.

#![cfg(feature = "emulators")]
#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test may stop at the first surprise")]

#[path = "support/first_screen.rs"]
mod first_screen;
#[path = "support/terminal.rs"]
mod terminal;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use first_screen::first_screen;
use serde_json::{Value, json};
use terminal::at_terminal;

struct DemoProgram {
    child: Child,
    screen: String,
    address: String,
    folder: PathBuf,
}

impl Drop for DemoProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Starts the program in an empty folder, optionally with a configuration.
fn start(name: &str, config: Option<&str>) -> DemoProgram {
    let folder = std::env::temp_dir().join(format!("failwell-demo-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    if let Some(config) = config {
        std::fs::write(folder.join("failwell.toml"), config).expect("a file");
    }
    let mut child = at_terminal(env!("CARGO_BIN_EXE_failwell"))
        .args(["up", "--demo", "--listen", "127.0.0.1:0"])
        .current_dir(&folder)
        .env("FAILWELL_STATE", folder.join("state"))
        .env_remove("FAILWELL_KEY")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let screen = first_screen(&mut child);
    let (_, after) = screen.split_once("http://").expect("an address");
    let address = after.split_whitespace().next().expect("an address").to_owned();
    DemoProgram { child, screen, address, folder }
}

impl DemoProgram {
    fn call(&self, tool: &str, arguments: &Value) -> Value {
        let body = arguments.to_string();
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        write!(
            stream,
            "POST /v1/tools/{tool} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        assert!(head.starts_with("HTTP/1.1 200"), "{tool} {arguments}: {answer}");
        serde_json::from_str(body).expect("JSON")
    }

    fn found(&self, filter: &str) -> String {
        self.call("tasks__rtm_findTasks", &json!({"filter": filter})).to_string()
    }
}

/// The calls that the first screen suggests, in order.
fn suggested(screen: &str) -> Vec<(String, Value)> {
    let lines = screen.lines().filter(|line| line.contains("/v1/tools/"));
    lines
        .map(|line| {
            let tool = line.split_once("/v1/tools/").expect("a tool").1.split(' ').next().expect("a tool");
            let body = line.split_once("-d '").expect("a body").1.trim_end_matches('\'');
            (tool.to_owned(), serde_json::from_str(body).expect("JSON"))
        })
        .collect()
}

#[test]
fn tasks_are_added_found_completed_and_brought_back() {
    let running = start("minute", None);
    let suggested = suggested(&running.screen);
    let tools: Vec<&str> = suggested.iter().map(|(tool, _)| tool.as_str()).collect();
    let expected = ["rtm_createTask", "rtm_findTasks", "rtm_completeTask", "rtm_undo"]
        .map(|tool| format!("tasks__{tool}"));
    assert_eq!(tools, expected);
    assert!(!running.screen.contains("rtm key"), "no key is missed: {}", running.screen);
    assert!(running.found("tag:writing").contains("Quarterly report"), "there is something in it");
    running.call(tools[0], &suggested[0].1);
    let found = running.call(tools[1], &suggested[1].1).to_string();
    assert!(found.contains("Buy milk") && found.contains("Renew the passport"), "{found}");
    running.call(tools[2], &suggested[2].1);
    assert!(running.found("status:completed").contains("Buy milk"));
    running.call(tools[3], &suggested[3].1);
    assert!(!running.found("status:completed").contains("Buy milk"));
    assert!(running.found("due:tomorrow AND status:incomplete").contains("Buy milk"));
}

#[test]
fn it_is_neither_stored_nor_shown() {
    let running = start("traces", None);
    running.found("tag:errand");
    let status = running.call("tasks__rtm_getAuthStatus", &json!({})).to_string();
    assert!(status.contains("Dana Demo"), "{status}");
    let mut ahead = vec![running.folder.join("state")];
    while let Some(folder) = ahead.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            assert!(!path.ends_with("tasks"), "{} was written", path.display());
            if path.is_dir() {
                ahead.push(path);
            }
        }
    }
    for secret in ["emulated0key", "emulated0secret"] {
        assert!(!running.screen.contains(secret) && !status.contains(secret), "{secret}");
    }
}

/// The demonstration uses the user's file but not the user's account.
#[test]
fn a_configuration_counts_beside_it() {
    let config = "servers = [\"tasks\"]\n[tasks]\napi_key = \"mine\"\nshared_secret = \"mine\"\n";
    let running = start("beside", Some(config));
    assert!(
        running.screen.contains("/v1/tools/rtm_createTask"),
        "one server has no prefix: {}",
        running.screen
    );
    let found = running.call("rtm_findTasks", &json!({"filter": "tag:writing"})).to_string();
    assert!(found.contains("Quarterly report"), "{found}");
    std::fs::write(
        running.folder.join("failwell.toml"),
        config.replace("[\"tasks\"]", "[\"lobby\", \"tasks\"]"),
    )
    .expect("a file");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        let mut stream = TcpStream::connect(&running.address).expect("it listens");
        write!(stream, "GET /v1/tools HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", running.address)
            .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        if answer.contains("lobby__echo") && answer.contains("tasks__rtm_findTasks") {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "the file was not read again: {answer}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert!(running.found("tag:writing").contains("Quarterly report"), "and the demonstration goes on");
}
