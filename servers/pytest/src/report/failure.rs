//! A failed run: its fault, and the object that the pytest server's record defines (S3 in docs/sources.md).

use std::time::Duration;

use failwell_fault::{Effect, Fact, Fault};
use serde_json::{Map, Value, json};

use crate::reason;
use crate::run::classify::RunVerdict;

/// The data of a failure besides its verdict.
pub(crate) struct FailureContext<'a> {
    pub(crate) duration: Option<Duration>,
    pub(crate) command: &'a [String],
    pub(crate) stdout: &'a str,
    pub(crate) stderr: &'a str,
    /// The results so far, the running test and its stack.
    pub(crate) partial: Value,
    pub(crate) limit_s: f64,
    pub(crate) most_s: u64,
    pub(crate) missing: StartFailure,
}

/// The reason why pytest did not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartFailure {
    Interpreter,
    Pytest,
    BrokenPytest,
    RunFolder,
    Launch,
}

impl StartFailure {
    fn why(self) -> &'static str {
        match self {
            StartFailure::Interpreter => "no Python interpreter was found",
            StartFailure::Pytest => "the interpreter has no pytest",
            StartFailure::BrokenPytest => "pytest does not load in this interpreter",
            StartFailure::RunFolder => "the project folder is not there",
            StartFailure::Launch => "the interpreter does not start",
        }
    }

    fn help(self) -> &'static str {
        match self {
            StartFailure::Interpreter => {
                "make a virtual environment in the project (python3 -m venv .venv), or start the server with --python PATH"
            }
            StartFailure::Pytest => {
                "install it into the project's environment (.venv/bin/python -m pip install pytest), or start the server with --python PATH of one that has it"
            }
            StartFailure::BrokenPytest => {
                "read stderr, then reinstall pytest and its plugins in the project's environment"
            }
            StartFailure::RunFolder => {
                "restore the folder, or start the server with --project DIR of one that is there"
            }
            StartFailure::Launch => {
                "read stderr; check that the interpreter runs, or start the server with --python PATH of another"
            }
        }
    }
}

/// The published `error_type` of a verdict.
pub(crate) fn error_type(verdict: RunVerdict) -> &'static str {
    match verdict {
        RunVerdict::Timeout => "timeout",
        RunVerdict::Crashed { .. } => "crash",
        RunVerdict::Internal => "pytest_internal",
        RunVerdict::Interrupted { .. } => "interrupted",
        RunVerdict::Usage => "usage_error",
        RunVerdict::NotStarted => "spawn",
        RunVerdict::UnknownExit { .. } | RunVerdict::Completed { .. } => "unknown",
    }
}

fn exit_code(verdict: RunVerdict) -> Option<i32> {
    match verdict {
        RunVerdict::Interrupted { exit_code }
        | RunVerdict::UnknownExit { exit_code }
        | RunVerdict::Completed { exit_code } => Some(exit_code),
        RunVerdict::Crashed { exit_code, .. } => exit_code,
        RunVerdict::Internal => Some(3),
        RunVerdict::Usage => Some(4),
        RunVerdict::Timeout | RunVerdict::NotStarted => None,
    }
}

pub(crate) fn fault(verdict: RunVerdict, around: &FailureContext<'_>) -> Fault {
    let fault = match verdict {
        RunVerdict::Timeout => Fault::new(&reason::PYTEST_TIMEOUT)
            .fact("limit_s", seconds(around.limit_s))
            .fact("most_s", around.most_s)
            .with_effect(Effect::Partial),
        RunVerdict::Crashed { signal: Some(name), .. } => Fault::new(&reason::PYTEST_CRASHED)
            .fact("how", "with signal ")
            .fact("ended_by", name)
            .fact("signal", name)
            .with_effect(Effect::Partial),
        RunVerdict::Crashed { signal: None, exit_code } => {
            let fault = Fault::new(&reason::PYTEST_CRASHED).with_effect(Effect::Partial);
            match exit_code {
                Some(code) => {
                    fault.fact("how", "before the session finished, with exit code ").fact("ended_by", code)
                }
                None => fault.fact("how", "before the session finished"),
            }
        }
        RunVerdict::Internal => Fault::new(&reason::PYTEST_INTERNAL).with_effect(Effect::Partial),
        RunVerdict::Interrupted { .. } => {
            Fault::new(&reason::PYTEST_INTERRUPTED).with_effect(Effect::Partial)
        }
        RunVerdict::Usage => Fault::new(&reason::PYTEST_USAGE),
        RunVerdict::NotStarted => Fault::new(&reason::PYTEST_SPAWN)
            .fact("why", around.missing.why())
            .fact("help", around.missing.help()),
        RunVerdict::UnknownExit { .. } | RunVerdict::Completed { .. } => {
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

/// The object of the pytest server's record (S3 in docs/sources.md): `{code, message, data{…}}`.
pub(crate) fn object(verdict: RunVerdict, fault: &Fault, around: &FailureContext<'_>) -> Value {
    let mut data = Map::new();
    let mut put = |name: &str, value: Value| data.insert(name.to_owned(), value);
    put("error_type", json!(error_type(verdict)));
    put("exit_code", json!(exit_code(verdict)));
    let signal = match verdict {
        RunVerdict::Crashed { signal, .. } => signal,
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
    let code = if verdict == RunVerdict::Usage { -32602 } else { -32000 };
    json!({"code": code, "message": fault.detail(), "data": data})
}

/// Rounds to milliseconds.
pub(crate) fn round(seconds: f64) -> f64 {
    (seconds * 1_000.0).round() / 1_000.0
}
