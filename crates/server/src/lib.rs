//! The corridor: the walk of one message, and the trait a tool server implements.
//!
//! `House::walk` reads like the table in ARCHITECTURE.md: introduce the client, type the call, admit it, do the
//! work, write it down, render it. A tool server is a [`Room`]; most are a [`Toolbox`] of declarations.
//!
//! # Invariants
//!
//! * Exactly one answer per request, always: panic, deadline, cancellation and shutdown included. Notices and
//!   cancelled requests get silence.
//! * Every handler runs under a deadline and inside `catch_unwind`; every queue and table here is bounded.
//! * A handler asks its client through [`Context::ask`], whatever the era; what a modern client must carry for us
//!   is sealed and bound to caller, method and arguments.
//! * What comes in passes the content guards before the work, what goes out before it leaves: results, errors,
//!   notices, questions and their answers, and the operator's journal. An id comes back as it was sent.
//! * What other nodes must know goes through [`SharedState`]; a node that is [`Alone`] shares nothing and waits for nobody.
//! * Absent on purpose: sockets, code numbers, HTTP statuses.

mod aim;
mod approval;
mod approvals;
mod approving;
mod arrival;
mod asking;
mod books;
mod call;
mod client;
mod close;
mod content;
mod context;
mod custom;
mod digest;
mod guarding;
mod guidance;
mod headers;
mod heeding;
mod house;
mod hub;
mod key_ring;
mod listen;
mod log_level;
mod memory_sessions;
mod metrics;
mod near;
mod nodes;
mod numbers;
mod operations;
mod own;
mod panic;
mod params;
mod party;
mod passing;
mod plain;
mod portable;
mod prompt;
mod question;
mod recorder;
mod resource;
mod resources;
mod rest_session;
mod room;
mod schema;
mod seal;
mod see_through;
mod session;
mod settings;
mod shelf_desk;
mod shelved;
mod slots;
mod state;
mod stream;
mod supervise;
mod task;
mod tool;
mod toolbox;
mod tracing;
mod turnstile;
mod watcher;
mod work;

/// The trace a request is part of.
pub use failwell_audit::{Carried, Trace};
/// Who asks.
pub use failwell_policy::Caller;
/// What a tool's structured result is handed over as.
pub use failwell_rpc::Json;

pub use approval::{Approval, Approvals, Decided, Decision, Given, Petition, Standing, Terms};
pub use approvals::ApprovalCall;
pub use approving::ApprovalDesk;
pub use arrival::{Arrival, Spoken, claims_modern};
pub use books::Books;
pub use client::{Capability, Client, TASKS_EXTENSION};
pub use content::{Content, ResourceBody, ResourceContents, ToolOutcome, reports_failure};
pub use context::{Context, TaskNeed};
pub use custom::{Custom, Customs};
pub use guarding::Gate;
pub use guidance::{Guidance, Quoted, Setting};
pub use headers::{Headers, header_value, named_by, repeated_params};
pub use house::{Exchange, House};
pub use hub::{Event, Hub};
pub use key_ring::{Added, KeyRing, MadeKey, Revoked, WantedKey, first_key, fresh_key, looks_like_key};
pub use log_level::LogLevel;
pub use memory_sessions::MemorySessions;
pub use near::nearest;
pub use numbers::{Histogram, Numbers};
pub use operations::{Happening, Listening, Operations, Wanted};
pub use own::OwnCall;
pub use panic::{fault_of_panic, keep_panics_quiet};
pub use party::Party;
pub use passing::Passing;
pub use plain::{From as PlainFrom, PlainAround, PlainCall, not_an_object};
pub use portable::{MemberChange, portable_schema};
pub use prompt::{Prompt, PromptArgument, PromptMessage, PromptResult};
pub use question::{Answers, Question};
pub use resource::{Address, Resource};
pub use resources::{Contents, Handed, Reception, ResourceCall, Span, Upload};
pub use rest_session::{Item, RestSession, RestSessions, SessionTerms};
pub use room::{Completion, Info, List, Members, Offered, Offers, Page, Room, unknown_resource};
pub use schema::{argument_check, is_usable_schema, schema_of_arguments, schema_of_result};
pub use see_through::see_through;
pub use session::{Concern, STDIO, Session, SharedIds};
pub use settings::{Settings, ToolFailures};
pub use shelf_desk::{SHELF_SERVER, ShelfDesk, Sight};
pub use state::{
    Alone, Found, Happened, KeptSession, Letter, Opened, Place, SharedState, Track, Turn, Word, Written,
};
pub use stream::{Frame, Keep, Next, Stream};
pub use tool::{HeaderParam, Tool, Work};
pub use toolbox::Toolbox;
pub use turnstile::{Passage, Turnstile};
pub use watcher::Watcher;
