//! `tools` and `call`.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::program_output::ProgramOutput;
use crate::started_line::started_line;
use crate::temp_folder::TempFolder;
use crate::{command, run, with_server};

fn call(arguments: &[&str]) -> ProgramOutput {
    run(&TempFolder::new().0, &with_server(&[&["call"], arguments].concat()))
}

#[test]
fn the_tools_of_a_command_are_listed() {
    let folder = TempFolder::new();
    let ran = run(&folder.0, &with_server(&["tools"]));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(ran.out.lines().next(), Some("repeat    text  Repeats a text."), "{}", ran.out);
    assert_eq!(ran.out.lines().nth(1), Some("folder    -"), "{}", ran.out);
    let ran = run(&folder.0, &with_server(&["tools", "--json"]));
    let tools: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!((tools[0]["name"].as_str(), tools.as_array().map(Vec::len)), (Some("repeat"), Some(7)));
}

#[test]
fn arguments_are_typed_and_results_printed() {
    let ran = call(&["repeat", "text=5", "times=2"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let shown: Value = serde_json::from_str(&ran.out).expect("the structured result");
    assert_eq!(shown, json!({"text": "55", "given": {"text": "5", "times": 2}}));
    let ran = call(&["repeat", "--json-arguments", r#"{"text":"a"}"#, "times:=3", "--json"]);
    let whole: Value = serde_json::from_str(&ran.out).expect("the result");
    assert_eq!(whole["structuredContent"]["text"], "aaa");
    let folder = TempFolder::new();
    let mut asked = command(&folder.0, &with_server(&["call", "variable", "name=SHOP"]));
    let ran = ProgramOutput::from(asked.env("SHOP", "open").output().expect("it runs"));
    assert_eq!(ran.out, "open\n", "the server has the environment of the shell");
}

#[test]
fn progress_is_shown_on_standard_error() {
    let ran = call(&["count", "to=2"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "counted\n"));
    assert_eq!(ran.err, "progress: 1/2 step 1\nprogress: 2/2 step 2\n");
}

#[test]
fn files_are_described_or_saved() {
    assert_eq!(call(&["picture"]).out, "[image/png, 6 bytes; --save DIR writes it to a file]\n");
    let folder = TempFolder::new();
    let ran = run(&folder.0, &with_server(&["call", "picture", "--save", "pictures"]));
    assert_eq!(ran.out, "[pictures/picture-1.png is written]\n", "{}", ran.err);
    assert_eq!(std::fs::read(folder.0.join("pictures/picture-1.png")).expect("a file"), b"\x89PNG\r\n");
}

#[test]
fn failures_are_told_apart_by_their_exit_codes() {
    for (arguments, code, message) in [
        (&["fail"][..], 1, "error: the shop is closed\n"),
        (&["refuse"], 1, "error: not on a Friday\nhelp: "),
        (&["repaet"], 2, "error: the server has no tool `repaet`\nhelp: did you mean `repeat`?\n"),
        (&["repeat"], 2, "error: the tool needs `text`\nhelp: "),
        (&["repeat", "txt=a"], 2, "error: the tool has no argument `txt`\nhelp: did you mean `text`?\n"),
        (&["repeat", "text=a", "times=b"], 2, "error: `times` must be integer\nhelp: "),
        (&["repeat", "loose"], 2, "error: `loose` is no argument\nhelp: "),
    ] {
        let ran = call(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{arguments:?}: {}", ran.err);
        assert!(ran.err.starts_with(message), "{arguments:?}: {}", ran.err);
    }
}

#[test]
fn a_server_that_does_not_start_is_told_with_its_last_words() {
    let folder = TempFolder::new();
    let gone = run(&folder.0, &["tools", "--", "no-such-program"]);
    assert_eq!((gone.code, gone.out.as_str()), (Some(1), ""));
    assert!(
        gone.err.starts_with("error: `no-such-program` cannot be started: it does not exist\n"),
        "{}",
        gone.err
    );
    let ends =
        run(&folder.0, &["tools", "--", "sh", "-c", "echo one >&2; echo SHOP is required >&2; exit 3"]);
    assert!(ends.err.starts_with("error: exit 3: SHOP is required\n"), "{}", ends.err);
    let unused = std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
    let away = run(&folder.0, &["call", "echo", &format!("http://{unused}/mcp")]);
    assert!(away.code == Some(1) && away.err.contains("help: check the address"), "{}", away.err);
    std::fs::write(folder.0.join("failwell.toml"), format!("listen = \"{unused}\"\n")).expect("written");
    let none = run(&folder.0, &["tools"]);
    assert!(none.code == Some(1) && none.err.contains("help: start it with `failwell up`"), "{}", none.err);
    assert_eq!(run(&folder.0, &["tools", "ftp://h/"]).code, Some(2));
}

/// Without an address, the program is the one whose configuration is found, and its key the one in the environment.
#[test]
fn the_program_of_this_machine_is_called_with_its_key() {
    let folder = TempFolder::new();
    let port =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port").port();
    std::fs::write(folder.0.join("failwell.toml"), format!("listen = \"{port}\"\nservers = [\"lobby\"]\n"))
        .expect("written");
    const KEY: &str = "a-long-random-text-for-a-test";
    let mut up = command(&folder.0, &["up"]);
    let mut child =
        up.env("FAILWELL_KEY", KEY).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    started_line(&mut child);
    let with_key = |arguments: &[&str]| {
        let mut asked = command(&folder.0, arguments);
        ProgramOutput::from(asked.env("FAILWELL_KEY", KEY).output().expect("it runs"))
    };
    let listed = with_key(&["tools"]);
    assert!(listed.code == Some(0) && listed.out.contains("echo"), "{} {}", listed.out, listed.err);
    let called = with_key(&["call", "echo", "text=hello"]);
    assert!(called.code == Some(0) && called.out.contains("hello"), "{} {}", called.out, called.err);
    let near = with_key(&["call", "ehco", "text=hello"]);
    assert!(near.code == Some(2) && near.err.contains("did you mean `echo`?"), "{}", near.err);
    let failed = with_key(&["call", "fail", "reason=gateway/UPSTREAM_TIMEOUT"]);
    assert!(failed.code == Some(1) && failed.err.contains("gateway/UPSTREAM_TIMEOUT"), "{}", failed.err);
    assert!(failed.err.contains("ref "), "a reference to quote: {}", failed.err);
    let locked = run(&folder.0, &["tools"]);
    assert!(locked.code == Some(1) && locked.err.contains("set FAILWELL_KEY"), "{}", locked.err);
    child.kill().expect("stopped");
    child.wait().expect("reaped");
}
