//! Validation: decides which code may be analysed. It runs first and executes no code.
//!
//! This is the first line of defence. The second is the sandbox of replays, which does not rely on it.

mod depth;
mod lists;
mod scopes;
mod text;
mod validator;

use failwell_fault::{Echo, Fault};
use ruff_text_size::TextSize;
use serde::{Deserialize, Serialize};

use crate::reason;

pub use lists::{ALLOWED_MODULES, BLOCKED_ATTRIBUTES, BLOCKED_BUILTINS, BLOCKED_MODULES};

/// Maximum size of the code, in bytes.
pub const MOST_BYTES: usize = 64 * 1024;

/// The reason why code is refused. Clients match these messages, so their wording is fixed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ValidationError {
    /// The code is larger than [`MOST_BYTES`].
    TooLarge,
    /// The code is nested too deeply for a parser.
    TooDeep,
    /// The code is not Python.
    Syntax { line: usize },
    /// The code uses a function, name or attribute that could escape the sandbox.
    Blocked {
        /// Its name; `import os` for a module.
        name: String,
        line: usize,
    },
    /// The code imports a module outside of the allow-list.
    NotAllowed {
        /// Its name.
        module: String,
        line: usize,
    },
}

impl ValidationError {
    /// The error type that the symbolic server's record defines (S0 in docs/sources.md).
    pub fn error_type(&self) -> &'static str {
        match self {
            ValidationError::TooLarge | ValidationError::TooDeep | ValidationError::Blocked { .. } => {
                "ValidationError"
            }
            ValidationError::Syntax { .. } => "SyntaxError",
            ValidationError::NotAllowed { .. } => "ImportError",
        }
    }

    pub fn fault(&self) -> Fault {
        let fault = match self {
            ValidationError::TooLarge => {
                Fault::new(&reason::SYMBOLIC_TOO_LARGE).fact("limit_bytes", MOST_BYTES)
            }
            ValidationError::TooDeep => Fault::new(&reason::SYMBOLIC_TOO_DEEP),
            ValidationError::Syntax { line } => Fault::new(&reason::SYMBOLIC_SYNTAX).fact("line", *line),
            ValidationError::Blocked { name, line } => {
                Fault::new(&reason::SYMBOLIC_BLOCKED).fact("name", Echo::of_caller(name)).fact("line", *line)
            }
            ValidationError::NotAllowed { module, line } => Fault::new(&reason::SYMBOLIC_IMPORT)
                .fact("module", Echo::of_caller(module))
                .fact("line", *line),
        };
        fault.fact("error_type", self.error_type())
    }
}

/// Checks whether this code may be analysed.
pub fn validate(code: &str) -> Result<(), ValidationError> {
    if code.len() > MOST_BYTES {
        return Err(ValidationError::TooLarge);
    }
    if let Some(at) = code.find('\0') {
        return Err(ValidationError::Syntax { line: line_of(code, at) });
    }
    depth::check(code)?;
    let parsed = ruff_python_parser::parse_module(code)
        .map_err(|error| ValidationError::Syntax { line: line_of(code, offset(error.location.start())) })?;
    match validator::first_blocked(&parsed.syntax().body) {
        None => Ok(()),
        Some(validator::Prohibition { what, at }) => {
            let line = line_of(code, offset(at));
            Err(match what {
                validator::ProhibitedUse::Blocked(name) => ValidationError::Blocked { name, line },
                validator::ProhibitedUse::NotAllowed(module) => ValidationError::NotAllowed { module, line },
            })
        }
    }
}

fn offset(at: TextSize) -> usize {
    usize::try_from(u32::from(at)).unwrap_or(usize::MAX)
}

/// The line of a byte, counted from one.
fn line_of(code: &str, at: usize) -> usize {
    code.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests;
