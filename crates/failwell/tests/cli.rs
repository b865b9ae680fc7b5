//! Tests of the command line: the built binary, its exit codes and both output streams.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test may stop at the first surprise")]

#[path = "support/program_output.rs"]
mod program_output;
#[path = "cli/state_files.rs"]
mod state_files;
#[path = "support/temp_folder.rs"]
mod temp_folder;

use std::process::{Command, Stdio};

use program_output::ProgramOutput;
use serde_json::Value;

const COMMANDS: [&str; 21] = [
    "up",
    "status",
    "stdio",
    "init",
    "tools",
    "call",
    "serve",
    "check",
    "check-python",
    "key",
    "approve",
    "pin",
    "explain",
    "audit",
    "probe",
    "emulate",
    "doctor",
    "completions",
    "man",
    "login",
    "logout",
];

/// A state folder that does not exist.
fn state() -> std::path::PathBuf {
    std::env::temp_dir().join(format!("failwell-cli-{}", std::process::id()))
}

fn failwell(arguments: &[&str]) -> ProgramOutput {
    let output = Command::new(env!("CARGO_BIN_EXE_failwell"))
        .args(arguments)
        .env("FAILWELL_STATE", state())
        .env("XDG_CONFIG_HOME", state())
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    ProgramOutput::from(output)
}

/// Runs a command that must succeed with an empty standard error.
fn works(arguments: &[&str]) -> String {
    let ran = failwell(arguments);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{arguments:?}");
    assert!(!ran.out.contains('\x1b'), "no colour without a terminal");
    ran.out
}

/// Runs a command that must fail with this code and print an error with help.
fn fails(arguments: &[&str], code: i32) -> String {
    let ran = failwell(arguments);
    assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{arguments:?}: {}", ran.err);
    assert!(ran.err.starts_with("error: "), "{}", ran.err);
    ran.err
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&works(arguments)).expect("JSON")
}

#[test]
fn help_and_version_name_what_there_is() {
    let help = works(&["--help"]);
    for command in COMMANDS {
        assert!(help.contains(&format!("  {command} ")), "{command} in {help}");
        let own = works(&[command, "--help"]);
        assert!(own.contains("Examples:") && own.contains("Usage: failwell"), "{own}");
    }
    assert_eq!(works(&["--version"]), format!("failwell {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_usage_is_exit_code_2() {
    assert!(fails(&["explian"], 2).contains("explain"), "suggests the near command");
    assert_eq!(failwell(&[]).code, Some(2));
    for wrong in [
        &["explain", "a", "b"][..],
        &["doctor", "--nope"],
        &["completions", "tcsh"],
        &["probe"],
        &["probe", "--min", "101", "http://127.0.0.1:1/"],
        &["probe", "--timeout", "0", "http://127.0.0.1:1/"],
        &["probe", "--header", "no colon", "http://127.0.0.1:1/"],
        &["probe", "http://127.0.0.1:1/", "--", "true"],
    ] {
        fails(wrong, 2);
    }
}

#[test]
fn what_would_have_no_effect_is_refused() {
    for wrong in [
        &["up", "--allow-host", "https://tools.example"][..],
        &["up", "--allow-origin", "app.example"],
        &["key", "new", "--name", "environment"],
        &["pin", "forget"],
    ] {
        let ran = failwell(wrong);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{wrong:?}: {}", ran.err);
    }
}

#[cfg(feature = "probe")]
#[test]
fn probe_names_what_it_cannot_find() {
    let none = fails(&["probe", "--only", "zzz", "--", env!("CARGO_BIN_EXE_failwell"), "stdio"], 1);
    assert!(none.contains("--only names none"), "{none}");
    let other = fails(&["probe", "--tool", "zzz", "--", env!("CARGO_BIN_EXE_failwell"), "stdio"], 1);
    assert!(other.contains("the server has no tool zzz"), "{other}");
    assert!(other.contains("help: it lists echo, "), "{other}");
}

/// Access rules apply to `up` only, so `serve` refuses a file that has any.
#[test]
fn a_server_alone_says_what_it_does_not_follow() {
    let folder = state().with_extension("alone");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("failwell.toml");
    std::fs::write(
        &file,
        "require_key = true\nservers = [\"tasks\"]\n[tools.tasks]\nhide = [\"rtm_deleteTask\"]\n",
    )
    .expect("written");
    let file = file.to_str().expect("UTF-8");
    let message = fails(&["serve", "tasks", "--config", file, "--listen", "127.0.0.1:0"], 1);
    assert!(message.contains("does not follow require_key, [tools] or [[rule]]"), "{message}");
    std::fs::remove_dir_all(&folder).expect("removed");
}

#[test]
fn explain_finds_reasons_in_any_spelling() {
    for spelling in ["rpc/NOT_JSON", "rpc/not_json", "NOT_JSON", "not-json", "rpc-not-json", " Rpc/Not_Json "]
    {
        let text = works(&["explain", spelling]);
        assert!(text.starts_with("rpc/NOT_JSON  message is not JSON\n"), "{text}");
        assert!(text.contains("help: ") && text.contains("-32700") && text.contains("<offset>"), "{text}");
    }
    let text = works(&["explain", "server/CANCELLED"]);
    assert!(text.contains("on MCP: silence") && !text.contains("MCP session"), "{text}");
    assert!(works(&["explain", "mcp/bad_arguments"]).contains("isError"));
}

#[test]
fn explain_finds_numbers_with_their_dialects() {
    for (number, reason, face) in [
        ("-32004", "gateway/UPSTREAM_DOWN", "MCP session"),
        ("\u{2212}32004", "gateway/UPSTREAM_DOWN", "MCP session"),
        ("1503", "gateway/UPSTREAM_DOWN", "MCP modern"),
        ("429", "policy/RATE_LIMITED", "REST, MCP session, MCP modern"),
        ("-32800", "mcp/UNKNOWN_RESOURCE", "REST, /rpc"),
    ] {
        let text = works(&["explain", number]);
        let line = text.lines().find(|line| line.trim_start().starts_with(reason)).expect(reason);
        assert!(line.ends_with(&format!("on {face}")), "{number}: {line}");
    }
    assert!(!works(&["explain", "-32004"]).contains("rpc/"));
    for nothing in ["-1", "200", "99999999999"] {
        assert!(fails(&["explain", nothing], 1).contains("no reason has the number"));
    }
}

#[test]
fn explain_suggests_and_fails_when_it_knows_nothing() {
    let error = fails(&["explain", "rpc/NOT_JASON"], 1);
    assert_eq!(error.lines().next(), Some("error: no reason is called `rpc/NOT_JASON`"));
    assert!(error.contains("\nhelp: did you mean rpc/NOT_JSON"), "{error}");
    assert!(fails(&["explain", "unknown_tol"], 1).contains("mcp/UNKNOWN_TOOL"));
    assert!(fails(&["explain", "qqqqqqqqqqqqqqqq"], 1).contains("help: list every reason"));
    assert!(fails(&["explain", "too_large"], 1).contains("http/TOO_LARGE or server/TOO_LARGE"));
}

fn reasons() -> failwell_fault::ReasonRegistry {
    failwell_catalogue::registry().expect("no id twice")
}

#[test]
fn explain_lists_every_reason_once() {
    let text = works(&["explain"]);
    for reason in reasons().iter() {
        let lines = text.lines().filter(|line| line.split_whitespace().next() == Some(reason.id));
        assert_eq!(lines.count(), 1, "{}", reason.id);
    }
    let area = works(&["explain", "audit"]);
    assert!(area.contains("audit/FAILED") && !area.contains("rpc/"), "{area}");
}

#[test]
fn explain_speaks_json() {
    let all = json(&["explain", "--json"]);
    assert_eq!(all.as_array().map(Vec::len), Some(reasons().iter().count()));
    let one = json(&["explain", "--json", "policy/denied"]);
    assert_eq!(one["reason"], "policy/DENIED");
    assert_eq!(one["codes"][3]["code"], 1403);
    let uses = json(&["explain", "--json", "-32005"]);
    assert_eq!(
        (uses[0]["reason"].as_str(), uses[0]["found_on"][0].as_str()),
        (Some("audit/FAILED"), Some("MCP session"))
    );
}

#[test]
fn doctor_speaks_json_and_is_quick() {
    let began = std::time::Instant::now();
    let diagnosis = json(&["doctor", "--json"]);
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    assert_eq!(diagnosis["ok"], true);
    let checks = diagnosis["checks"].as_array().expect("checks");
    for name in [
        "state folder",
        "configuration",
        "listen",
        "upstreams",
        "python3",
        "pytest",
        "z3",
        "node",
        "chromium",
        "chromedriver",
        "redis-server",
        "git",
    ] {
        let check = checks.iter().find(|check| check["name"] == name).expect(name);
        assert!(["ok", "old", "missing"].contains(&check["status"].as_str().expect("a status")), "{check}");
        for key in ["found", "cost", "fix"] {
            assert!(check[key].as_str().is_some_and(|text| !text.is_empty()), "{key} of {check}");
        }
    }
}

#[test]
fn doctor_fails_without_a_place_for_its_state() {
    let output = Command::new(env!("CARGO_BIN_EXE_failwell"))
        .args(["doctor", "--brief"])
        .env("FAILWELL_STATE", "/dev/null/nowhere")
        .stdin(Stdio::null())
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(1));
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(err.starts_with("error: the state folder cannot be used"), "{err}");
    assert!(err.contains("\nhelp: set FAILWELL_STATE"), "{err}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("(state folder: /dev/null/nowhere"));
}

#[test]
fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let script = works(&["completions", shell]);
        for command in COMMANDS {
            assert!(script.contains(command), "{command} in {shell}");
        }
    }
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let page = works(&["man"]);
    assert!(page.contains(".TH failwell 1"), "{page}");
    let folder = std::env::temp_dir().join(format!("failwell-man-{}", std::process::id()));
    works(&["man", "--dir", folder.to_str().expect("UTF-8")]);
    for command in COMMANDS {
        let name = command.replace('-', "\\-");
        assert!(page.contains(&format!("failwell\\-{name}")), "{command}");
        let own = std::fs::read_to_string(folder.join(format!("failwell-{command}.1"))).expect("a page");
        assert!(own.contains("EXTRA") || own.contains("Examples"), "{own}");
    }
    std::fs::remove_dir_all(&folder).expect("the folder goes again");
    assert!(fails(&["man", "--dir", "/dev/null/x"], 1).contains("help: give --dir"));
}

#[cfg(feature = "probe")]
#[test]
fn probe_says_when_there_is_nothing_to_examine() {
    let error = fails(&["probe", "--", "no-such-program-anywhere"], 1);
    assert!(
        error.contains("cannot start the server") && error.contains("\nhelp: check the command"),
        "{error}"
    );
    assert!(fails(&["probe", "ftp://127.0.0.1/"], 1).contains("cannot use the address"));
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_failwell"))
        .args(["explain", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_is_lost_is_a_failure() {
    for arguments in [
        &["key", "new"][..],
        &["check", "--schema"],
        &["explain"],
        &["man"],
        &["completions", "bash"],
        &["doctor"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device that is full");
        let output = Command::new(env!("CARGO_BIN_EXE_failwell"))
            .args(arguments)
            .env("FAILWELL_STATE", state())
            .stdin(Stdio::null())
            .stdout(full)
            .output()
            .expect("the binary runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
        assert!(errors.starts_with("error: standard output cannot be written: "), "{arguments:?}: {errors}");
    }
}
