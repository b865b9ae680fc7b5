//! A run that failed: its fault, and the object of the decision record that goes with it.

use std::time::Duration;

use failwell_fault::{Effect, Fact, Fault, reason};
use serde_json::{Map, Value, json};

use crate::classify::Verdict;

/// What is known beside the verdict.
pub(crate) struct Circumstances<'a> {
    pub(crate) duration: Option<Duration>,
    pub(crate) command: &'a [String],
    pub(crate) stdout: &'a str,
    pub(crate) stderr: &'a str,
    /// Results so far, the running test, its stack.
    pub(crate) partial: Value,
    pub(crate) limit_s: f64,
    pub(crate) most_s: u64,
    pub(crate) missing: Missing,
}

/// What kept pytest from starting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Interpreter,
    Pytest,
    BrokenPytest,
    Folder,
    Launch,
}

impl Missing {
    fn why(self) -> &'static str {
        match self {
            Missing::Interpreter => "no Python interpreter was found",
            Missing::Pytest => "the interpreter has no pytest",
            Missing::BrokenPytest => "pytest does not load in this interpreter",
            Missing::Folder => "the project folder is not there",
            Missing::Launch => "the interpreter does not start",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Missing::Interpreter => {
                "make a virtual environment in the project (python3 -m venv .venv), or start the server with --python PATH"
            }
            Missing::Pytest => {
                "install it into the project's environment (.venv/bin/python -m pip install pytest), or start the server with --python PATH of one that has it"
            }
            Missing::BrokenPytest => {
                "read stderr, then reinstall pytest and its plugins in the project's environment"
            }
            Missing::Folder => {
                "restore the folder, or start the server with --project DIR of one that is there"
            }
            Missing::Launch => {
                "read stderr; check that the interpreter runs, or start the server with --python PATH of another"
            }
        }
    }
}

/// The record's name for a verdict.
pub(crate) fn error_type(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Timeout => "timeout",
        Verdict::Crashed { .. } => "crash",
        Verdict::Internal => "pytest_internal",
        Verdict::Interrupted { .. } => "interrupted",
        Verdict::Usage => "usage_error",
        Verdict::NotStarted => "spawn",
        Verdict::UnknownExit { .. } | Verdict::Ordinary { .. } => "unknown",
    }
}

fn exit_code(verdict: Verdict) -> Option<i32> {
    match verdict {
        Verdict::Interrupted { exit_code }
        | Verdict::UnknownExit { exit_code }
        | Verdict::Ordinary { exit_code } => Some(exit_code),
        Verdict::Crashed { exit_code, .. } => exit_code,
        Verdict::Internal => Some(3),
        Verdict::Usage => Some(4),
        Verdict::Timeout | Verdict::NotStarted => None,
    }
}

/// The fault of a verdict.
pub(crate) fn fault(verdict: Verdict, around: &Circumstances<'_>) -> Fault {
    let fault = match verdict {
        Verdict::Timeout => Fault::new(&reason::PYTEST_TIMEOUT)
            .fact("limit_s", seconds(around.limit_s))
            .fact("most_s", around.most_s)
            .with_effect(Effect::Partial),
        Verdict::Crashed { signal: Some(name), .. } => Fault::new(&reason::PYTEST_CRASHED)
            .fact("how", "with signal ")
            .fact("ended_by", name)
            .fact("signal", name)
            .with_effect(Effect::Partial),
        Verdict::Crashed { signal: None, exit_code } => {
            let fault = Fault::new(&reason::PYTEST_CRASHED).with_effect(Effect::Partial);
            match exit_code {
                Some(code) => {
                    fault.fact("how", "before the session finished, with exit code ").fact("ended_by", code)
                }
                None => fault.fact("how", "before the session finished"),
            }
        }
        Verdict::Internal => Fault::new(&reason::PYTEST_INTERNAL).with_effect(Effect::Partial),
        Verdict::Interrupted { .. } => Fault::new(&reason::PYTEST_INTERRUPTED).with_effect(Effect::Partial),
        Verdict::Usage => Fault::new(&reason::PYTEST_USAGE),
        Verdict::NotStarted => Fault::new(&reason::PYTEST_SPAWN)
            .fact("why", around.missing.why())
            .fact("help", around.missing.help()),
        Verdict::UnknownExit { .. } | Verdict::Ordinary { .. } => {
            Fault::new(&reason::PYTEST_UNKNOWN_EXIT).with_effect(Effect::Partial)
        }
    };
    let fault = fault.fact("error_type", error_type(verdict));
    match exit_code(verdict) {
        Some(code) => fault.fact("exit_code", code),
        None => fault,
    }
}

fn seconds(value: f64) -> Fact {
    Fact::Number(value)
}

/// The object of the decision record: `{code, message, data{…}}`.
pub(crate) fn object(verdict: Verdict, fault: &Fault, around: &Circumstances<'_>) -> Value {
    let mut data = Map::new();
    let mut put = |name: &str, value: Value| data.insert(name.to_owned(), value);
    put("error_type", json!(error_type(verdict)));
    put("exit_code", json!(exit_code(verdict)));
    let signal = match verdict {
        Verdict::Crashed { signal, .. } => signal,
        _ => None,
    };
    put("signal", json!(signal));
    put("stdout", json!(around.stdout));
    put("stderr", json!(around.stderr));
    put("command", json!(around.command));
    put("duration", json!(around.duration.map(|taken| round(taken.as_secs_f64()))));
    if let Value::Object(members) = &around.partial {
        for (name, value) in members {
            put(name, value.clone());
        }
    }
    let code = if verdict == Verdict::Usage { -32602 } else { -32000 };
    json!({"code": code, "message": fault.detail(), "data": data})
}

/// Milliseconds are enough.
pub(crate) fn round(seconds: f64) -> f64 {
    (seconds * 1_000.0).round() / 1_000.0
}
