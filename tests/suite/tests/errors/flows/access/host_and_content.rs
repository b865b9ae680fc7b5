//! Headers that are checked before a message is read: host, origin and media types.

use failwell_rpc::{Era, Revision};

use crate::client::http::{Http, Server, settings};
use crate::flows::refused;
use crate::requests;
use crate::world::World;

/// A changed header (left out if empty), and the expected status, session code, modern code and reason.
type HeaderRow = (&'static str, &'static str, &'static str, u16, i64, i64, &'static str);

const REFUSED: &[HeaderRow] = &[
    ("a foreign origin", "Origin", "https://evil.example", 403, -32003, 1403, "http/ORIGIN"),
    ("almost ours", "Origin", "http://localhost.evil.example", 403, -32003, 1403, "http/ORIGIN"),
    ("an origin without a site", "Origin", "null", 403, -32003, 1403, "http/ORIGIN"),
    ("a file as origin", "Origin", "file://localhost", 403, -32003, 1403, "http/ORIGIN"),
    ("a foreign host", "Host", "evil.example", 403, -32003, 1403, "http/HOST"),
    ("almost ours", "Host", "127.0.0.1.evil.example", 403, -32003, 1403, "http/HOST"),
    ("plain text", "Content-Type", "text/plain", 415, -32600, -32600, "http/CONTENT_TYPE"),
    ("a form", "Content-Type", "multipart/form-data; boundary=x", 415, -32600, -32600, "http/CONTENT_TYPE"),
    ("no content type", "Content-Type", "", 415, -32600, -32600, "http/CONTENT_TYPE"),
    ("JSON only", "Accept", "application/json", 406, -32600, -32600, "http/ACCEPT"),
    ("events only", "Accept", "text/event-stream", 406, -32600, -32600, "http/ACCEPT"),
    ("nothing we have", "Accept", "text/html", 406, -32600, -32600, "http/ACCEPT"),
    ("no accept at all", "Accept", "", 406, -32600, -32600, "http/ACCEPT"),
];

const WELCOME: &[(&str, &str, &str)] = &[
    ("a page of this machine", "Origin", "http://localhost:3000"),
    ("the same in IPv6", "Origin", "http://[::1]:3000"),
    ("another name of ours", "Host", "LOCALHOST:80"),
    ("a charset", "Content-Type", "application/json; charset=utf-8"),
    ("other letters", "Content-Type", "Application/JSON"),
    ("anything", "Accept", "*/*"),
    ("weights", "Accept", "application/json;q=0.9, text/event-stream;q=0.1"),
];

/// Sessions are not looked up yet, so a request without a version is answered in the newest session revision.
fn dialect(revision: Revision) -> Revision {
    if revision.has_version_header() { revision } else { Revision::LATEST_SESSION }
}

#[tokio::test]
async fn headers_that_are_refused() {
    for revision in Revision::ALL {
        let world = World::new();
        let server = Server::start(&world, settings()).await;
        let mut client = Http::open(&server, revision).await;
        for (name, header, value, status, session, modern, reason) in REFUSED {
            let response = client.post_with("/mcp", requests::good(revision, "1"), &[(header, value)]).await;
            let code = if revision.era() == Era::Modern { *modern } else { *session };
            assert_eq!(response.status, *status, "{name}");
            let seen = refused(&world, &response, (*status, code, reason));
            assert_eq!(crate::schemas::check(&seen.value, None, dialect(revision)), Ok(()), "{name}");
            client.still_works().await;
        }
        assert_eq!(world.journal().len(), REFUSED.len());
    }
}

#[tokio::test]
async fn headers_that_are_accepted() {
    for revision in Revision::ALL {
        let world = World::new();
        let server = Server::start(&world, settings()).await;
        let mut client = Http::open(&server, revision).await;
        for (name, header, value) in WELCOME {
            let response = client.post_with("/mcp", requests::good(revision, "1"), &[(header, value)]).await;
            assert_eq!(response.status, 200, "{name}: {}", String::from_utf8_lossy(&response.body));
        }
        assert!(world.journal().is_empty());
    }
}

#[tokio::test]
async fn verbs() {
    for revision in Revision::ALL {
        let modern = revision.era() == Era::Modern;
        let world = World::new();
        let server = Server::start(&world, settings()).await;
        let mut client = Http::open(&server, revision).await;
        let headers = client.usual(b"");
        let (verbs, allowed): (&[&str], _) = match modern {
            true => (&["GET", "DELETE", "PUT", "PATCH"], "POST"),
            false => (&["PUT", "PATCH", "OPTIONS"], "POST, GET, DELETE"),
        };
        for verb in verbs {
            let response = client.exchange(verb, "/mcp", &headers, b"").await;
            refused(&world, &response, (405, -32600, "http/METHOD"));
            assert_eq!(response.header("allow"), Some(allowed), "{verb}");
            client.still_works().await;
        }
    }
}

#[tokio::test]
async fn paths_that_lead_nowhere() {
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::raw(&server, Revision::LATEST);
    for path in ["/", "/mcpp", "/mcp/../etc/passwd", "/v1", "/v1/tools/", "/%2e%2e/x", "/favicon.ico"] {
        let response = client.post(path, "{}").await;
        refused(&world, &response, (404, -32601, "http/UNKNOWN_PATH"));
    }
    client.still_works().await;
}
