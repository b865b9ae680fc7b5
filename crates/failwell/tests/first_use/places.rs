//! Where the file is found, and what is printed about it.

use std::io::Write;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::program_output::ProgramOutput;
use crate::started_line::started_line;
use crate::temp_folder::TempFolder;
use crate::terminal::at_terminal;
use crate::{SERVER, command, run};

const LIST: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
);

/// Sends one line to a command, and returns the answer and standard error.
fn ask(mut command: Command, line: &str) -> (Value, String) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    child.stdin.take().expect("standard input").write_all(format!("{line}\n").as_bytes()).expect("sent");
    let ran = ProgramOutput::from(child.wait_with_output().expect("it ends"));
    let answer = ran.out.lines().next().unwrap_or_else(|| panic!("no answer: {}", ran.err));
    (serde_json::from_str(answer).expect("JSON"), ran.err)
}

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("no list: {answer}"));
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

/// A folder whose `config` folder has a file that serves `own`.
fn with_own_file() -> TempFolder {
    let folder = TempFolder::new();
    let own = folder.0.join("config/failwell");
    std::fs::create_dir_all(&own).expect("a folder");
    std::fs::copy(SERVER, own.join("server.py")).expect("copied");
    let file = "servers = []\n[[upstream]]\nname = \"own\"\ncommand = [\"python3\", \"server.py\"]\nlist_wait_s = 30\n";
    std::fs::write(own.join("failwell.toml"), file).expect("written");
    folder
}

fn announced(err: &str) -> String {
    let line =
        err.lines().find(|line| line.contains("configuration: ")).unwrap_or_else(|| panic!("nothing: {err}"));
    let line: Value = serde_json::from_str(line).expect("a line of the log");
    line["message"].as_str().expect("a message").to_owned()
}

#[test]
fn the_user_s_file_is_used_where_the_folder_has_none() {
    let folder = with_own_file();
    let (answer, err) = ask(command(&folder.0, &["stdio"]), LIST);
    assert!(names(&answer).contains(&"own__repeat"), "{answer}");
    let own = folder.0.join("config/failwell/failwell.toml").canonicalize().expect("it exists");
    assert_eq!(announced(&err), format!("configuration: {}", own.display()));
    let checked = run(&folder.0, &["check"]);
    assert!(
        checked
            .out
            .starts_with(&format!("{} is fine", folder.0.join("config/failwell/failwell.toml").display()))
    );

    std::fs::write(folder.0.join("failwell.toml"), "servers = [\"lobby\"]\n").expect("written");
    let (answer, err) = ask(command(&folder.0, &["stdio"]), LIST);
    assert!(names(&answer).contains(&"echo"), "{answer}");
    let here = folder.0.join("failwell.toml").canonicalize().expect("it exists");
    assert_eq!(announced(&err), format!("configuration: {}", here.display()));
}

#[test]
fn without_a_file_the_places_that_were_looked_at_are_named() {
    let folder = TempFolder::new();
    let (answer, err) = ask(command(&folder.0, &["stdio"]), LIST);
    assert!(names(&answer).contains(&"echo"), "{answer}");
    let announcement = announced(&err);
    for place in ["failwell.toml", "config/failwell/failwell.toml"] {
        assert!(announcement.contains(&folder.0.join(place).display().to_string()), "{announcement}");
    }
    let mut up = command(&folder.0, &["up", "--listen", "localhost:0"]);
    let mut child = up.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let started = started_line(&mut child);
    assert!(started["address"].as_str().is_some_and(|at| at.starts_with("http://127.0.0.1:")), "{started}");
    assert!(announced(&stopped(child)).starts_with("configuration: none found; looked for "));
}

fn stopped(mut child: Child) -> String {
    child.kill().expect("stopped");
    let mut errors = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().expect("a pipe"), &mut errors).expect("read");
    child.wait().expect("reaped");
    errors
}

#[test]
fn programs_start_in_the_folder_of_the_file() {
    let folder = with_own_file();
    let file = folder.0.join("config/failwell/failwell.toml");
    let elsewhere = TempFolder::new();
    let named = ["stdio", "--config", file.to_str().expect("UTF-8")];
    let call = LIST
        .replace("tools/list", "tools/call")
        .replace(r#""params":{"#, r#""params":{"name":"own__folder","arguments":{},"#);
    let (answer, _) = ask(command(&elsewhere.0, &named), &call);
    let own = file.parent().and_then(|folder| folder.canonicalize().ok()).expect("a folder");
    assert_eq!(answer["result"]["content"][0]["text"], json!(own.to_str()), "{answer}");
}

#[test]
fn one_server_is_served_without_a_file_under_its_own_names() {
    let folder = with_own_file();
    let mut stdio = command(&folder.0, &["stdio", "--", "python3", SERVER]);
    stdio.env("SHOP", "open");
    let (answer, err) = ask(stdio, LIST);
    assert_eq!(announced(&err), "configuration: none, the command is served as server");
    assert!(names(&answer).contains(&"repeat"), "{answer}");
    let both = run(&folder.0, &["up", "--config", "x.toml", "--", "true"]);
    assert_eq!(both.code, Some(2), "{}", both.err);
}

#[test]
fn a_server_alone_that_cannot_start_answers_with_the_reason() {
    let folder = TempFolder::new();
    for (arguments, part) in [
        (&["serve", "pytest", "--project", "nothing-here"][..], "name the project's folder"),
        (&["serve", "device"], "no device is configured"),
    ] {
        let (answer, err) = ask(command(&folder.0, arguments), LIST);
        assert_eq!(answer["error"]["data"]["reason"], "config/INVALID", "{answer}");
        assert!(answer.to_string().contains(part) && err.contains("error: "), "{answer} {err}");
    }
}

#[test]
fn a_wrong_address_is_refused_with_a_right_one() {
    let folder = TempFolder::new();
    let ran = run(&folder.0, &["up", "--listen", "tools.example"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("such as 127.0.0.1:8484 or [::1]:8484"), "{}", ran.err);
}

/// Its input ends with Ctrl-D.
#[test]
fn at_a_terminal_the_program_says_that_it_waits() {
    let folder = TempFolder::new();
    for arguments in [&["stdio"][..], &["serve", "symbolic"]] {
        let mut terminal = at_terminal(env!("CARGO_BIN_EXE_failwell"));
        terminal.args(arguments).current_dir(&folder.0);
        terminal
            .env("XDG_CONFIG_HOME", folder.0.join("config"))
            .env("FAILWELL_STATE", folder.0.join("state"));
        terminal.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = terminal.spawn().expect("python runs");
        child.stdin.take().expect("a pipe").write_all(b"\x04").expect("sent");
        let ran = ProgramOutput::from(child.wait_with_output().expect("it ends"));
        assert!(
            ran.out.contains("waiting for an MCP client on standard input"),
            "{arguments:?}: {}",
            ran.out
        );
        assert_eq!(ran.code, Some(0), "{}", ran.out);
    }
}

#[test]
fn doctor_follows_the_file() {
    let folder = TempFolder::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address");
    let file = format!(
        "listen = \"{address}\"\ndata_dir = \"./state\"\n[[upstream]]\nname = \"gone\"\ncommand = [\"no-such-program\"]\n"
    );
    std::fs::write(folder.0.join("failwell.toml"), file).expect("written");
    let ran = run(&folder.0, &["doctor", "--json"]);
    let found: Value = serde_json::from_str(&ran.out).expect("JSON");
    let of = |name: &str| {
        let checks = found["checks"].as_array().expect("checks");
        checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no {name}"))["found"]
            .clone()
    };
    assert_eq!(of("listen"), json!(format!("something listens at {address} already")));
    assert_eq!(of("upstreams"), "gone: `no-such-program`: it does not exist");
    assert_eq!(of("state folder"), "./state");
    assert!(of("configuration").as_str().is_some_and(|file| file.ends_with("failwell.toml")));
    std::fs::write(folder.0.join("failwell.toml"), "lisen = 5\n").expect("written");
    let ran = run(&folder.0, &["doctor"]);
    assert!(ran.out.contains("failwell.toml has 1 problem\n"), "{}", ran.out);
}
