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
//! * Before a message is parsed, HTTP checks run in a fixed order: method, host and origin, credentials,
//!   content type, accept, size. The first failure is the response.
//! * On shutdown every accepted request gets its response before the connection is closed.

mod http;
mod stdio;
mod within;

pub use http::{
    Authenticate, Authentication, HttpSettings, Mounts, PipelineSet, paths, serve_http, serve_mounts,
};
pub use stdio::{Line, Lines, StdioSettings, id_in_start, refuse_stdio, serve_stdio, standard, write_lines};
pub use within::within;
