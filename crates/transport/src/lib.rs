//! Listeners: stdio, streamable HTTP, REST and plain JSON-RPC.
//!
//! [`serve_stdio`] reads one message per line. [`refuse_stdio`] answers every request with the reason why the
//! server cannot start. [`serve_http`] serves `/mcp`, `/rpc`, `/v1/tools` and the operator's pages. All of them
//! pass messages to a `Pipeline` and write its replies. [`paths`] is for crates that add paths of their own.
//!
//! # Invariants
//!
//! * In the server, only this crate accepts connections and uses standard input and output.
//! * Every read has a maximum size and a deadline, every write has a deadline, and every table is bounded.
//! * Standard output carries protocol messages only.
//! * Before a message is parsed, HTTP checks run in a fixed order: host, method and origin, credentials,
//!   query, content type, accept, size. The first failure is the response.
//! * On shutdown every accepted request gets its response before the connection is closed: its own within the
//!   grace period, `server/SHUTDOWN` after it.

mod http;
mod in_place;
mod shutdown;
mod signal;
mod stdio;

pub use http::{
    Authenticate, Authentication, BodyBudget, ConnectionCounters, HttpSettings, Mounts, PipelineSet, paths,
    serve_http, serve_mounts,
};
pub use in_place::within;
pub use shutdown::ShutdownReport;
pub use signal::stop_on_signal;
pub use stdio::{
    InputLine, Lines, StdioSettings, id_in_start, refuse_stdio, serve_stdio, standard, write_lines,
};
