//! Faults on demand.

use std::time::Duration;

use failwell_emulator_props::{Stage, Strikes};
use serde::{Deserialize, Serialize};

/// Something that goes wrong, with which commands, and how often.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Fault {
    /// What goes wrong.
    #[serde(flatten)]
    pub kind: Kind,
    /// Whether the command happens first. Only of kinds that replace the answer.
    #[serde(default)]
    pub stage: Stage,
    /// Which commands: a method and a path without the session, in which `*` stands for anything, as in
    /// `POST /element/*/click`.
    #[serde(default = "every_command")]
    pub commands: String,
    /// How many commands it strikes; without a number, all until it is cleared.
    #[serde(default)]
    pub times: Option<u32>,
    /// How many matching commands it lets pass first.
    #[serde(default)]
    pub skip: u32,
}

/// What can go wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// There is never an answer, and the connection stays open.
    Hang,
    /// The runner is gone: every connection is cut, and nobody listens any more.
    Die,
    /// The connection is reset.
    Reset,
    /// The answer is cut off in the middle, and the connection with it.
    Truncate,
    /// The answer begins late.
    Delay {
        /// How late.
        milliseconds: u64,
    },
    /// HTTP 502 with a page for people, as a proxy in between would send.
    Html,
    /// An error of the standard.
    Refuse {
        /// Its name, such as `timeout`.
        error: String,
        /// Its words.
        #[serde(default)]
        message: String,
        /// Its status.
        #[serde(default = "internal")]
        status: u16,
    },
    /// The system asks for a permission just before the command.
    Alert,
    /// Every element found so far is gone just before the command.
    Stale,
    /// The session is gone just before the command.
    Expire,
    /// Screenshots are this many bytes larger than they have to be.
    LargeScreenshot {
        /// How many.
        bytes: usize,
    },
}

fn every_command() -> String {
    "*".to_owned()
}

fn internal() -> u16 {
    500
}

impl Fault {
    /// A fault that strikes every command until it is cleared.
    pub fn new(kind: Kind) -> Fault {
        Fault { kind, stage: Stage::Before, commands: every_command(), times: None, skip: 0 }
    }

    /// Only these commands.
    pub fn on(self, commands: &str) -> Fault {
        Fault { commands: commands.to_owned(), ..self }
    }

    /// Only so often.
    pub fn times(self, times: u32) -> Fault {
        Fault { times: Some(times), ..self }
    }

    /// Only once so many have passed.
    pub fn skip(self, skip: u32) -> Fault {
        Fault { skip, ..self }
    }

    /// Once the command has happened.
    pub fn after(self) -> Fault {
        Fault { stage: Stage::After, ..self }
    }
}

impl Kind {
    /// What the log says of a command it struck; none when the command came to what it came to.
    pub(crate) fn label(&self) -> Option<&str> {
        match self {
            Kind::Hang => Some("hang"),
            Kind::Die => Some("die"),
            Kind::Reset => Some("reset"),
            Kind::Html => Some("html"),
            Kind::Refuse { error, .. } => Some(error),
            Kind::Truncate
            | Kind::Delay { .. }
            | Kind::Alert
            | Kind::Stale
            | Kind::Expire
            | Kind::LargeScreenshot { .. } => None,
        }
    }

    pub(crate) fn replaces_answer(&self) -> bool {
        self.label().is_some()
    }

    pub(crate) fn wait(&self) -> Duration {
        match self {
            Kind::Delay { milliseconds } => Duration::from_millis((*milliseconds).min(600_000)),
            _ => Duration::ZERO,
        }
    }
}

impl Strikes for Fault {
    fn pattern(&self) -> &str {
        &self.commands
    }

    fn skip(&mut self) -> &mut u32 {
        &mut self.skip
    }

    fn times(&mut self) -> &mut Option<u32> {
        &mut self.times
    }
}
