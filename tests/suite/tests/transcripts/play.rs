//! Plays a case against the real program.

use std::path::Path;
use std::time::Duration;

use failwell_rpc::{Era, Revision};
use failwell_suite::client::requests;
use failwell_suite::program::{Folder, Program, built};
use serde_json::Value;

use crate::blank::blank;
use crate::entry_points::{Client, EntryPoint, HttpClient};
use crate::script::{Script, Step, expand, repeated};

/// The time limit of every wait.
const PATIENCE: Duration = Duration::from_secs(60);
/// The file in which the upstream logs its requests.
const UPSTREAM_LOG: &str = "upstream.log";

/// Written into the transcript if a response is missing.
const NOTHING: &str = "nothing";

/// The outcome of a case.
pub(crate) struct Replay {
    pub(crate) text: String,
    pub(crate) problems: Vec<String>,
}

/// Plays the case at an entry point. Without MCP, the revision is ignored.
pub(crate) async fn play(script: &Script, entry_point: EntryPoint, revision: Revision) -> Replay {
    let folder = Folder::create();
    let log = folder.path().join(UPSTREAM_LOG);
    let config = script.config(&built("evil").to_string_lossy(), &log.to_string_lossy());
    let arguments: &[&str] = match entry_point {
        EntryPoint::Stdio => &["stdio"],
        EntryPoint::Http | EntryPoint::Rest | EntryPoint::Problem | EntryPoint::Rpc => {
            &["up", "--listen", "127.0.0.1:0"]
        }
    };
    let mut program = Program::start(arguments, folder, &config);
    let answers = match entry_point {
        EntryPoint::Stdio => converse(script, &mut Client::Stdio(&mut program), revision, &log).await,
        _ => match program.address().await {
            Some(address) => {
                let mut client = match entry_point {
                    EntryPoint::Http => Client::Http(HttpClient::new(address, revision)),
                    plain => Client::Plain(address, plain),
                };
                converse(script, &mut client, revision, &log).await
            }
            None => Vec::new(),
        },
    };
    let ended = match entry_point {
        EntryPoint::Stdio => program.hang_up().await,
        _ => program.terminate().await,
    };
    let mut text: String = answers.iter().map(|line| format!("< {line}\n")).collect();
    text.push_str(&format!(
        "exit {}\n",
        ended.code().map_or("by a signal".to_owned(), |code| code.to_string())
    ));
    text.push_str(&asked(&log));
    if script.ledger {
        text.push_str(&recorded(&program));
    }
    let journal = program.journal();
    journal
        .lines()
        .filter(|line| !is_about_the_program(line))
        .for_each(|line| text.push_str(&format!("journal {line}\n")));
    let mut problems = script.broken_promises(&answers.concat(), &journal, program.folder());
    if answers.iter().any(|line| line == NOTHING) {
        problems.push("something was not answered".to_owned());
    }
    Replay { text: blank(&text, program.folder()), problems }
}

/// The ledger's records of tool calls.
fn recorded(program: &Program) -> String {
    let records = program.output(&["audit", "query", "--json"]);
    let records = records.lines().map(|line| serde_json::from_str::<Value>(line).expect("a record"));
    let text =
        |record: &Value, name: &str| record.get(name).and_then(Value::as_str).unwrap_or("-").to_owned();
    let line = |record: Value| {
        let members = ["outcome", "method", "target", "reason"].map(|name| text(&record, name));
        format!("ledger {}\n", members.join(" "))
    };
    let about_tools = |record: &Value| ["tools/call", "execute_tool"].contains(&&*text(record, "method"));
    records.filter(about_tools).map(line).collect()
}

/// The requests that the upstream received, without the handshake.
fn asked(log: &Path) -> String {
    let log = std::fs::read_to_string(log).unwrap_or_default();
    let usual = |line: &&str| {
        !matches!(*line, "server/discover" | "initialize" | "notifications/initialized" | "tools/list")
    };
    log.lines().filter(usual).map(|line| format!("upstream {line}\n")).collect()
}

async fn converse(script: &Script, client: &mut Client<'_>, revision: Revision, log: &Path) -> Vec<String> {
    let is_mcp = !matches!(client, Client::Plain(..));
    if is_mcp && !script.alone && revision.era() == Era::Session {
        client.start(requests::initialize(revision, "\"hello\"").as_bytes()).await;
        // A program that refuses to start sends this. The case goes on without a handshake.
        if let Some(answers) = client.hear(PATIENCE).await.filter(|answers| !answers.contains("\"result\"")) {
            return vec![answers];
        }
        client.tell(requests::INITIALIZED.as_bytes(), PATIENCE).await;
    }
    let mut answers = Vec::new();
    for step in &script.steps {
        match step {
            Step::Until(asked) => until(asked, log).await,
            step => take(step, client, revision, &mut answers).await,
        }
    }
    answers
}

/// Waits until a line stands in the upstream's log.
async fn until(asked: &str, log: &Path) {
    let waiting = async {
        while !std::fs::read_to_string(log).is_ok_and(|text| text.lines().any(|line| line == asked)) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .unwrap_or_else(|_| panic!("the upstream never heard: {asked}"));
}

async fn take(step: &Step, client: &mut Client<'_>, revision: Revision, answers: &mut Vec<String>) {
    let nothing = || NOTHING.to_owned();
    match step {
        Step::Tool(name, arguments) if matches!(client, Client::Plain(..)) => {
            answers.push(client.call_plainly(name, &repeated(arguments)).await.unwrap_or_else(nothing));
        }
        Step::Tool(name, arguments) => {
            let (id, params) =
                (answers.len() + 1, format!(r#"{{"name":"{name}","arguments":{arguments}<meta>}}"#));
            let call = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
            client.start(&expand(&call, revision)).await;
            answers.push(client.hear(PATIENCE).await.unwrap_or_else(nothing));
        }
        Step::Send(message) => {
            client.start(&expand(message, revision)).await;
            answers.push(client.hear(PATIENCE).await.unwrap_or_else(nothing));
        }
        Step::Until(_) => {}
        Step::Start(message) => client.start(&expand(message, revision)).await,
        Step::Hear => answers.push(client.hear(PATIENCE).await.unwrap_or_else(nothing)),
        Step::Tell(message) => answers.extend(client.tell(&expand(message, revision), PATIENCE).await),
        Step::Cancel(id) => {
            let params = format!("{{\"requestId\":{id}}}");
            let notice =
                format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#);
            if !client.hang_up_on(id) {
                answers.extend(client.tell(notice.as_bytes(), PATIENCE).await);
            }
        }
        Step::Quiet(wait) => {
            let until = tokio::time::Instant::now() + *wait;
            while let Some(line) = client.hear(until.duration_since(tokio::time::Instant::now())).await {
                answers.push(line);
            }
        }
    }
}

impl Script {
    /// The texts that occur where they must not, or are missing where they must occur.
    fn broken_promises(&self, answers: &str, journal: &str, folder: &Path) -> Vec<String> {
        let mut problems = Vec::new();
        for text in self.hidden.iter().chain(&self.nowhere).filter(|text| answers.contains(*text)) {
            problems.push(format!("{text} reached the caller"));
        }
        for text in self.hidden.iter().filter(|text| !journal.contains(*text)) {
            problems.push(format!("{text} did not reach the operator"));
        }
        for text in &self.nowhere {
            let holds = files_holding(folder, text);
            problems.extend(holds.into_iter().map(|file| format!("{text} is in {file}")));
        }
        problems
    }
}

/// The files in the program's folder that contain a text, except the configuration and the upstream's log.
fn files_holding(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(files_holding(&path, text));
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let holds = bytes.windows(text.len()).any(|window| window == text.as_bytes());
        if holds && name != UPSTREAM_LOG && name != "failwell.toml" {
            found.push(name);
        }
    }
    found
}

/// Lines about the configuration and the life of servers differ in time and order; they have tests of their own.
fn is_about_the_program(line: &str) -> bool {
    [r#""service":"start""#, r#""service":"servers""#].iter().any(|service| line.contains(service))
}
