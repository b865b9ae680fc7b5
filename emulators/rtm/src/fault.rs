//! Faults on demand.

use std::time::Duration;

use failwell_emulator_props::{Stage, Strikes};
use serde::{Deserialize, Serialize};

/// Something that goes wrong, with which methods, and how often.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Fault {
    /// What goes wrong.
    #[serde(flatten)]
    pub kind: Kind,
    /// Whether the method runs first. Only of kinds that replace the answer.
    #[serde(default)]
    pub stage: Stage,
    /// Which methods: a name in which `*` stands for anything.
    #[serde(default = "every_method")]
    pub methods: String,
    /// How many calls it strikes; without a number, all until it is cleared.
    #[serde(default)]
    pub times: Option<u32>,
    /// How many matching calls it lets pass first.
    #[serde(default)]
    pub skip: u32,
}

/// What can go wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Kind {
    /// HTTP 503 with a page for people.
    Unavailable,
    /// Another HTTP status with a page for people.
    Status {
        /// The status.
        status: u16,
    },
    /// A refusal of the service, such as 105.
    Refuse {
        /// Its code.
        code: u32,
        /// Its words.
        #[serde(default)]
        message: String,
    },
    /// The connection is reset.
    Reset,
    /// HTTP 200 with a page for people.
    Html,
    /// The answer is cut off in the middle, and the connection with it.
    Truncate,
    /// The answer begins late.
    Delay {
        /// How late.
        milliseconds: u64,
    },
    /// The answer takes long to come, in small pieces.
    SlowBody {
        /// How long.
        milliseconds: u64,
    },
    /// Lists of one become that one, and single things lists.
    Flip,
    /// Members nobody has heard of, everywhere.
    UnknownFields,
}

fn every_method() -> String {
    "*".to_owned()
}

impl Fault {
    /// A fault that strikes every method until it is cleared.
    pub fn new(kind: Kind) -> Fault {
        Fault { kind, stage: Stage::Before, methods: every_method(), times: None, skip: 0 }
    }

    /// Only these methods.
    pub fn on(self, methods: &str) -> Fault {
        Fault { methods: methods.to_owned(), ..self }
    }

    /// Only so often.
    pub fn times(self, times: u32) -> Fault {
        Fault { times: Some(times), ..self }
    }

    /// Only once so many have passed.
    pub fn skip(self, skip: u32) -> Fault {
        Fault { skip, ..self }
    }

    /// Once the method has done its work.
    pub fn after(self) -> Fault {
        Fault { stage: Stage::After, ..self }
    }
}

impl Kind {
    pub(crate) fn label(&self) -> String {
        match self {
            Kind::Unavailable => "503".to_owned(),
            Kind::Status { status } => status.to_string(),
            Kind::Refuse { code, .. } => code.to_string(),
            Kind::Reset => "reset".to_owned(),
            Kind::Html => "html".to_owned(),
            Kind::Truncate => "truncate".to_owned(),
            Kind::Delay { .. } | Kind::SlowBody { .. } | Kind::Flip | Kind::UnknownFields => "ok".to_owned(),
        }
    }

    pub(crate) fn replaces_answer(&self) -> bool {
        !matches!(self, Kind::Delay { .. } | Kind::SlowBody { .. } | Kind::Flip | Kind::UnknownFields)
    }

    pub(crate) fn wait(&self) -> Duration {
        match self {
            Kind::Delay { milliseconds } | Kind::SlowBody { milliseconds } => {
                Duration::from_millis((*milliseconds).min(600_000))
            }
            _ => Duration::ZERO,
        }
    }
}

impl Strikes for Fault {
    fn pattern(&self) -> &str {
        &self.methods
    }

    fn skip(&mut self) -> &mut u32 {
        &mut self.skip
    }

    fn times(&mut self) -> &mut Option<u32> {
        &mut self.times
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, Kind};

    #[test]
    fn a_fault_is_read_from_json() {
        let fault: Fault =
            serde_json::from_str(r#"{"kind": "refuse", "code": 105, "times": 2, "stage": "after"}"#).unwrap();
        assert_eq!(fault.kind, Kind::Refuse { code: 105, message: String::new() });
        assert_eq!(fault.times, Some(2));
    }
}
