//! The gateway: connects to upstream MCP servers, supervises them, and offers their tools as one tool server.
//!
//! A [`Gateway`] implements `ToolServer`. It lists the tools, prompts and resources of its members under prefixed names
//! and forwards each call to the member that owns the name. A member is an upstream server ([`UpstreamSettings`]) or a
//! built-in tool server.
//!
//! # Layout
//!
//! Each module uses only the modules below it.
//!
//! | module | contents |
//! |---|---|
//! | `federation` | members, their lists, names, pins and visibility; the `ToolServer` implementations |
//! | `relay` | calls that cross eras, ask the client questions, or continue as tasks |
//! | `upstream` | one upstream server: settings, transports, connection pool, restarts, circuit breaker |
//!
//! # Invariants
//!
//! * The text of an upstream error never reaches a caller. The caller gets a fault with the upstream's code; the
//!   operator gets the original.
//! * A request is sent again only if it provably never left. A request that left and got no response has an unknown
//!   effect.
//! * An upstream that is down or slow is reported as missing from a list; the other members are listed without it.
//! * Messages from a shared upstream that cannot be attributed to one client are dropped.
//! * The set of members is an immutable snapshot, replaced as a whole. A request finishes with the member it started
//!   with.
//! * A tool whose definition differs from its pin is quarantined: it is neither listed nor called.
//! * Every child process is supervised by `failwell-process`: no zombies and no orphans.

mod federation;
mod relay;
mod upstream;

pub use failwell_connect::Trust;
pub use federation::{Gateway, ReloadReport, ReloadableServer, ServerStatus, StartOutcome, StartingServer};
pub use relay::tool_errors::ToolErrors;
pub use upstream::{
    ClientCredentials, Endpoint, HttpTransport, RestartBudget, ServerChange, ServerEvent, ServerFailure,
    ServerKind, SessionSharing, UpstreamSettings,
};
