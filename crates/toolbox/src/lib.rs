#![warn(missing_docs)]
//! The API for writing tool servers.
//!
//! A server implements [`ToolServer`]. Most servers are a [`Toolbox`] of declarations: [`Tool`],
//! [`Resource`], [`Prompt`]. A handler gets its arguments and a [`Context`], which provides the caller,
//! progress, questions and tasks. The context acts through a [`RequestPort`], which the request pipeline
//! implements.
//!
//! # Invariants
//!
//! * A handler does not see the era of its client: [`Context::ask`] works in both.
//! * Every known client accepts every listed schema.
//! * A structured result always matches the output schema of its tool.
//! * Absent on purpose: sockets, code numbers, policy, storage.

mod content;
mod context;
mod failure_summary;
mod prompt;
mod question;
mod resource;
mod run_to_completion;
mod schema;
mod server;
mod tool;
mod tool_outcome;
mod toolbox;

/// The caller of a request, structured results, and the trace a request is part of.
pub use failwell_rpc::{Caller, Json, Trace};

pub use content::{Content, ResourceBody, ResourceContents};
pub use context::caller_session::CallerSession;
pub use context::client::{Capability, Client, TASKS_EXTENSION};
pub use context::event::Event;
pub use context::extra_params::ExtraParams;
pub use context::log_level::LogLevel;
pub use context::port::{PortFuture, RequestPort, SessionInfo};
pub use context::watcher::Watcher;
pub use context::{Context, RequestInfo, TaskNeed};
pub use failure_summary::FailureSummary;
pub use prompt::{Prompt, PromptArgument, PromptMessage, PromptResult};
pub use question::{Answers, Question};
pub use resource::{Address, Resource};
pub use run_to_completion::run_to_completion;
pub use schema::nearest::nearest;
pub use schema::portable::{MemberChange, portable_schema};
pub use schema::{Schema, is_usable_schema, schema_of_arguments, schema_of_result};
pub use server::guidance::{Guidance, ServerInstructions, Setting};
pub use server::metrics_text::{Histogram, MetricsText};
pub use server::target::{CompletionTarget, Find, Lookup, PromptTarget, ResourceTarget, ToolTarget};
pub use server::{
    Completion, Info, List, Members, Page, ServerFeatures, Support, ToolServer, unknown_resource,
};
pub use tool::{HeaderParam, Tool, Work, parse_arguments, with_state};
pub use tool_outcome::ToolOutcome;
pub use tool_outcome::typed_outcome::TypedOutcome;
pub use toolbox::Toolbox;
