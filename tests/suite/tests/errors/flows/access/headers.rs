//! Headers that contradict the body, and unknown versions.

use failwell_rpc::Revision;
use serde_json::json;

use crate::client::http::{Http, Server, settings};
use crate::flows::{SESSIONS, refused};
use crate::requests;
use crate::schemas;
use crate::world::World;

/// A changed header (left out if empty), and the header that the response names.
const MODERN: &[(&str, &str, &str)] = &[
    ("no method", "Mcp-Method", ""),
    ("another method", "Mcp-Method", "tools/list"),
    ("the method in capitals", "Mcp-Method", "TOOLS/CALL"),
    ("no name", "Mcp-Name", ""),
    ("another name", "Mcp-Name", "test_error_handling"),
    ("broken base64", "Mcp-Name", "=?base64?!!!?="),
    ("no version", "MCP-Protocol-Version", ""),
    ("an older version", "MCP-Protocol-Version", "2025-11-25"),
    ("a version nobody speaks", "MCP-Protocol-Version", "v999"),
];

#[tokio::test]
async fn modern_headers_repeat_the_body() {
    let revision = Revision::LATEST;
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::raw(&server, revision);
    for (name, header, value) in MODERN {
        let response = client.post_with("/mcp", requests::good(revision, "7"), &[(header, value)]).await;
        let seen = refused(&world, &response, (400, -32020, "mcp/HEADER"));
        assert_eq!(seen.id.as_deref(), Some("7"), "{name}");
        assert_eq!(seen.value["error"]["data"]["facts"]["header"], *header, "{name}");
        assert_eq!(schemas::check(&seen.value, None, revision), Ok(()), "{name}");
        client.still_works().await;
    }
    assert_eq!(world.journal().len(), MODERN.len());
}

#[tokio::test]
async fn an_argument_with_a_header_of_its_own() {
    let revision = Revision::LATEST;
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::raw(&server, revision);
    let body = requests::tool(revision, "7", "test_custom_headers", json!({"region": "Hello"}));
    for (value, status) in [("Hello", 200), ("=?base64?SGVsbG8=?=", 200), ("hello", 400), ("", 400)] {
        let response = client.post_with("/mcp", &body, &[("Mcp-Param-Region", value)]).await;
        assert_eq!(response.status, status, "{value:?}");
        if status == 400 {
            refused(&world, &response, (400, -32020, "mcp/HEADER"));
        }
    }
}

#[tokio::test]
async fn an_unsupported_version() {
    let revision = Revision::LATEST;
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::raw(&server, revision);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "v999"});
    let body = requests::request(revision, "7", "server/discover", &json!({"_meta": meta}));
    let response = client.post_with("/mcp", body, &[("MCP-Protocol-Version", "v999")]).await;
    let seen = refused(&world, &response, (400, -32022, "mcp/VERSION"));
    let data = &seen.value["error"]["data"];
    assert_eq!((&data["requested"], &data["supported"]), (&json!("v999"), &json!(["2026-07-28"])));
    assert_eq!(schemas::check(&seen.value, None, revision), Ok(()));
    client.still_works().await;
}

#[tokio::test]
async fn in_a_session_the_header_names_a_version_that_exists() {
    for revision in SESSIONS {
        let world = World::new();
        let server = Server::start(&world, settings()).await;
        let mut client = Http::open(&server, revision).await;
        let changed = [("MCP-Protocol-Version", "1999-01-01")];
        let response = client.post_with("/mcp", requests::good(revision, "7"), &changed).await;
        refused(&world, &response, (400, -32600, "http/BAD_VERSION_HEADER"));
        client.still_works().await;
    }
}
