//! The examiner's bench: the server, how to reach it, and what is known about it.

use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::process::Command;

use super::survey::Survey;
use crate::connection::http::HttpConnection;
use crate::connection::stdio::{StdioConnection, StdoutNoise};
use crate::connection::wire::address::ServerAddress;
use crate::connection::wire::child::Child;
use crate::connection::wire::dial::Trust;
use crate::connection::wire::transcript::Transcript;
use crate::connection::{Connection, meta};
use crate::failure::ProbeError;
use crate::revision::Revision;
use crate::target::{Options, Target, Transport};

/// The variable planted in a child's environment.
pub(crate) const SECRET_NAME: &str = "PROBE_SECRET";

/// The connections, clocks and facts that checks share.
pub(crate) struct TestBench {
    target: Target,
    pub(crate) options: Options,
    pub(crate) tape: Transcript,
    pub(crate) impure: StdoutNoise,
    /// Planted in the environment.
    pub(crate) secret: String,
    /// Planted among arguments.
    pub(crate) marker: String,
    pub(crate) revision: Revision,
    /// Every revision the server speaks.
    pub(crate) spoken: Vec<Revision>,
    pub(crate) survey: Survey,
    pub(crate) startup: Duration,
    trust: Trust,
    link: Option<Connection>,
    began: Instant,
}

impl TestBench {
    pub(crate) fn new(target: Target, options: Options) -> Self {
        let seed = options.secret.clone().unwrap_or_else(random);
        Self {
            target,
            secret: format!("fw-env-{seed}"),
            marker: format!("fw-arg-{seed}"),
            startup: options.startup_timeout,
            trust: Trust::new(options.authorities.clone()),
            options,
            tape: Transcript::default(),
            impure: StdoutNoise::default(),
            revision: Revision::November2025,
            spoken: Vec::new(),
            survey: Survey::default(),
            link: None,
            began: Instant::now(),
        }
    }

    pub(crate) fn transport(&self) -> Transport {
        self.target.transport()
    }

    /// The longest wait for the first answer.
    pub(crate) fn first_wait(&self) -> Duration {
        let start = if self.transport() == Transport::Stdio { self.startup } else { Duration::ZERO };
        start + self.options.timeout_per_check
    }

    /// Whether both eras are spoken.
    pub(crate) fn is_dual(&self) -> bool {
        let modern = self.spoken.iter().filter(|revision| revision.is_modern()).count();
        modern > 0 && modern < self.spoken.len()
    }

    pub(crate) fn is_out_of_time(&self) -> bool {
        self.began.elapsed() > self.options.max_total_time
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    pub(crate) fn is_loopback(&self) -> bool {
        matches!(&self.target, Target::Url(url, _) if ServerAddress::parse(url).is_ok_and(|at| at.is_loopback()))
    }

    /// What to do if nothing that speaks MCP answered.
    pub(crate) fn help_for_no_server(&self) -> String {
        let path_is_missing = |url: &String| {
            let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
            rest.split_once('/').is_none_or(|(_, path)| path.is_empty())
        };
        match &self.target {
            Target::Url(url, _) if path_is_missing(url) => {
                format!("the address has no path; try {}/mcp", url.trim_end_matches('/'))
            }
            Target::Url(..) => "check that it runs and that the path is right".to_owned(),
            Target::Command { .. } => {
                "check that the command starts an MCP server that speaks over stdio".to_owned()
            }
        }
    }

    /// Paths the person gave, which the server may well repeat.
    pub(crate) fn known_paths(&self) -> Vec<String> {
        let mut known = Vec::new();
        if let Target::Command { program, args, cwd, .. } = &self.target {
            known.extend(args.iter().chain([program]).filter(|part| part.contains('/')).cloned());
            let here = cwd.clone().or_else(|| std::env::current_dir().ok());
            known.extend(here.map(|path| path.to_string_lossy().into_owned()));
        }
        known
    }

    /// Reaches the server without saying anything yet; the first answer may take as long as it takes to start.
    pub(crate) fn start(&self, revision: Revision) -> Result<Connection, ProbeError> {
        let wait = self.options.timeout_per_check;
        match &self.target {
            Target::Command { program, args, cwd, env } => {
                let mut command = Command::new(program);
                command.args(args).envs(env.iter().cloned()).env(SECRET_NAME, &self.secret);
                if let Some(cwd) = cwd {
                    command.current_dir(cwd);
                }
                let child = Child::start(command)
                    .map_err(|cause| ProbeError::Spawn { program: program.clone(), cause })?;
                let wait = self.first_wait();
                let (tape, impure) = (self.tape.clone(), self.impure.clone());
                Ok(Connection::Stdio(StdioConnection::new(child, revision, wait, tape, impure)))
            }
            Target::Url(url, headers) => {
                let address = ServerAddress::parse(url).map_err(|why| ProbeError::Address { why })?;
                Ok(Connection::Http(HttpConnection::new(
                    address,
                    headers.clone(),
                    revision,
                    wait,
                    self.tape.clone(),
                    self.trust.clone(),
                )))
            }
        }
    }

    /// Reaches the server and makes it ready; gives what it said of itself.
    pub(crate) async fn open(&self, revision: Revision) -> Result<(Connection, Value), String> {
        let mut link = self.start(revision).map_err(|error| error.to_string())?;
        let hello = if revision.is_modern() {
            link.call("server/discover", Value::Object(serde_json::Map::new())).await?
        } else {
            link.initialize(revision).await?
        };
        if let Connection::Stdio(stdio) = &mut link {
            stdio.wait = self.options.timeout_per_check;
        }
        Ok((link, hello))
    }

    /// The connection the checks share, opened when there is none.
    pub(crate) async fn ready(&mut self) -> Result<&mut Connection, String> {
        let link = match self.link.take() {
            Some(link) => link,
            None => self.reopen().await?,
        };
        Ok(self.link.insert(link))
    }

    async fn reopen(&self) -> Result<Connection, String> {
        let mut trouble = String::new();
        for pause in [0, 500, 1500] {
            tokio::time::sleep(Duration::from_millis(pause)).await;
            match self.open(self.revision).await {
                Ok((link, _)) => return Ok(link),
                Err(why) => trouble = why,
            }
        }
        Err(trouble)
    }

    /// Gives the shared connection up; the next check opens another.
    pub(crate) fn hang_up(&mut self) {
        self.link = None;
    }

    /// The placeholders of a body, filled in; the error says what the server lacks.
    pub(crate) fn fill(&self, text: &str, id: &str) -> Result<String, &'static str> {
        let mut body = text.replace("$ID", id);
        let survey = &self.survey;
        let strict = survey.strict.as_ref();
        let needy = strict.filter(|tool| tool.requires_something);
        let values: [(&str, Option<String>, &'static str); 8] = [
            ("$META", Some(format!(r#""_meta":{}"#, meta(self.revision))), ""),
            (
                "$PING",
                Some(if self.revision.is_modern() { "server/discover" } else { "ping" }.to_owned()),
                "",
            ),
            (
                "$TOOL",
                survey.harmless.as_ref().map(|tool| Value::from(tool.name.as_str()).to_string()),
                "no tool looks harmless; name one to call",
            ),
            (
                "$ARGS",
                survey.harmless.as_ref().map(|tool| tool.arguments.to_string()),
                "no tool looks harmless; name one to call",
            ),
            (
                "$WRONG",
                strict.and_then(|tool| tool.wrong_type.as_ref()).map(Value::to_string),
                "no tool excludes a type",
            ),
            ("$NONE", needy.map(|_| "{}".to_owned()), "no tool requires an argument"),
            (
                "$NEEDY",
                needy.map(|tool| Value::from(tool.name.as_str()).to_string()),
                "no tool requires an argument",
            ),
            (
                "$STRICT",
                strict.map(|tool| Value::from(tool.name.as_str()).to_string()),
                "no tool has a schema that excludes anything",
            ),
        ];
        for (name, value, lacking) in values {
            if body.contains(name) {
                body = body.replace(name, &value.ok_or(lacking)?);
            }
        }
        Ok(body)
    }
}

fn random() -> String {
    let mut bytes = [0_u8; 8];
    // Without randomness the marker is guessable, which does no harm here.
    let _ = getrandom::fill(&mut bytes);
    hex::encode(bytes)
}
