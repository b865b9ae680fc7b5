//! Authentication at upstreams: tokens of OAuth 2.0 client credentials, and trusted certificate authorities.

#[path = "../../../../../crates/connect/tests/support/self_signed.rs"]
mod self_signed;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use failwell_fault::Secret;
use failwell_gateway::{ClientCredentials, Endpoint, Trust, UpstreamSettings};
use failwell_rpc::Era;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};

use self_signed::self_signed;

use super::lifecycle::{fine, until};
use crate::client::{GatewayClient, failed, text};
use crate::script::{
    ConnectionAction, ReceivedRequest, Script, ScriptedResponse, introduced, json_response, raw, response,
};

const SECRET: &str = "cl1ent-s3cret";
const TOKEN: &str = "t0ken-";

fn with_token(upstream: &Script, endpoint: &Script) -> UpstreamSettings {
    let mut settings = upstream.settings("up");
    settings.endpoint =
        Endpoint::Http { url: format!("http://{}/mcp", upstream.address), headers: Vec::new() };
    settings.credentials = Some(ClientCredentials {
        token_url: format!("http://{}/token", endpoint.address),
        client_id: "the gateway".to_owned(),
        client_secret: Secret::new(SECRET.to_owned()),
        scope: Some("a b".to_owned()),
        audience: None,
        resource: Some("https://tools.example/mcp".to_owned()),
    });
    settings
}

/// A token endpoint that issues a new token each time.
async fn endpoint(expires_in: Value) -> (Script, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counting = count.clone();
    let script = Script::new(move |_| {
        let number = counting.fetch_add(1, Ordering::SeqCst);
        json_response(&json!({"access_token": format!("{TOKEN}{number}"), "token_type": "Bearer",
            "expires_in": expires_in}))
    });
    (script.await, count)
}

/// An upstream that accepts the tokens for which `takes` returns true.
async fn guarded(takes: impl Fn(&str) -> bool + Send + Sync + 'static) -> Script {
    Script::new(move |seen| match seen.header("authorization") {
        Some(shown) if takes(shown) => introduced(Era::Session, seen).unwrap_or_else(|| fine(seen)),
        _ => response(401, "WWW-Authenticate: Bearer\r\n", "who are you"),
    })
    .await
}

fn nothing_shown(world: &GatewayClient, name: &str) {
    for secret in [SECRET, TOKEN] {
        assert!(!world.transcript.contains(secret), "{name}: {secret} reached the caller");
        assert!(!world.journal().contains(secret), "{name}: {secret} is in the journal");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_token_is_fetched_for_many_callers() {
    let (tokens, fetched) = endpoint(json!(3600)).await;
    let script = guarded(|shown| shown == "bearer t0ken-0").await;
    let mut world = GatewayClient::new(vec![with_token(&script, &tokens)]).await;
    let mut open: HashSet<u64> = HashSet::new();
    for _ in 0..20 {
        open.insert(world.start("tools/call", json!({"name": "up__t", "arguments": {}})).await);
    }
    while !open.is_empty() {
        let answer = world.hear().await;
        assert_eq!(text(&answer), "fine");
        assert!(open.remove(&answer["id"].as_u64().expect("an id")));
    }
    assert_eq!(fetched.load(Ordering::SeqCst), 1);
    let asked: ReceivedRequest = tokens.seen().remove(0);
    assert_eq!(
        asked.text,
        "grant_type=client_credentials&scope=a%20b&resource=https%3A%2F%2Ftools.example%2Fmcp"
    );
    // Base64 of the%20gateway:cl1ent-s3cret. The script server lowercases all headers.
    assert_eq!(asked.header("authorization"), Some("basic dghljtiwz2f0zxdhetpjbdflbnqtcznjcmv0"));
    nothing_shown(&world, "many callers");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_token_is_replaced_before_it_is_shown() {
    let (tokens, fetched) = endpoint(json!(1)).await;
    let script = guarded(|shown| shown.starts_with("bearer t0ken-")).await;
    let mut world = GatewayClient::new(vec![with_token(&script, &tokens)]).await;
    assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
    let before = fetched.load(Ordering::SeqCst);
    let began = std::time::Instant::now();
    while fetched.load(Ordering::SeqCst) == before {
        assert!(began.elapsed() < Duration::from_secs(30), "a new one is never fetched");
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
    }
    let shown: Vec<ReceivedRequest> =
        script.seen().into_iter().filter(|seen| seen.method() == "tools/call").collect();
    let last = shown.last().expect("calls");
    assert_ne!(shown[0].header("authorization"), last.header("authorization"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_is_replaced_once() {
    let (tokens, fetched) = endpoint(json!(3600)).await;
    let revoked = Arc::new(AtomicUsize::new(0));
    let good = revoked.clone();
    let takes = move |shown: &str| shown == format!("bearer t0ken-{}", good.load(Ordering::SeqCst));
    let script = guarded(takes).await;
    let mut world = GatewayClient::new(vec![with_token(&script, &tokens)]).await;
    assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
    // The notification stream is opened with the same token.
    until("the stream", || script.seen().iter().any(|seen| seen.verb == "GET")).await;
    revoked.store(1, Ordering::SeqCst);
    assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
    assert_eq!((fetched.load(Ordering::SeqCst), script.count("tools/call")), (2, 3));
    // Every token is refused now: the gateway tries one new token, then fails the call.
    revoked.store(99, Ordering::SeqCst);
    let answer = world.call("up__t", json!({})).await;
    assert_eq!(failed(&answer).1, "gateway/UPSTREAM_DOWN", "{answer}");
    assert_eq!(answer["error"]["data"]["facts"]["status"], 401);
    assert_eq!(answer["error"]["data"]["effect"], "none");
    assert_eq!((fetched.load(Ordering::SeqCst), script.count("tools/call")), (3, 5));
    nothing_shown(&world, "revoked");
}

/// A response of the token endpoint, and the resulting log text.
type TokenRefusal = (&'static str, fn() -> ScriptedResponse, &'static str);

#[tokio::test(flavor = "multi_thread")]
async fn without_a_token_nothing_is_sent_and_the_operator_knows_where_to_look() {
    let refusals: [TokenRefusal; 8] = [
        ("500", || response(500, "", "cl1ent-s3cret"), "answered with status 500: it is not well"),
        ("not found", || response(404, "", ""), "status 404: check auth.token_url"),
        (
            "invalid client",
            || {
                let body = r#"{"error":"invalid_client","error_description":"cl1ent-s3cret is wrong"}"#;
                response(401, "Content-Type: application/json\r\n", body)
            },
            "invalid_client: check auth.client_id and auth.client_secret",
        ),
        ("a page", || response(200, "Content-Type: text/html\r\n", "t0ken-1"), "holds no token"),
        ("garbage", || response(200, "Content-Type: application/json\r\n", "{t0ken-1"), "holds no token"),
        (
            "another type",
            || json_response(&json!({"access_token": "t0ken-1", "token_type": "mac"})),
            "another type than Bearer",
        ),
        (
            "a token with line breaks",
            || json_response(&json!({"access_token": "t0ken-1\r\nX: y", "token_type": "bearer"})),
            "fits in no header",
        ),
        ("a hang-up", || raw("", ConnectionAction::Close), "cannot be reached"),
    ];
    for (name, refusal, cause) in refusals {
        let tokens = Script::new(move |_| refusal()).await;
        let script = guarded(|_| true).await;
        let mut world = GatewayClient::new(vec![with_token(&script, &tokens)]).await;
        let answer = world.call("up__t", json!({})).await;
        assert_eq!(failed(&answer).1, "gateway/UPSTREAM_DOWN", "{name}: {answer}");
        assert_eq!(answer["error"]["data"]["effect"], "none", "{name}: {answer}");
        assert!(world.journal().contains(cause), "{name}: {}", world.journal());
        assert_eq!(script.seen().len(), 0, "{name}: nothing was sent");
        nothing_shown(&world, name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_endpoint_that_hangs_has_a_deadline() {
    let tokens = Script::new(|_| raw("", ConnectionAction::Hang)).await;
    let script = guarded(|_| true).await;
    let mut settings = with_token(&script, &tokens);
    settings.start_timeout = Duration::from_secs(2);
    let mut world = GatewayClient::new(vec![settings]).await;
    let answer = world.ask("resources/read", json!({"uri": "up+x://y"})).await;
    assert_eq!(failed(&answer).1, "gateway/UPSTREAM_DOWN", "{answer}");
    assert_eq!(answer["error"]["data"]["effect"], "none");
    assert_eq!(script.seen().len(), 0);
}

/// A TLS proxy in front of a server.
async fn encrypted(behind: std::net::SocketAddr) -> (u16, String) {
    let (acceptor, pem) = self_signed();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let mut socket = acceptor.accept(socket).await.ok()?;
                let mut upstream = TcpStream::connect(behind).await.ok()?;
                tokio::io::copy_bidirectional(&mut socket, &mut upstream).await.ok()
            });
        }
    });
    (port, pem)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configured_authority_is_the_only_one_trusted_for_an_upstream() {
    let script = Script::upstream(Era::Modern, fine).await;
    let (port, pem) = encrypted(script.address).await;
    let (_, another) = encrypted(script.address).await;
    let trusts = [
        ("its own", Trust::pem(pem.clone()), true),
        ("another", Trust::pem(another), false),
        ("the system's", Some(Trust::System), false),
    ];
    for (name, trust, good) in trusts {
        let mut settings = script.settings("up");
        settings.endpoint =
            Endpoint::Http { url: format!("https://localhost:{port}/mcp"), headers: Vec::new() };
        settings.trust = trust.expect("certificates");
        let mut world = GatewayClient::new(vec![settings]).await;
        let answer = world.ask("resources/read", json!({"uri": "up+x://y"})).await;
        let reason = answer["error"]["data"]["reason"].as_str();
        assert_eq!(reason != Some("gateway/UPSTREAM_DOWN"), good, "{name}: {answer}");
        if good {
            assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
        } else {
            assert_eq!(answer["error"]["data"]["effect"], "none", "{name}");
            assert!(world.journal().contains("certificate"), "{name}: {}", world.journal());
        }
    }
    assert!(Trust::pem("nothing in it").is_none());
    assert!(Trust::pem(pem.replace('M', "N")).is_none(), "a certificate nobody can read");
}
