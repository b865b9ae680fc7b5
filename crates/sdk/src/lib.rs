#![warn(missing_docs)]
//! Write an MCP tool server in Rust.
//!
//! A server is a [`Toolbox`] of tools. A handler gets typed arguments and a [`Context`], and returns a result or a
//! [`Fault`]. [`run()`] serves it over stdio or HTTP, to clients of every protocol revision.
//!
//! ```no_run
//! use failwell_sdk::{Context, Fault, Info, JsonSchema, Tool, Toolbox, run};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Add {
//!     /// The first number.
//!     a: i64,
//!     /// The second number.
//!     b: i64,
//! }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Sum {
//!     sum: i64,
//! }
//!
//! async fn add(given: Add, _cx: Context) -> Result<Sum, Fault> {
//!     Ok(Sum { sum: given.a.saturating_add(given.b) })
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     run(|| Ok(Toolbox::new(Info::new("sums", "1.0.0")).tool(Tool::typed("add", "Adds two numbers.", add)?)))
//! }
//! ```
//!
//! # Invariants
//!
//! * Every request gets exactly one answer: panic, deadline, cancellation and shutdown included.
//! * A foreign error never reaches a caller. It is the private cause of a fault, and goes to the log on standard error.
//! * The stages are those of the gateway. There is no second way through them.
//! * Absent on purpose: storage, policy, TLS. A server that other machines reach belongs behind the gateway.

/// The code of the guide is compiled as tests of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/tool-server.md")]
struct Guide;

mod command_line;
mod run;
mod test_client;
mod test_session;

/// The error model: failures, their reasons, and what they carry.
pub use failwell_fault::{
    Echo, Effect, Excerpt, Fact, Fault, Kind, Name, OrFault, Pointer, Reason, ReasonRegistry, Retry, Rule,
    Secret, Violation, reason, reasons,
};
pub use failwell_toolbox::*;
/// Derives the schema of arguments and results. Needs `schemars` among the dependencies.
pub use schemars::JsonSchema;

pub use run::run;
pub use test_client::{CallResult, TestClient};
pub use test_session::TestSession;
