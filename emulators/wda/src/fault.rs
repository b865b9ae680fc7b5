//! Faults on demand.

use std::time::Duration;

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

/// Whether a fault strikes before the command does anything, or after.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Nothing has happened.
    #[default]
    Before,
    /// All has happened, but the answer is lost.
    After,
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

/// How many can wait.
const MOST: usize = 1_000;

/// Those that wait to strike. The first that matches does, and no other.
#[derive(Debug, Default)]
pub(crate) struct Faults(Vec<Fault>);

impl Faults {
    pub(crate) fn push(&mut self, fault: Fault) {
        if self.0.len() < MOST {
            self.0.push(fault);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The fault that strikes this command, if one does.
    pub(crate) fn strike(&mut self, command: &str) -> Option<Fault> {
        let place = self.0.iter_mut().position(|fault| {
            let matches = matches_pattern(&fault.commands, command);
            if matches && fault.skip > 0 {
                fault.skip -= 1;
                return false;
            }
            matches
        })?;
        let fault = self.0.get_mut(place)?;
        let struck = fault.clone();
        if let Some(times) = &mut fault.times {
            *times = times.saturating_sub(1);
            if *times == 0 {
                self.0.remove(place);
            }
        }
        Some(struck)
    }
}

/// Whether a text matches a pattern in which `*` stands for anything.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut left) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, after)) = left.split_once(part) else { return false };
        left = after;
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::{Fault, Faults, Kind, matches_pattern};

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("*", "GET /status", true),
            ("GET /status", "GET /status", true),
            ("GET /status", "GET /status/x", false),
            ("POST */click", "POST /element/1/click", true),
            ("POST */click", "POST /element/1/clear", false),
            ("POST /element/*/click", "POST /element/1/click", true),
            ("* /screenshot", "GET /screenshot", true),
            ("*/element*/va*", "POST /element/7/value", true),
        ] {
            assert_eq!(matches_pattern(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_fault_strikes_as_often_as_it_says() {
        let mut faults = Faults::default();
        faults.push(Fault::new(Kind::Hang).on("GET *").skip(1).times(2));
        let struck: Vec<bool> = (0..5).map(|_| faults.strike("GET /source").is_some()).collect();
        assert_eq!(struck, [false, true, true, false, false]);
        assert!(faults.strike("POST /source").is_none());
    }
}
