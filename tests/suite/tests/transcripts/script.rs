//! The part of a transcript that is written by hand.
//!
//! | line | means |
//! |---|---|
//! | `# …` | for the reader |
//! | `before …` `upstream …` `after …` | a line of the configuration: before the upstream `ev`, in it, after it |
//! | `hidden …` | a text that no caller gets and that the journal contains |
//! | `nowhere …` | a text that neither the caller nor the journal gets |
//! | `alone` | no handshake; the case sends its own, or none |
//! | `ledger` | the ledger's lines about tools are part of the outcome |
//! | `tool NAME ARGUMENTS` | calls a tool; a case of these alone is played over REST and `/rpc` too |
//! | `send …` | sends a message and waits for its answer |
//! | `start …` | sends a message and does not wait |
//! | `until …` | waits until the upstream was asked for this |
//! | `hear` | waits for an answer to something started |
//! | `tell …` | sends a message that has no answer |
//! | `cancel ID` | cancels a started request, as the revision does |
//! | `quiet MS` | records all messages of this time |
//!
//! In messages, `<meta>` and `<params>` are the additions of the modern era: a member `_meta` of the params, or params
//! with only that member. `<version>` is the revision, `<x*70>` is `x` seventy times, and `<keys*70>` is seventy members.

use std::time::Duration;

use failwell_rpc::{Era, Revision};
use failwell_suite::client::requests;
use serde_json::{Value, json};

/// A case.
pub(crate) struct Script {
    /// The text of the head.
    pub(crate) head: String,
    before: Vec<String>,
    upstream: Vec<String>,
    after: Vec<String>,
    pub(crate) hidden: Vec<String>,
    pub(crate) nowhere: Vec<String>,
    pub(crate) alone: bool,
    pub(crate) ledger: bool,
    pub(crate) steps: Vec<Step>,
}

/// One step of the client.
pub(crate) enum Step {
    Tool(String, String),
    Send(String),
    Start(String),
    Tell(String),
    Until(String),
    Hear,
    Cancel(String),
    Quiet(Duration),
}

impl Script {
    pub(crate) fn parse(text: &str) -> Result<Script, String> {
        let head = text.split("\n===").next().unwrap_or_default().to_owned();
        let mut script = Script {
            head: head.clone(),
            before: Vec::new(),
            upstream: Vec::new(),
            after: Vec::new(),
            hidden: Vec::new(),
            nowhere: Vec::new(),
            alone: false,
            ledger: false,
            steps: Vec::new(),
        };
        for line in head.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
            let rest = rest.to_owned();
            match verb {
                "before" => script.before.push(rest),
                "upstream" => script.upstream.push(rest),
                "after" => script.after.push(rest),
                "hidden" => script.hidden.push(rest),
                "nowhere" => script.nowhere.push(rest),
                "alone" => script.alone = true,
                "ledger" => script.ledger = true,
                "tool" => {
                    let (name, arguments) = rest.split_once(' ').ok_or("no arguments")?;
                    script.steps.push(Step::Tool(name.to_owned(), arguments.to_owned()));
                }
                "send" => script.steps.push(Step::Send(rest)),
                "start" => script.steps.push(Step::Start(rest)),
                "tell" => script.steps.push(Step::Tell(rest)),
                "until" => script.steps.push(Step::Until(rest)),
                "hear" => script.steps.push(Step::Hear),
                "cancel" => script.steps.push(Step::Cancel(rest)),
                "quiet" => {
                    let wait = rest.parse().map_err(|_| format!("not a number of milliseconds: {rest}"))?;
                    script.steps.push(Step::Quiet(Duration::from_millis(wait)));
                }
                _ => return Err(format!("no such verb: {line}")),
            }
        }
        if script.steps.is_empty() { Err("nothing is sent".to_owned()) } else { Ok(script) }
    }

    /// Whether it can be played at entry points without MCP.
    pub(crate) fn is_of_tools_alone(&self) -> bool {
        self.steps.iter().all(|step| matches!(step, Step::Tool(..)))
    }

    /// The configuration file, with the upstream at `program` and its log at `log`.
    pub(crate) fn config(&self, program: &str, log: &str) -> String {
        let upstream = [
            "servers = []".to_owned(),
            self.before.join("\n"),
            "[[upstream]]".to_owned(),
            "name = \"ev\"".to_owned(),
            format!("command = [{program:?}]"),
            format!("env = {{ EVIL_LOG = {log:?} }}"),
            self.upstream.join("\n"),
            self.after.join("\n"),
        ];
        upstream.join("\n") + "\n"
    }
}

/// The bytes of a message in a revision.
pub(crate) fn expand(message: &str, revision: Revision) -> Vec<u8> {
    let (mut meta, mut params) = (String::new(), String::new());
    if revision.era() == Era::Modern {
        let whole: Value =
            serde_json::from_str(&requests::request(revision, "1", "x", &json!({}))).expect("JSON");
        meta = format!(",\"_meta\":{}", whole.pointer("/params/_meta").expect("the usual members"));
        params = format!(",\"params\":{{{}}}", meta.trim_start_matches(','));
    }
    let text = message.replace("<meta>", &meta).replace("<params>", &params);
    repeated(&text.replace("<version>", revision.as_str())).into_bytes()
}

/// Expands the placeholders for repetition.
pub(crate) fn repeated(text: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, from) = rest.split_at(start);
        done.push_str(before);
        let written = from.find('>').and_then(|end| Some((from.get(1..end)?, from.get(end + 1..)?)));
        match written.and_then(|(inside, after)| Some((times(inside)?, after))) {
            Some((text, after)) => {
                done.push_str(&text);
                rest = after;
            }
            None => {
                done.push('<');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    done + rest
}

fn times(inside: &str) -> Option<String> {
    let (what, count) = inside.rsplit_once('*')?;
    let count: usize = count.parse().ok()?;
    if what == "keys" {
        return Some((0..count).map(|n| format!("\"k{n}\":0")).collect::<Vec<_>>().join(","));
    }
    Some(what.repeat(count))
}
