//! The tasks server through the built binary, with the emulator as its service.

#![cfg(feature = "emulators")]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

#[path = "support/temp_folder.rs"]
mod temp_folder;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use failwell_emulator_rtm::{Emulator, Fault, FaultKind, Options, Permission, Rate, Seed};
use serde_json::{Value, json};
use temp_folder::TempFolder;

const KEY: &str = "CANARYKEY0123456789abcdef";
const SECRET: &str = "CANARYSECRET0123";

async fn emulator(rate: Option<Rate>) -> Emulator {
    let options = Options {
        api_key: KEY.to_owned(),
        secret: SECRET.to_owned(),
        seed: Seed::demo(),
        rate,
        ..Options::default()
    };
    Emulator::start(options).await.expect("it starts")
}

fn command(folder: &Path, emulator: &Emulator, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_failwell"));
    command.args(arguments).current_dir(folder).env("FAILWELL_STATE", folder.join("state"));
    command.env("RTM_API_KEY", KEY).env("RTM_SHARED_SECRET", SECRET).env("RTM_BASE_URL", emulator.base_url());
    command.env_remove("DBUS_SESSION_BUS_ADDRESS").env_remove("FAILWELL_KEY");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Logs in at the terminal like a user.
fn log_in(folder: &Path, emulator: &Emulator, permission: &str) -> String {
    let mut child =
        command(folder, emulator, &["login", "tasks", "--permission", permission]).spawn().expect("it runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let address = loop {
        let line = lines.next().expect("another line").expect("a line");
        if let Some((_, frob)) = line.split_once("frob=") {
            break frob.split('&').next().expect("a frob").to_owned();
        }
    };
    assert!(emulator.control().approve(&address, Permission::Delete));
    let rest: Vec<String> = lines.map(|line| line.expect("a line")).collect();
    assert!(child.wait().expect("it ends").success());
    rest.join("\n")
}

/// A server over stdio.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Server {
    fn start(mut command: Command) -> Server {
        let mut child = command.spawn().expect("it runs");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut server = Server { child, input, output, last: 0 };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        server.ask("initialize", &hello);
        server.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn say(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("open");
        writeln!(input, "{message}").and_then(|()| input.flush()).expect("written");
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("a line") > 0, "it hung up");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == json!(id) {
                return message;
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": tool, "arguments": arguments}))["result"].take()
    }

    /// Closes standard input and returns the standard error.
    fn end(mut self) -> String {
        drop(self.input.take());
        let mut output = String::new();
        self.child.stderr.take().expect("a pipe").read_to_string(&mut output).expect("text");
        assert!(self.child.wait().expect("it ends").success(), "{output}");
        output
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_logs_in_works_and_logs_out() {
    let (folder, emulator) = (TempFolder::new(), emulator(None).await);
    let output = log_in(&folder.0, &emulator, "delete");
    assert!(output.contains("logged in as") && output.contains("kept in the file"), "{output}");
    let mut server = Server::start(command(&folder.0, &emulator, &["serve", "tasks"]));
    let made = server.call("rtm_createTask", &json!({"name": "Buy stamps ^tomorrow"}));
    assert_eq!(made["structuredContent"]["task"]["name"], json!("Buy stamps"), "{made}");
    emulator.control().fail(Fault::new(FaultKind::Unavailable));
    let failed = server.call("rtm_getAuthStatus", &json!({}));
    assert_eq!(failed["_meta"]["dev.failwell/fault"]["reason"], json!("tasks/RTM_UNAVAILABLE"), "{failed}");
    let outside = server.ask("resources/read", &json!({"uri": "rtm://settings"}));
    assert_eq!(
        (&outside["error"]["code"], &outside["error"]["message"]),
        (&json!(-32001), &json!("Failed to communicate with RTM service."))
    );
    emulator.control().clear_faults();
    let id = server.child.id();
    let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    assert!(!String::from_utf8_lossy(&line).contains("CANARY"), "the process list tells");
    let output = server.end();
    let line = output.lines().find(|line| line.contains("tasks/RTM_UNAVAILABLE")).expect("a line");
    let line: Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(
        (&line["level"], &line["service"], &line["reason"]),
        (&json!("warn"), &json!("tasks"), &json!("tasks/RTM_UNAVAILABLE"))
    );
    assert!(!output.contains("CANARY"), "{output}");
    let ledger = folder.0.join("state");
    for entry in std::fs::read_dir(ledger).expect("a folder").flatten().filter(|entry| entry.path().is_file())
    {
        let bytes = std::fs::read(entry.path()).expect("bytes");
        assert!(!String::from_utf8_lossy(&bytes).contains("CANARY"), "{}", entry.path().display());
    }
    for expected in ["logged out", "no account was logged in"] {
        let output = command(&folder.0, &emulator, &["logout", "tasks"]).output().expect("it runs");
        assert!(String::from_utf8_lossy(&output.stdout).starts_with(expected), "{output:?}");
    }
}

/// The service allows a burst of three requests and then one per second, counted per API key. Two independent
/// processes must stay within this limit together, without a refused request.
#[tokio::test(flavor = "multi_thread")]
async fn two_processes_with_one_key_stay_within_the_rate() {
    const CALLS: usize = 6;
    let (folder, emulator) = (TempFolder::new(), emulator(Some(Rate::default())).await);
    log_in(&folder.0, &emulator, "read");
    emulator.control().clear_calls();
    let work = |command: Command| {
        std::thread::spawn(move || {
            let mut server = Server::start(command);
            for _ in 0..CALLS {
                let status = server.call("rtm_getAuthStatus", &json!({}));
                assert_eq!(status["structuredContent"]["authenticated"], json!(true), "{status}");
            }
            server.end()
        })
    };
    let both = [0, 1].map(|_| work(command(&folder.0, &emulator, &["serve", "tasks"])));
    for one in both {
        one.join().expect("it worked");
    }
    let calls = emulator.control().calls();
    assert_eq!(calls.len(), 2 * CALLS);
    for call in &calls {
        assert_eq!((call.outcome.as_str(), call.held_back), ("ok", Duration::ZERO), "{call:?}");
    }
    // Every interval of the log has at most three requests plus one per second.
    for (index, first) in calls.iter().enumerate() {
        for (count, last) in calls[index..].iter().enumerate() {
            let seconds = (last.since_start.saturating_sub(first.since_start)).as_secs_f64();
            assert!((count + 1) as f64 <= 3.0 + seconds, "{} calls within {seconds} s", count + 1);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gateway_offers_it_under_its_name() {
    let (folder, emulator) = (TempFolder::new(), emulator(None).await);
    log_in(&folder.0, &emulator, "delete");
    let text = format!(
        "servers = [\"lobby\", \"tasks\"]\n[tasks]\napi_key = \"${{RTM_API_KEY}}\"\nshared_secret = \"${{file:secret}}\"\nbase_url = \"{}\"\ntoken_store = \"file\"\n",
        emulator.base_url()
    );
    std::fs::write(folder.0.join("failwell.toml"), text).expect("written");
    std::fs::write(folder.0.join("secret"), format!("{SECRET}\n")).expect("written");
    let mut gateway = command(&folder.0, &emulator, &["stdio"]);
    gateway.env_remove("RTM_SHARED_SECRET").env_remove("RTM_BASE_URL");
    let mut server = Server::start(gateway);
    let lists = server.call("tasks__rtm_getLists", &json!({}));
    assert!(lists["structuredContent"]["count"].as_u64().is_some_and(|count| count > 2), "{lists}");
    let read = server.ask("resources/read", &json!({"uri": "tasks+rtm://today"}));
    assert_eq!(read["result"]["contents"][0]["uri"], json!("tasks+rtm://today"), "{read}");
    // The login URL passes the guards unchanged, because the user has to open it.
    server.call("tasks__rtm_clearAuth", &json!({}));
    let begun = server.call("tasks__rtm_authenticate", &json!({}));
    let url = begun["structuredContent"]["url"].as_str().expect("an address");
    let frob = url.split_once("frob=").and_then(|(_, rest)| rest.split('&').next()).expect("a frob");
    assert!(emulator.control().approve(frob, Permission::Delete), "{url}");
    let done = server.call("tasks__rtm_authenticate", &json!({}));
    assert_eq!(done["structuredContent"]["authenticated"], json!(true), "{done}");
    assert!(!server.end().contains("CANARY"));
}

#[test]
fn without_a_key_it_says_where_to_get_one() {
    let folder = TempFolder::new();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_failwell"));
        command.args(arguments).current_dir(&folder.0).env("FAILWELL_STATE", folder.0.join("state"));
        command.env_remove("RTM_API_KEY").env_remove("RTM_SHARED_SECRET").stdin(Stdio::null());
        let output = command.output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, output) = run(&["login", "tasks"]);
    assert_eq!(code, Some(1));
    assert!(
        output.starts_with("error: there is no API key for Remember The Milk\nhelp: get one at https://"),
        "{output}"
    );
    let (code, output) = run(&["serve", "tasks", "--base-url", "http://example.org"]);
    assert_eq!(code, Some(1));
    assert!(output.contains("without encryption"), "{output}");
    let (code, output) = run(&["logout", "tasks", "--base-url", "nonsense"]);
    assert_eq!(
        (code, output.contains("error: the address of the service is none")),
        (Some(1), true),
        "{output}"
    );
}
