//! All dialects.

use failwell_rpc::{Dialect, RestStyle, Revision};

/// MCP at each revision, plain JSON-RPC, and both REST bodies.
pub(crate) fn faces() -> Vec<Dialect> {
    let mut faces: Vec<Dialect> = Revision::ALL.into_iter().map(Dialect::Mcp).collect();
    faces.extend([Dialect::Rpc, Dialect::Rest(RestStyle::Plain), Dialect::Rest(RestStyle::Problem)]);
    faces
}
