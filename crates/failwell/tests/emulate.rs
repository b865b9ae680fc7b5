//! Tests of `failwell emulate` through the built binary.

#![cfg(feature = "emulators")]
#![allow(clippy::expect_used, reason = "a test may stop at the first surprise")]

#[path = "support/first_screen.rs"]
mod first_screen;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use first_screen::first_screen;

struct Emulators {
    child: Child,
    screen: String,
}

impl Drop for Emulators {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(arguments: &[&str]) -> Emulators {
    let mut child = Command::new(env!("CARGO_BIN_EXE_failwell"))
        .arg("emulate")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let screen = first_screen(&mut child);
    Emulators { child, screen }
}

/// The value after a label on the first screen.
fn named<'a>(screen: &'a str, name: &str) -> &'a str {
    let line = screen.lines().find_map(|line| line.trim_start().strip_prefix(name)).expect(name);
    line.split_whitespace().next().expect(name)
}

fn get(address: &str, path: &str) -> String {
    ask(address, &format!("GET {path}"), "")
}

/// All bytes received until the connection closes.
fn ask(address: &str, what: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let length = body.len();
    write!(
        stream,
        "{what} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .expect("sent");
    let mut answer = vec![];
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_phone_is_there_until_it_dies() {
    let mut running = start(&["wda"]);
    let address = named(&running.screen, "an emulator of WebDriverAgent is up on").replace("http://", "");
    assert!(get(&address, "/status").contains("\"ready\":true"));
    assert!(get(&address, "/source").contains("XCUIElementTypeSecureTextField"));
    assert!(
        ask(&address, "POST /_control/fail", r#"{"kind": "die", "commands": "GET /source"}"#)
            .contains("true")
    );
    assert_eq!(get(&address, "/source"), "", "cut off");
    assert_eq!(running.child.wait().expect("an end").code(), Some(1));
}

#[test]
fn it_says_how_to_reach_it_and_can_be_reached() {
    let running = start(&["rtm", "--listen", "127.0.0.1:0"]);
    let base = named(&running.screen, "an emulator of Remember The Milk is up on");
    let address = base.strip_prefix("http://").expect("an address");
    let key = named(&running.screen, "api key");
    let path = format!("/services/rest/?method=rtm.test.echo&api_key={key}&format=json&hello=world");
    assert!(running.screen.contains(&format!("curl -s '{base}{path}'")), "{}", running.screen);
    assert!(get(address, &path).contains("\"hello\":\"world\""));
    assert!(get(address, "/_control/dump").contains("Quarterly report"));
}

#[test]
fn the_account_can_be_empty_or_come_from_a_file() {
    let running = start(&["rtm", "--seed", "empty"]);
    let address = named(&running.screen, "an emulator of Remember The Milk is up on").replace("http://", "");
    assert!(get(&address, "/_control/dump").contains("\"taskseries\":[]"));
    let file = std::env::temp_dir().join(format!("failwell-seed-{}.json", std::process::id()));
    std::fs::write(
        &file,
        r#"{"lists": [{"name": "Boat", "tasks": [{"name": "Patch the sail", "due": "tomorrow"}]}]}"#,
    )
    .expect("a file");
    let running = start(&["rtm", "--seed", file.to_str().expect("a name")]);
    let address = named(&running.screen, "an emulator of Remember The Milk is up on").replace("http://", "");
    assert!(get(&address, "/_control/dump").contains("Patch the sail"));
    let _ = std::fs::remove_file(file);
}

#[test]
fn what_cannot_be_is_said() {
    for (arguments, screen) in [
        (&["rtm", "--listen", "0.0.0.0:0"][..], "other machines"),
        (&["wda", "--listen", "0.0.0.0:0"], "other machines"),
        (&["rtm", "--seed", "/nowhere/seed.json"], "cannot be read"),
        (&["rtm", "--seed", "Cargo.toml"], "is not a seed"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_failwell"))
            .arg("emulate")
            .args(arguments)
            .output()
            .expect("the binary runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(screen) && text.contains("help: "), "{text}");
    }
}
