//! How far a request got, against a server that misbehaves at each stage.

#![expect(clippy::expect_used, reason = "tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use failwell_http_client::{Endpoint, HttpClient, Method, Request, Resend, Response, SendError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const SHORT: Duration = Duration::from_millis(300);
const MAX_BODY: usize = 100;
const NEVER: Resend = Resend::Never { reuse_within: Duration::ZERO };
const GET: Request<'static> = Request { method: Method::GET, path: "/status", body: None };
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nRetry-After: 7\r\n\r\nok";

/// What the server does with each request of a connection: it answers with the text, or closes.
type Script = &'static [&'static str];

struct Server {
    client: HttpClient,
    connections: Arc<AtomicUsize>,
}

/// Each connection follows the script; at its end the server closes the connection, or waits if the last line is "wait".
async fn serve(script: Script) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = connections.clone();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(follow(socket, script));
        }
    });
    Server { client: HttpClient::new(Endpoint::localhost(port), MAX_BODY), connections }
}

async fn follow(mut socket: TcpStream, script: Script) {
    for line in script {
        let mut head = [0; 4096];
        if !matches!(socket.read(&mut head).await, Ok(1..)) {
            return;
        }
        match *line {
            "close" => return,
            "wait" => std::future::pending().await,
            answer => socket.write_all(answer.as_bytes()).await.expect("a client"),
        }
    }
}

impl Server {
    async fn get(&self, resend: Resend) -> Result<Response, SendError> {
        self.client.exchange(&GET, resend, SHORT).await
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn a_response_is_read_whole_and_its_connection_used_again() {
    let server = serve(&[OK, OK, "wait"]).await;
    for resend in [Resend::Safe, Resend::Never { reuse_within: Duration::from_secs(60) }] {
        let response = server.get(resend).await.expect("a response");
        assert_eq!((response.status, &*response.body), (200, &b"ok"[..]));
        assert_eq!(response.retry_after(), Some(Duration::from_secs(7)));
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn without_a_server_nothing_is_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let client = HttpClient::new(Endpoint::localhost(port), MAX_BODY);
    let ended = client.exchange(&GET, Resend::Safe, SHORT).await;
    assert!(matches!(ended, Err(SendError::NotSent(_))), "{ended:?}");
}

#[tokio::test]
async fn a_request_that_was_read_is_lost_when_the_connection_closes() {
    for script in [&["close"][..], &["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"][..]] {
        let server = serve(script).await;
        let ended = server.get(Resend::Safe).await;
        assert!(matches!(ended, Err(SendError::ConnectionLost(_))), "{ended:?}");
        assert_eq!(server.connections(), 1, "a new connection that breaks is not tried again here");
    }
}

#[tokio::test]
async fn a_response_has_a_deadline_and_a_limit() {
    let ended = serve(&["wait"]).await.get(Resend::Safe).await;
    assert!(matches!(ended, Err(SendError::TimedOut)), "{ended:?}");
    let announced = serve(&["HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n"]).await.get(Resend::Safe).await;
    assert!(matches!(announced, Err(SendError::TooLarge(101))), "{announced:?}");
    const CHUNKED: &str = concat!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n68\r\n",
        "0123456789012345678901234567890123456789012345678901",
        "0123456789012345678901234567890123456789012345678901\r\n0\r\n\r\n",
    );
    let ended = serve(&[CHUNKED]).await.get(Resend::Safe).await;
    assert!(matches!(ended, Err(SendError::TooLarge(104))), "{ended:?}");
}

#[tokio::test]
async fn only_a_request_that_is_safe_to_resend_is_sent_twice() {
    // The first request of each connection is answered; the second one is read, and the connection closes.
    let server = serve(&[OK, "close"]).await;
    server.get(Resend::Safe).await.expect("a response");
    server.get(Resend::Safe).await.expect("a response over a second connection");
    assert_eq!(server.connections(), 2);
    let ended = server.get(Resend::Never { reuse_within: Duration::from_secs(60) }).await;
    assert!(matches!(ended, Err(SendError::ConnectionLost(_))), "{ended:?}");
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn an_idle_connection_is_not_used_for_a_request_that_forbids_it() {
    let server = serve(&[OK, OK, "wait"]).await;
    server.get(Resend::Safe).await.expect("a response");
    server.get(NEVER).await.expect("a response");
    assert_eq!(server.connections(), 2);
}
