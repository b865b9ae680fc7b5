//! The pytest server: runs a project's tests for an agent, and never hangs, reports a false result or leaves
//! processes behind.
//!
//! A run is a supervised child process, or a fork of a warm worker, which is one. A small pytest plugin
//! inside it reports events over a pipe. `run::classify` turns the events into a verdict, `report` into a
//! short answer.
//!
//! # Invariants
//!
//! * A finding is not a failure: failing tests, errors during collection and empty selections are ordinary
//!   results.
//! * No run is green without proof: a run counts as finished only if pytest reported its end.
//! * Arguments of callers are data. They are checked before anything starts, and can never become options of
//!   pytest.
//! * After a response, a cancellation or a timeout, no process that the tests started is alive.
//! * The server writes no file into the project; compiled files and caches go to a private folder.
//! * Every returned text is scrubbed of secrets and fits its budget.

#![cfg(unix)]

mod affected;
mod arguments;
mod expression;
mod interpreter;
mod project;
pub mod reason;
mod report;
mod run;
mod server;

pub use reason::REASONS;
pub use run::sandbox::{SandboxSettings, Strictness};
pub use server::{Settings, pytest};
