//! The HTTP client against servers that reuse, close and encrypt connections.

#![allow(clippy::expect_used, reason = "helpers of tests are tests")]

#[path = "support/self_signed.rs"]
mod self_signed;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use failwell_connect::{ContentKind, HeadLines, Remote, SendError, Trust, Verb};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use self_signed::self_signed;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";

/// Answers the given number of requests, then closes the connection.
async fn answer(mut socket: impl AsyncRead + AsyncWrite + Unpin, requests: usize, pause: Duration) {
    let mut buffer = [0u8; 4096];
    for _ in 0..requests {
        match socket.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                tokio::time::sleep(pause).await;
                socket.write_all(ANSWER).await.expect("written");
            }
        }
    }
}

async fn server(requests: usize, pause: Duration) -> (SocketAddr, Arc<AtomicUsize>) {
    serving(move |socket| {
        tokio::spawn(answer(socket, requests, pause));
        std::future::ready(())
    })
    .await
}

async fn ask(remote: &Remote) -> Result<Bytes, SendError> {
    let response = remote.send(Verb::Post, HeadLines::new(), Bytes::from_static(b"{}")).await?;
    assert_eq!((response.status(), response.content()), (200, ContentKind::Json));
    response.whole(100).await
}

fn remote(address: SocketAddr) -> Remote {
    Remote::new(&format!("http://{address}/"), &[], Trust::System).expect("an address")
}

#[tokio::test]
async fn a_connection_is_used_again() {
    let (address, accepted) = server(usize::MAX, Duration::ZERO).await;
    let remote = remote(address);
    for _ in 0..10 {
        assert_eq!(ask(&remote).await.expect("an answer"), "{}");
    }
    assert_eq!(accepted.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_pooled_connection_that_was_closed_is_replaced() {
    let (address, accepted) = server(1, Duration::ZERO).await;
    let remote = remote(address);
    for _ in 0..5 {
        assert_eq!(ask(&remote).await.expect("an answer"), "{}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(accepted.load(Ordering::SeqCst), 5);
}

#[tokio::test]
async fn requests_at_once_do_not_wait_for_each_other() {
    let (address, accepted) = server(usize::MAX, Duration::from_millis(500)).await;
    let remote = remote(address);
    let start = std::time::Instant::now();
    let all = futures_util::future::join_all((0..20).map(|_| ask(&remote))).await;
    assert!(all.iter().all(|answer| answer.as_ref().is_ok_and(|body| body == "{}")));
    // One after the other, the requests would take ten seconds.
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
    assert_eq!(accepted.load(Ordering::SeqCst), 20);
}

#[tokio::test]
async fn a_refused_connection_means_that_nothing_was_sent() {
    // No server listens on port 1.
    let address = SocketAddr::from(([127, 0, 0, 1], 1));
    assert!(matches!(ask(&remote(address)).await, Err(SendError::NotSent(_))));
}

#[tokio::test]
async fn a_server_that_hangs_up_has_heard_the_request() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("a client");
        let read = socket.read(&mut [0u8; 4096]).await.expect("a request");
        assert!(read > 0);
    });
    assert!(matches!(ask(&remote(address)).await, Err(SendError::Lost(_))));
}

#[tokio::test]
async fn tls_servers_need_a_trusted_certificate() {
    let (acceptor, pem) = self_signed();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                if let Ok(socket) = acceptor.accept(socket).await {
                    answer(socket, usize::MAX, Duration::ZERO).await;
                }
            });
        }
    });
    let reach = |host: &str, trust| {
        Remote::new(&format!("https://{host}:{port}/mcp"), &[], trust).expect("an address")
    };
    let trust = Trust::Pem(Bytes::from(pem));
    assert_eq!(ask(&reach("localhost", trust.clone())).await.expect("trusted"), "{}");
    assert!(
        matches!(ask(&reach("localhost", Trust::System)).await, Err(SendError::NotSent(_))),
        "unknown authority"
    );
    assert!(matches!(ask(&reach("127.0.0.1", trust)).await, Err(SendError::NotSent(_))), "another name");
}

/// Serves connections one after the other, and counts them.
async fn serving<S>(serve: impl Fn(TcpStream) -> S + Send + 'static) -> (SocketAddr, Arc<AtomicUsize>)
where
    S: Future<Output = ()> + Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let accepted = Arc::new(AtomicUsize::new(0));
    let counting = accepted.clone();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            counting.fetch_add(1, Ordering::SeqCst);
            serve(socket).await;
        }
    });
    (address, accepted)
}

/// Answers the first request of each connection with these pieces, then sends no more.
async fn saying(pieces: &'static [&'static str], then_hangs_up: bool) -> (SocketAddr, Arc<AtomicUsize>) {
    serving(move |mut socket| async move {
        let _ = socket.read(&mut [0u8; 1024]).await;
        for piece in pieces {
            socket.write_all(piece.as_bytes()).await.expect("written");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if !then_hangs_up {
            tokio::spawn(async move {
                std::future::pending::<()>().await;
                drop(socket);
            });
        }
    })
    .await
}

#[tokio::test]
async fn a_body_ends_where_its_server_says() {
    for (pieces, hangs_up) in [
        (
            &[
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\n",
                "Content-Length: 2\r\n\r\n{",
                "}",
            ][..],
            false,
        ),
        (
            &[
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r",
                "\n{\r\n1;x\r\n}\r\n0\r\nT: x\r\n",
                "\r\n",
            ][..],
            false,
        ),
        (&["HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n", "{", "}"][..], true),
    ] {
        let (address, _) = saying(pieces, hangs_up).await;
        assert_eq!(ask(&remote(address)).await.expect("an answer"), "{}", "{pieces:?}");
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_is_lost() {
    for pieces in [
        &["HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 3\r\n\r\n{}"][..],
        &[
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n",
        ],
    ] {
        let (address, _) = saying(pieces, true).await;
        assert!(matches!(ask(&remote(address)).await, Err(SendError::Lost(_))), "{pieces:?}");
    }
}

/// The test cannot observe when unsolicited bytes reach the client's socket.
const UNASKED_BYTES_ARRIVE: Duration = Duration::from_millis(500);

#[tokio::test]
async fn a_server_that_speaks_unasked_is_not_spoken_to_again() {
    let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    for pieces in [&[answer, "HTTP/1.1 200 OK\r\n\r\n"][..], &[answer, "", "", "x"][..]] {
        let (address, accepted) = saying(Box::leak(pieces.into()), false).await;
        let remote = remote(address);
        for asked in 1..=2 {
            ask(&remote).await.expect("an answer");
            tokio::time::sleep(UNASKED_BYTES_ARRIVE).await;
            assert_eq!(accepted.load(Ordering::SeqCst), asked);
        }
    }
}

#[tokio::test]
async fn an_answer_that_comes_before_the_request_is_out_is_heard() {
    let (address, accepted) =
        saying(&["HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!"], false).await;
    let remote = remote(address);
    for asked in 1..=2 {
        let body = Bytes::from(vec![b' '; 32 << 20]);
        let sending = remote.send(Verb::Post, HeadLines::new(), body);
        let response = tokio::time::timeout(Duration::from_secs(30), sending).await.expect("in time");
        let response = response.expect("an answer");
        assert_eq!(response.status(), 413);
        assert_eq!(response.whole(100).await.expect("a body"), "no!");
        assert_eq!(accepted.load(Ordering::SeqCst), asked, "the rest of the request was in the way");
    }
}

/// More than an unread socket buffers.
const LARGE: usize = 32 << 20;

/// Begins its response at once, reads the whole request, and then sends the number of received body bytes.
async fn counting(head: &'static str, last: fn(usize) -> String) -> (SocketAddr, Arc<AtomicUsize>) {
    serving(move |mut socket| async move {
        let mut buffer = vec![0u8; 64 << 10];
        while let Ok(first @ 1..) = socket.read(&mut buffer).await {
            socket.write_all(head.as_bytes()).await.expect("written");
            // The client sees the head while it still sends the body.
            tokio::time::sleep(Duration::from_millis(200)).await;
            // The head contains none of these bytes.
            let mut body = buffer.iter().take(first).filter(|byte| **byte == b'~').count();
            while body < LARGE {
                let came = socket.read(&mut buffer).await.expect("the rest of it");
                assert!(came > 0, "the request broke off after {body} bytes");
                body += came;
            }
            socket.write_all(last(body).as_bytes()).await.expect("written");
        }
    })
    .await
}

#[tokio::test]
async fn the_rest_of_a_request_is_sent_while_its_answer_is_read() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    let (address, _) = counting(head, |body| format!("11\r\ndata: {body:09}\n\n\r\n0\r\n\r\n")).await;
    let (remote, large) = (remote(address), Bytes::from(vec![b'~'; LARGE]));
    let asking = async {
        let response = remote.send(Verb::Post, HeadLines::new(), large).await.expect("an answer");
        assert_eq!(response.content(), ContentKind::EventStream);
        response.events(100).next().await.expect("an event")
    };
    let event = tokio::time::timeout(Duration::from_secs(30), asking).await.expect("in time");
    assert_eq!(event.expect("an event"), format!("{LARGE:09}"));
}

#[tokio::test]
async fn a_connection_is_reused_when_the_rest_of_a_request_is_out() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
    let (address, accepted) = counting(head, |body| format!("{body:09}")).await;
    let remote = remote(address);
    for _ in 0..2 {
        let asking = async {
            let large = Bytes::from(vec![b'~'; LARGE]);
            let response = remote.send(Verb::Post, HeadLines::new(), large).await.expect("an answer");
            response.whole(100).await.expect("a body")
        };
        let body = tokio::time::timeout(Duration::from_secs(30), asking).await.expect("in time");
        assert_eq!(body, format!("{LARGE:09}"));
    }
    assert_eq!(accepted.load(Ordering::SeqCst), 1);
}
