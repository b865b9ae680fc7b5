//! What code may be analysed at all: looked at before anything else is done with it, and never run for it.
//!
//! This is the first wall. The second is the sandbox that replays run in; what slips through here does no harm there.

mod depth;
mod lists;
mod scopes;
mod text;
mod walk;

use failwell_fault::{Echo, Fault, reason};
use ruff_text_size::TextSize;
use serde::{Deserialize, Serialize};

pub use lists::{ALLOWED_MODULES, BLOCKED_ATTRIBUTES, BLOCKED_BUILTINS, BLOCKED_MODULES};

/// Bytes of code that are taken.
pub const MOST_BYTES: usize = 64 * 1024;

/// Why code is refused. The words are the decision record's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// More than [`MOST_BYTES`].
    TooLarge,
    /// Nested so deeply that no parser would take it.
    TooDeep,
    /// Not Python.
    Syntax {
        /// The line it stops at.
        line: usize,
    },
    /// A function, a name or an attribute that opens a way out.
    Blocked {
        /// What it is called; `import os` for a module.
        name: String,
        /// Where.
        line: usize,
    },
    /// A module that is not on the list.
    NotAllowed {
        /// Its name.
        module: String,
        /// Where.
        line: usize,
    },
}

impl Refusal {
    /// The record's name for it.
    pub fn error_type(&self) -> &'static str {
        match self {
            Refusal::TooLarge | Refusal::TooDeep | Refusal::Blocked { .. } => "ValidationError",
            Refusal::Syntax { .. } => "SyntaxError",
            Refusal::NotAllowed { .. } => "ImportError",
        }
    }

    /// The fault that tells it.
    pub fn fault(&self) -> Fault {
        let fault = match self {
            Refusal::TooLarge => Fault::new(&reason::SYMBOLIC_TOO_LARGE).fact("limit_bytes", MOST_BYTES),
            Refusal::TooDeep => Fault::new(&reason::SYMBOLIC_TOO_DEEP),
            Refusal::Syntax { line } => Fault::new(&reason::SYMBOLIC_SYNTAX).fact("line", *line),
            Refusal::Blocked { name, line } => {
                Fault::new(&reason::SYMBOLIC_BLOCKED).fact("name", Echo::of_caller(name)).fact("line", *line)
            }
            Refusal::NotAllowed { module, line } => Fault::new(&reason::SYMBOLIC_IMPORT)
                .fact("module", Echo::of_caller(module))
                .fact("line", *line),
        };
        fault.fact("error_type", self.error_type())
    }
}

/// Whether this code may be analysed.
pub fn validate(code: &str) -> Result<(), Refusal> {
    if code.len() > MOST_BYTES {
        return Err(Refusal::TooLarge);
    }
    if let Some(at) = code.find('\0') {
        return Err(Refusal::Syntax { line: line_of(code, at) });
    }
    depth::check(code)?;
    let parsed = ruff_python_parser::parse_module(code)
        .map_err(|error| Refusal::Syntax { line: line_of(code, offset(error.location.start())) })?;
    match walk::first_blocked(&parsed.syntax().body) {
        None => Ok(()),
        Some(walk::Found { what, at }) => {
            let line = line_of(code, offset(at));
            Err(match what {
                walk::What::Blocked(name) => Refusal::Blocked { name, line },
                walk::What::NotAllowed(module) => Refusal::NotAllowed { module, line },
            })
        }
    }
}

fn offset(at: TextSize) -> usize {
    usize::try_from(u32::from(at)).unwrap_or(usize::MAX)
}

/// The line a byte is on, counted from one.
fn line_of(code: &str, at: usize) -> usize {
    code.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests;
