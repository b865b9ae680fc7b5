//! The pytest room: runs a project's tests for an agent, and never hangs, lies or leaves anything behind.
//!
//! A run is a child under a supervisor (or a fork of a warm worker, which is one). A small plugin inside it tells what
//! happens over a pipe of its own; `classify` turns that into a verdict, `answer` into something short enough to read.
//!
//! # Invariants
//!
//! * A finding is not a failure: failing tests, errors during collection and empty selections are ordinary results.
//! * Nothing is green without proof: a run counts as finished only when pytest said so.
//! * What a caller sends is data. It is checked before anything starts, and can never become an option of pytest.
//! * After an answer, a cancellation or a time limit nothing that the tests started is alive.
//! * Nothing is written into the project; compiled files and caches go to a private folder.
//! * Every text that leaves has been scrubbed of secrets and fits its budget.

#![cfg(unix)]

mod answer;
mod arguments;
mod changed;
mod classify;
mod coverage;
mod environment;
mod event;
mod expression;
mod failure;
mod folder;
mod group;
mod inside;
mod interpreter;
mod pipe;
mod place;
mod plan;
mod report;
mod run;
mod schema;
mod scrub;
mod server;
mod store;
mod tell;
mod walls;
mod warm;

pub use server::{Settings, pytest};
pub use walls::{Strictness, Walls};
