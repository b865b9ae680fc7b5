//! The listener, and what stands at which path.

mod body;
mod rest;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use failwell_emulator_props::Wire;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use self::body::Body;
use crate::control::{self, Control};
use crate::emulator::Service;
use crate::page;
use crate::params::Params;

/// How many connections there can be at once; others wait.
const MOST_CONNECTIONS: usize = 256;
/// How long the head of a request may take, the wait for it included.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
/// How long the body of a request may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// The largest body.
const LARGEST_BODY: usize = 4 << 20;

/// Serves until it is dropped, and all connections with it.
pub(crate) async fn listen(listener: TcpListener, service: Arc<Service>) {
    let permits = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(permit) = permits.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, most likely: somebody has to hang up first.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let service = service.clone();
        connections.spawn(async move {
            let _ = stream.set_nodelay(true);
            let reset = Arc::new(AtomicBool::new(false));
            let wire = TokioIo::new(Wire::new(stream, reset.clone()));
            let answer = service_fn(move |request| answer(service.clone(), reset.clone(), request));
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(64 << 10);
            let _ = server.serve_connection(wire, answer).await;
            drop(permit);
        });
    }
}

/// What a request gets: a response, or a connection that is cut.
pub(crate) enum Given {
    Response(Response<Body>),
    Reset,
}

async fn answer(
    service: Arc<Service>,
    reset: Arc<AtomicBool>,
    request: Request<Incoming>,
) -> Result<Response<Body>, io::Error> {
    match routed(service, request).await {
        Given::Response(response) => Ok(response),
        Given::Reset => {
            reset.store(true, Ordering::SeqCst);
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
}

async fn routed(service: Arc<Service>, request: Request<Incoming>) -> Given {
    let (head, body) = request.into_parts();
    let path = head.uri.path().to_owned();
    let collected = timeout(BODY_TIMEOUT, Limited::new(body, LARGEST_BODY).collect()).await;
    let body: Bytes = match collected {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) => {
            return plain(StatusCode::PAYLOAD_TOO_LARGE, "the body is larger than 4 MiB or broken\n");
        }
        Err(_) => return plain(StatusCode::REQUEST_TIMEOUT, "the body took longer than 30 seconds\n"),
    };
    if let Some(what) = path.strip_prefix("/_control/").filter(|_| service.has_control) {
        let done = control::answer(&Control::new(service), &head.method, what, &body);
        return sent(done.status, "application/json", format!("{}\n", done.body));
    }
    let params = Params::read(head.uri.query(), &body);
    match (&head.method, path.trim_end_matches('/')) {
        (&Method::GET | &Method::POST, "/services/rest") => rest::answer(&service, params).await,
        (&Method::GET, "/services/auth") => html(page::ask(&service.state(), &params)),
        (&Method::POST, "/services/auth") => html(page::decide(&mut service.state(), &params)),
        (_, "/services/rest" | "/services/auth") => {
            plain(StatusCode::METHOD_NOT_ALLOWED, "use GET or POST\n")
        }
        (&Method::GET, "") => sent(200, "text/html; charset=utf-8", page::welcome()),
        _ => plain(StatusCode::NOT_FOUND, "there is nothing here\n"),
    }
}

/// A page for people: nothing in it comes from elsewhere, and no other page may show it as its own.
fn html(page: page::Page) -> Given {
    let mut response = response(page.status, "text/html; charset=utf-8", Body::whole(page.html));
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(page::POLICY));
    Given::Response(response)
}

fn plain(status: StatusCode, text: &str) -> Given {
    sent(status.as_u16(), "text/plain; charset=utf-8", text.to_owned())
}

/// A response with a body that is there as a whole.
pub(crate) fn sent(status: u16, kind: &'static str, text: String) -> Given {
    Given::Response(response(status, kind, Body::whole(text)))
}

pub(crate) fn response(status: u16, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
