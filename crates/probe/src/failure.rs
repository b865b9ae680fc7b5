//! Why an examination could not begin.

use std::fmt;
use std::process::ExitStatus;
use std::time::Duration;

/// The examination could not begin; once it has, everything is a finding in the report.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProbeError {
    /// The command could not be started.
    Spawn {
        /// The program that was asked for.
        program: String,
        /// The error of the operating system.
        cause: std::io::Error,
    },
    /// The address cannot be used.
    Address {
        /// The problem.
        why: &'static str,
    },
    /// The server asks for credentials before it says anything.
    Unauthorized {
        /// The HTTP status it gave.
        status: u16,
    },
    /// The server has no tool of the name that was given.
    NoSuchTool {
        /// The name that was given.
        name: String,
        /// The tools it has, printable.
        has: String,
    },
    /// Nothing that speaks MCP answered.
    NotMcp {
        /// The observed behaviour.
        why: String,
        /// What the person can do.
        help: String,
    },
    /// The server was started and said nothing.
    Silent {
        /// How long it was waited for.
        waited: Duration,
    },
    /// The server ended before it answered.
    Ended {
        /// Exit code or signal.
        status: ExitStatus,
        /// The last lines of its standard error, printable.
        stderr: Vec<String>,
    },
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawn { program, cause } => {
                write!(f, "cannot start the server: {program}: {cause}\nhelp: check the command after --")
            }
            Self::Address { why } => {
                write!(
                    f,
                    "cannot use the address: {why}\nhelp: give it as http://host:port/path or https://host/path"
                )
            }
            Self::Unauthorized { status } => write!(
                f,
                "the server asks for credentials (HTTP {status})\nhelp: pass them as an extra header, such as Authorization"
            ),
            Self::NoSuchTool { name, has } => {
                write!(f, "the server has no tool {name}\nhelp: it lists {has}")
            }
            Self::NotMcp { why, help } => write!(f, "no MCP server answered: {why}\nhelp: {help}"),
            Self::Silent { waited } => write!(
                f,
                "the server said nothing within {} seconds\nhelp: check that the command starts an MCP server over \
                 stdio; give a slow first start more time with --start-timeout",
                waited.as_secs()
            ),
            Self::Ended { status, stderr } => {
                write!(f, "the server ended before it answered: {status}")?;
                stderr.iter().try_for_each(|line| write!(f, "\n  | {line}"))?;
                write!(f, "\nhelp: run the command by itself and correct what it reports")
            }
        }
    }
}

impl std::error::Error for ProbeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Spawn { cause, .. } => Some(cause),
            _ => None,
        }
    }
}
