//! Every dialect a caller can speak.

use failwell_rpc::{Face, RestStyle, Revision};

/// All faces: MCP at each revision, plain JSON-RPC, and both REST bodies.
pub(crate) fn faces() -> Vec<Face> {
    let mut faces: Vec<Face> = Revision::ALL.into_iter().map(Face::Mcp).collect();
    faces.extend([Face::Rpc, Face::Rest(RestStyle::Plain), Face::Rest(RestStyle::Problem)]);
    faces
}
