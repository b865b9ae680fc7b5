//! All dialects.

use failwell_rpc::{Dialect, RestStyle, Revision};

/// MCP at each revision, plain JSON-RPC, and both REST bodies.
pub(crate) fn dialects() -> Vec<Dialect> {
    let mut dialects: Vec<Dialect> = Revision::ALL.into_iter().map(Dialect::Mcp).collect();
    dialects.extend([Dialect::Rpc, Dialect::Rest(RestStyle::Plain), Dialect::Rest(RestStyle::Problem)]);
    dialects
}
