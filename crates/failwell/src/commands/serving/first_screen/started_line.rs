//! The line of JSON for programs that read standard output.

use std::path::{Path, PathBuf, absolute};

use serde::Serialize;

use super::{AdminKey, FirstScreen, ServerState};

/// Says that a server is up, and where.
#[derive(Debug, Serialize)]
pub(super) struct StartedLine<'a> {
    event: &'static str,
    /// The address without a path.
    address: String,
    /// The configuration file; `null` without one.
    file: Option<PathBuf>,
    state: PathBuf,
    version: &'static str,
    servers: Vec<ServerEntry<'a>>,
    /// Programs that configured servers need and that are missing, and guards that do not work.
    missing: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    admin_key_file: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
pub(super) struct ServerEntry<'a> {
    name: &'a str,
    /// `up`, `down`, `starting` or `lazy`.
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

/// Says that the program has ended, and how its requests did.
#[derive(Debug, Serialize)]
pub(in crate::commands::serving) struct StoppedLine {
    pub(in crate::commands::serving) event: &'static str,
    /// Requests that ran when the shutdown began, and got their answer.
    pub(in crate::commands::serving) finished: usize,
    /// Requests that were ended with `server/SHUTDOWN`.
    pub(in crate::commands::serving) ended: usize,
    /// Answers that could not be delivered in time.
    pub(in crate::commands::serving) undelivered: usize,
}

impl<'a> StartedLine<'a> {
    pub(super) fn new(
        screen: &FirstScreen<'_>,
        servers: Vec<ServerEntry<'a>>,
        missing: Vec<String>,
    ) -> StartedLine<'a> {
        let whole = |path: &Path| absolute(path).unwrap_or_else(|_| path.to_owned());
        StartedLine {
            event: "started",
            address: format!("http://{}", screen.address),
            file: screen.file.as_deref().map(whole),
            state: whole(&screen.state),
            version: env!("CARGO_PKG_VERSION"),
            servers,
            missing,
            admin_key_file: match screen.admin {
                AdminKey::InFile(file) => Some(whole(file)),
                AdminKey::None | AdminKey::Shown(_) => None,
            },
        }
    }

    pub(super) fn text(&self) -> String {
        line(self)
    }
}

impl StoppedLine {
    pub(in crate::commands::serving) fn text(&self) -> String {
        line(self)
    }
}

fn line(value: &impl Serialize) -> String {
    // Only a path that is not UTF-8 cannot be written.
    serde_json::to_string(value).unwrap_or_else(|_| r#"{"event":"started"}"#.to_owned()) + "\n"
}

impl<'a> ServerEntry<'a> {
    pub(super) fn new(name: &'a str, state: &'a ServerState) -> ServerEntry<'a> {
        let entry = ServerEntry { name, state: "starting", tools: None, seconds: None, why: None };
        match state {
            ServerState::Up { tools, took } => {
                // Milliseconds: more digits say nothing.
                let seconds = (took.as_secs_f64() * 1_000.0).round() / 1_000.0;
                ServerEntry { state: "up", tools: *tools, seconds: Some(seconds), ..entry }
            }
            ServerState::Down(why) => ServerEntry { state: "down", why: Some(why), ..entry },
            ServerState::Starting => entry,
            ServerState::Lazy => ServerEntry { state: "lazy", ..entry },
        }
    }
}
