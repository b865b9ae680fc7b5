//! The door: stdio, streamable HTTP, REST and plain JSON-RPC.
//!
//! [`serve_stdio`] reads one message per line, [`refuse_stdio`] does so only to say why nothing is served;
//! [`serve_http`] serves `/mcp`, `/rpc`, `/v1` and the small pages for operators. Both hand messages to a `House`
//! and write what it answers. [`Remote`] is the other side: a server that is reached over HTTP.
//!
//! # Invariants
//!
//! * The only room that touches sockets and standard input and output.
//! * Every read has a cap and a deadline, every write a deadline, every table a bound.
//! * Nothing but protocol is ever written to standard output.
//! * Before a message is looked at, the HTTP ladder answers with the first step that fails: method, host and
//!   origin, credentials, content type, accept, size, then the message itself.
//! * On shutdown every request that was accepted is answered before the door closes.

mod connect;
mod http;
mod stdio;
mod within;

pub use connect::{ContentKind, Events, HeadLines, Heard, Remote, Trust, Unheard, Verb};
pub use http::{
    Credentials, Demand, Doors, Houses, HttpSettings, Issuer, Lock, Tokens, serve_doors, serve_http,
};
pub use stdio::{Line, Lines, StdioSettings, id_in_start, refuse_stdio, serve_stdio, standard, write_lines};
pub use within::within;
