//! Tests of the configuration file: the message for every mistake, and the start with a valid file.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

#[path = "check/bad_consent.rs"]
mod bad_consent;
#[path = "check/bad_custom.rs"]
mod bad_custom;
#[path = "check/bad_device.rs"]
mod bad_device;
#[path = "check/bad_exporters.rs"]
mod bad_exporters;
#[path = "check/bad_files.rs"]
mod bad_files;
#[path = "check/bad_identity.rs"]
mod bad_identity;
#[path = "support/program_output.rs"]
mod program_output;
#[path = "support/started_line.rs"]
mod started_line;
#[path = "support/temp_folder.rs"]
mod temp_folder;

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use program_output::ProgramOutput;
use serde_json::Value;
use started_line::started_line;
use temp_folder::TempFolder;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A folder with this configuration.
fn configured(text: impl AsRef<[u8]>) -> TempFolder {
    let folder = TempFolder::new();
    std::fs::write(folder.0.join("failwell.toml"), text).expect("written");
    folder
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_failwell"));
    command.args(arguments).current_dir(folder).env("SET", "SECRET-from-outside").env("LINES", "a\nSECRET");
    command.env_remove("UNSET").env_remove("FAILWELL_KEY").stdin(Stdio::null());
    command.env("FAILWELL_STATE", folder.join("state")).env("XDG_CONFIG_HOME", folder.join("config"));
    command
}

fn failwell(folder: &TempFolder, arguments: &[&str]) -> ProgramOutput {
    let output = command(&folder.0, arguments).output().expect("the binary runs");
    ProgramOutput::from(output)
}

/// Every problem as `line:column message | help`, from the JSON output. The text output must have the same
/// content.
fn problems(text: impl AsRef<[u8]>) -> Vec<String> {
    let folder = configured(text);
    let (json, plain) = (failwell(&folder, &["check", "--json"]), failwell(&folder, &["check"]));
    for output in [&json.out, &json.err, &plain.out, &plain.err] {
        assert!(!output.contains("SECRET"), "a secret is shown: {output}");
        assert!(!output.contains('\u{1b}'), "no escapes: {output:?}");
    }
    assert_eq!((json.code, plain.code, json.err.as_str(), plain.out.as_str()), (Some(1), Some(1), "", ""));
    let verdict: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!((&verdict["ok"], verdict["file"].as_str()), (&Value::Bool(false), Some("failwell.toml")));
    let rows = verdict["problems"].as_array().expect("problems");
    let count = if rows.len() == 1 { "1 problem".to_owned() } else { format!("{} problems", rows.len()) };
    assert!(
        plain.err.contains(&format!("error: failwell.toml has {count}\nhelp: correct it")),
        "{}",
        plain.err
    );
    rows.iter().map(|row| problem_line(row, &plain.err)).collect()
}

fn problem_line(row: &Value, plain: &str) -> String {
    let [message, help] = ["message", "help"].map(|key| row[key].as_str().expect("text"));
    assert!(plain.contains(&format!("error: {message}\n")), "{message} in {plain}");
    assert!(plain.contains(&format!("help: {help}\n")), "{help} in {plain}");
    let place = match (row["line"].as_u64(), row["column"].as_u64()) {
        (Some(line), Some(column)) => format!("{line}:{column}"),
        _ => "-".to_owned(),
    };
    assert!(place == "-" || plain.contains(&format!("--> failwell.toml:{place}\n")), "{place} in {plain}");
    format!("{place} {message} | {help}")
}

#[test]
fn every_error_names_its_position_and_a_remedy() {
    let people = bad_identity::CASES.iter().chain(bad_consent::CASES);
    let others = bad_custom::CASES.iter().chain(bad_exporters::CASES).chain(bad_device::CASES);
    for (text, expected) in bad_files::CASES.iter().chain(people).chain(others) {
        assert_eq!(problems(text), *expected, "{text}");
    }
}

#[test]
#[cfg(feature = "wasm")]
fn a_module_that_lacks_an_export_is_reported_at_its_line() {
    let folder = configured("[[guard.custom]]\nname = \"g\"\nwasm = \"g.wat\"\n");
    let message_about = |module: &str| {
        std::fs::write(folder.0.join("g.wat"), module).expect("written");
        let ran = failwell(&folder, &["check", "--json"]);
        let verdict: Value = serde_json::from_str(&ran.out).expect("JSON");
        let problem = &verdict["problems"][0];
        assert_eq!((&problem["line"], &problem["column"]), (&3.into(), &8.into()), "{verdict}");
        assert_eq!(problem["key"], "guard.custom[0].wasm");
        problem["message"].as_str().expect("a message").to_owned()
    };
    assert_eq!(message_about("(module)"), "the module does not export its `memory`");
    let memory = r#"(memory (export "memory") 1)"#;
    assert_eq!(
        message_about(&format!("(module {memory})")),
        "the module does not export the function `alloc`"
    );
    assert_eq!(message_about(r#"(module (import "env" "now" (func)))"#), "the module imports `now` of `env`");
}

#[test]
fn the_examples_of_guards_are_fine() {
    for example in ["guard-python", "guard-wasm"] {
        let folder = TempFolder::new();
        for file in std::fs::read_dir(format!("{ROOT}/examples/{example}")).expect("the example") {
            let file = file.expect("a file");
            std::fs::copy(file.path(), folder.0.join(file.file_name())).expect("copied");
        }
        let ran = failwell(&folder, &["check"]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{example}: {}", ran.out);
    }
}

#[test]
fn bytes_that_are_not_text_are_reported_too() {
    assert_eq!(problems(b"a = 1\nx = \"\xff\"\n"), ["2:6 this is not UTF-8 | save the file as UTF-8"]);
    let big = "# \n".repeat(100_000);
    let found = problems(big);
    assert_eq!(found, ["- the file is larger than 262144 bytes | check that it is the right file"]);
    let garbage = problems("a\n".repeat(100_000));
    assert_eq!(garbage.len(), 101);
    assert_eq!(garbage[100], "- there are more mistakes | correct the listed ones first");
    assert_eq!(problems("\u{feff}x = 5")[0].split(' ').next(), Some("1:1"), "a byte order mark is no column");
}

#[test]
fn the_line_is_shown_with_marks_and_without_secrets() {
    let file = "[[upstream]]\nname = \"a\"\nurl = \"https://h/mcp\"\n\
                headers = { Authorization = \"Bearer SECRET ${UNSET}\", X = \"SECRET\" }\n\ttimout_s = 5\n";
    let ran = failwell(&configured(file), &["check"]);
    let expected = "\
error: the environment variable UNSET is not set
 --> failwell.toml:4:44
  |
4 | headers = { Authorization = \"…${UNSET}\", X = \"…\" }
  |                               ^^^^^^^^
help: set it before the start: export UNSET=…

error: unknown key `timout_s`
 --> failwell.toml:5:2
  |
5 |  timout_s = …
  |  ^^^^^^^^
help: did you mean `timeout_s`?

error: failwell.toml has 2 problems
help: correct it, and look again with `failwell check`
";
    assert_eq!((ran.code, ran.err.as_str(), ran.out.as_str()), (Some(1), expected, ""));
}

#[test]
fn a_missing_or_unreadable_file_is_reported() {
    let folder = TempFolder::new();
    for (arguments, file) in [(&["check"][..], "failwell.toml"), (&["check", "no/such.toml"], "no/such.toml")]
    {
        let ran = failwell(&folder, arguments);
        assert_eq!(ran.code, Some(1));
        assert!(ran.err.starts_with("error: the file cannot be read: "), "{}", ran.err);
        assert!(ran.err.contains(&format!("--> {file}\nhelp: check the path")), "{}", ran.err);
    }
    assert_eq!(failwell(&folder, &["check", "."]).code, Some(1));
    for wrong in [&["check", "a", "b"][..], &["check", "--nope"], &["check", "--schema", "--json"]] {
        assert_eq!(failwell(&folder, wrong).code, Some(2), "{wrong:?}");
    }
}

/// The example file with every commented setting enabled.
fn whole_example() -> String {
    let text = std::fs::read_to_string(format!("{ROOT}/examples/failwell.toml")).expect("the example");
    let on = |line: &str| match line.strip_prefix('#') {
        Some(setting) if !setting.starts_with(' ') => setting.to_owned(),
        _ => line.to_owned(),
    };
    let text: Vec<String> = text.lines().map(on).collect();
    text.join("\n").replace("TICKETS_TOKEN", "SET")
}

#[test]
fn the_example_is_fine_as_it_is_and_with_everything_on() {
    let folder = configured(std::fs::read(format!("{ROOT}/examples/failwell.toml")).expect("the example"));
    let ran = failwell(&folder, &["check"]);
    let fine = "failwell.toml is fine: 0 upstreams, 1 built-in server\n";
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), fine, ""));

    let folder = configured(whole_example());
    assert_eq!(failwell(&folder, &["check"]).out, fine.replace('0', "2"));
    let ran = failwell(&folder, &["check", "--json"]);
    assert!(!ran.out.contains("SECRET"), "{}", ran.out);
    let verdict: Value = serde_json::from_str(&ran.out).expect("JSON");
    let [memory, tickets] = [0, 1].map(|index| &verdict["config"]["upstream"][index]);
    assert_eq!((&verdict["ok"], &memory["env"][0]), (&Value::Bool(true), &Value::from("LOG_LEVEL")));
    assert_eq!((&memory["command"][0], &memory["max_message_bytes"]), (&"npx".into(), &16_777_216.into()));
    assert_eq!(tickets["url"], "https://tickets.example/mcp");
    assert_eq!((&tickets["headers"][0], &tickets["timeout_s"]), (&"authorization".into(), &60.into()));
}

#[test]
fn the_schema_agrees_with_the_example_and_refuses_what_check_refuses() {
    let ran = failwell(&TempFolder::new(), &["check", "--schema"]);
    let schema: Value = serde_json::from_str(&ran.out).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let valid = |text: &str| validator.is_valid(&toml::from_str::<Value>(text).expect("TOML"));
    assert!(valid("") && valid(&whole_example()));
    for wrong in [
        "lisen = \"x\"",
        "servers = [\"loby\"]",
        "[guard.secrets]\naction = \"sometimes\"",
        "[guard.secret]\naction = \"off\"",
        "[[upstream]]\nname = \"a\"",
        "[[upstream]]\nname = \"a__b\"\ncommand = [\"x\"]",
        "[[upstream]]\nname = \"a\"\ncommand = []",
        "[[upstream]]\nname = \"a\"\ncommand = [\"x\"]\nurl = \"http://h/\"",
        "[[upstream]]\nname = \"a\"\nurl = \"http://h/\"\ntimeout_s = 0",
        "[[upstream]]\nname = \"a\"\nurl = \"http://h/\"\nrestart = { budgt = 1 }",
    ] {
        assert!(!valid(wrong), "{wrong}");
    }
    let guide = std::fs::read_to_string(format!("{ROOT}/docs/guide/configuration.md")).expect("the guide");
    let upstream = &schema["properties"]["upstream"]["items"]["properties"];
    for name in
        [&schema["properties"], upstream].into_iter().flat_map(|keys| keys.as_object().expect("keys").keys())
    {
        let written = [format!("`{name}`"), format!("`[{name}]`"), format!("`[[{name}]]`")];
        assert!(written.iter().any(|written| guide.contains(written)), "{name}");
    }
}

/// The line of `up` that says that it is up. The program is ended then.
fn started(folder: &TempFolder, arguments: &[&str]) -> Value {
    let mut command = command(&folder.0, arguments);
    command.env_remove("RTM_API_KEY").env_remove("RTM_SHARED_SECRET");
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let started = started_line(&mut child);
    child.kill().expect("stopped");
    child.wait().expect("reaped");
    started
}

/// Whether the line names a missing part.
fn misses(started: &Value, part: &str) -> bool {
    let missing = started["missing"].as_array().expect("a list");
    missing.iter().any(|line| line.as_str().is_some_and(|line| line.starts_with(&format!("{part} "))))
}

#[test]
fn only_servers_of_the_named_file_are_listed_as_missing() {
    let usual = "listen = \"127.0.0.1:0\"\nservers = [\"lobby\", \"tasks\"]\n";
    let named = "[tasks]\napi_key = \"k\"\nshared_secret = \"s\"\n[shelf]\nfolder = \"/proc/failwell/no\"\n";
    let folder = configured(usual);
    std::fs::write(folder.0.join("other.toml"), format!("{usual}{named}")).expect("written");
    let here = started(&folder, &["up"]);
    assert!(misses(&here, "rtm key") && !misses(&here, "shelf"), "{here}");
    let there = started(&folder, &["up", "--config", "other.toml"]);
    assert!(!misses(&there, "rtm key") && misses(&there, "shelf"), "{there}");
}

#[test]
fn only_programs_of_configured_servers_are_listed_as_missing() {
    let demo = configured("listen = \"127.0.0.1:0\"\nservers = [\"lobby\"]\n");
    let unconfigured = started(&TempFolder::new(), &["up", "--listen", "127.0.0.1:0"]);
    for line in [started(&demo, &["up"]), unconfigured] {
        for part in ["rtm key", "python3", "pytest", "z3", "node", "chromedriver", "git"] {
            assert!(!misses(&line, part), "{part}: {line}");
        }
    }
}

#[test]
fn the_line_says_where_the_program_is_up_and_which_servers_are() {
    let folder = configured(concat!(
        "listen = \"127.0.0.1:0\"\nservers = [\"lobby\"]\n",
        "[[upstream]]\nname = \"gone\"\ncommand = [\"/nonexistent/program\"]\n",
        "[[upstream]]\nname = \"broken\"\ncommand = [\"sh\", \"-c\", \"echo API_KEY is required >&2; exit 3\"]\n",
        "[[upstream]]\nname = \"later\"\nlazy = true\ncommand = [\"/nonexistent/program\"]\n",
    ));
    let line = started(&folder, &["up"]);
    assert_eq!((&line["event"], &line["version"]), (&"started".into(), &env!("CARGO_PKG_VERSION").into()));
    let paths = [line["file"].as_str(), line["state"].as_str()]
        .map(|path| Path::new(path.expect("a path")).to_owned());
    assert_eq!(paths, [folder.0.join("failwell.toml"), folder.0.join("state")]);
    let server = |name: &str| {
        let all = line["servers"].as_array().expect("a list");
        all.iter().find(|server| server["name"] == name).unwrap_or_else(|| panic!("{name}: {line}")).clone()
    };
    let demo = server("lobby");
    assert_eq!(demo["state"], "up");
    assert!(demo["tools"].as_u64().is_some_and(|tools| tools >= 3) && demo["seconds"].is_number(), "{demo}");
    for (name, state, why) in [
        ("gone", "down", Some("`/nonexistent/program` was not found")),
        ("broken", "down", Some("exit 3: API_KEY is required")),
        ("later", "lazy", None),
    ] {
        let found = server(name);
        assert_eq!((found["state"].as_str(), found["why"].as_str()), (Some(state), why), "{found}");
    }
}

#[test]
fn up_listens_where_the_file_says_and_refuses_a_wrong_one() {
    let folder = configured("listen = \"127.0.0.1:0\"\nservers = [\"lobby\"]\n");
    let line = started(&folder, &["up"]);
    let address = line["address"].as_str().expect("an address");
    assert!(
        address.starts_with("http://127.0.0.1:") && !address.ends_with(":8484"),
        "the address is the file's: {line}"
    );

    let ran = failwell(&configured("lisen = 5"), &["up"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.starts_with("error: unknown key `lisen`\n"), "{}", ran.err);
    let ran = failwell(&TempFolder::new(), &["up", "--config", "none.toml"]);
    assert!(ran.code == Some(1) && ran.err.contains("--> none.toml\n"), "{}", ran.err);
}

#[test]
fn a_key_that_could_not_be_shown_is_reported() {
    let folder = configured("listen = \"127.0.0.1:0\"\nrequire_key = true\n");
    let full = std::fs::File::options().write(true).open("/dev/full").expect("a place without room");
    let ran = command(&folder.0, &["up"]).stdout(full).output().expect("the binary runs");
    let screen = String::from_utf8(ran.stderr).expect("UTF-8");
    assert_eq!(ran.status.code(), Some(1), "{screen}");
    assert!(screen.contains("\nerror: the key of the first admin could not be shown"), "{screen}");
    let file = folder.0.join("state").join("keys.sqlite");
    assert!(screen.contains(&format!("help: remove {}, and start again", file.display())), "{screen}");
    std::fs::remove_file(&file).expect("as it says");
    let key = folder.0.join("state").join("admin-key");
    let screen = started(&folder, &["up"]);
    assert_eq!(screen["admin_key_file"].as_str(), key.to_str(), "{screen}");
    let text = std::fs::read_to_string(&key).expect("the key");
    assert!(
        text.starts_with("fw_") && !screen.to_string().contains(text.trim()),
        "a log does not hold it: {screen}"
    );
    assert_eq!(std::fs::metadata(&key).expect("a file").permissions().mode() & 0o777, 0o600);
}

/// The responses of `stdio` to these lines while its input stays open, its exit code and its standard error.
fn stdio(file: &str, lines: &str) -> (Option<i32>, Vec<Value>, String) {
    let folder = configured(file);
    let mut command = command(&folder.0, &["stdio"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut input = child.stdin.take().expect("standard input");
    input.write_all(lines.as_bytes()).expect("written");
    let began = Instant::now();
    while child.try_wait().expect("a state").is_none() {
        if began.elapsed() > Duration::from_secs(60) {
            child.kill().expect("stopped");
            panic!("it did not end by itself");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let out = String::from_utf8(output.stdout).expect("UTF-8");
    let answers = out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    (output.status.code(), answers, String::from_utf8(output.stderr).expect("UTF-8"))
}

#[test]
fn stdio_answers_the_first_request_with_the_reason_and_ends() {
    let file = "[[upstream]]\nname = \"a\"\nurl = \"https://h/\"\nheadrs = { A = \"SECRET\" }\n";
    let lines = concat!(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
        "{nope\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"tools/list\",",
        "\"params\":{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}\n",
    );
    let (code, answers, err) = stdio(file, lines);
    let seen: Vec<(&Value, i64, &str)> = answers
        .iter()
        .map(|a| (&a["id"], a["error"]["code"].as_i64().expect("a code"), &a["error"]["data"]))
        .map(|(id, code, data)| (id, code, data["reason"].as_str().expect("a reason")))
        .collect();
    assert_eq!(
        seen,
        [
            (&Value::Null, -32700, "rpc/NOT_JSON"),
            (&Value::from(1), -32001, "config/INVALID"),
            (&Value::from("b"), 1500, "config/INVALID"),
        ]
    );
    let facts = &answers[1]["error"]["data"]["facts"];
    assert_eq!((&facts["problems"], &facts["line"]), (&1.into(), &4.into()));
    assert_eq!(code, Some(1));
    assert!(err.starts_with("error: unknown key `headrs`\n"), "{err}");
    assert!(err.ends_with("help: correct it, and look again with `failwell check`\n"), "{err}");
    // The client is told what is wrong and what would be right, but no value.
    let text = format!("{answers:?}");
    assert!(text.contains("line 4") && text.contains("headrs") && text.contains("'headers'"), "{text}");
    assert!(!err.contains("SECRET") && !text.contains("SECRET"), "{err} {text}");
    assert!(err.contains("\"level\":\"error\""), "{err}");
}

#[test]
fn looking_into_state_needs_no_secret_of_a_server() {
    let secret = "[[upstream]]\nname = \"a\"\nurl = \"https://h/mcp\"\nheaders = { X = \"${UNSET}\" }\n";
    let folder = configured(format!(
        "data_dir = \"here\"\nstate = \"redis://:${{UNSET}}@h\"\n{secret}[[rule]]\ntools = [\"a__*\"]\nallow = false\n"
    ));
    std::fs::create_dir(folder.0.join("here")).expect("a folder");
    for command in [&["approve"][..], &["pin", "list"], &["pin", "diff"]] {
        let ran = failwell(&folder, command);
        assert!(ran.code == Some(0) && ran.err.starts_with("no"), "{command:?}: {}", ran.err);
    }
    for command in [&["audit", "tail"][..], &["audit", "verify"], &["explain", "0123456789abc"]] {
        let ran = failwell(&folder, command);
        assert!(ran.err.starts_with("error: there is no ledger in ./here\n"), "{command:?}: {}", ran.err);
    }
    for mistake in ["data_dri = \"here\"\n", "data_dir = 5\n", "[audit]\ncritical = 5\n", "data_dir = \n"] {
        let ran = failwell(&configured(mistake), &["approve"]);
        assert!(ran.code == Some(1) && ran.err.contains("failwell.toml has 1 problem"), "{}", ran.err);
    }
}
