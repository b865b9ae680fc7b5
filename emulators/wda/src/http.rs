//! The listener, and one command over it: the faults that were asked for, the command, the answer.

mod body;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use failwell_emulator_props::{Stage, Wire};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use self::body::Body;
use crate::calls::{Call, LARGEST_KEPT};
use crate::control::{self, Control};
use crate::emulator::Service;
use crate::fault::{Fault, Kind};
use crate::refusal::{Outcome, Refusal};
use crate::routes::{self, Request};

/// How many connections there can be at once; others wait.
const MOST_CONNECTIONS: usize = 256;
/// How long the head of a request may take, the wait for it included.
const HEAD_TIMEOUT: Duration = Duration::from_secs(120);
/// How long the body of a request may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// The largest body.
const LARGEST_BODY: usize = 4 << 20;
/// How long a command that hangs does so: longer than anybody waits, and not for ever.
const HANG: Duration = Duration::from_secs(3_600);

/// Serves until it is dropped or a fault kills it, and all connections with it.
pub(crate) async fn listen(listener: TcpListener, service: Arc<Service>) {
    let permits = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut died = service.died.subscribe();
    let mut connections = JoinSet::new();
    loop {
        let Ok(permit) = permits.clone().acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = died.wait_for(|died| *died) => return,
        };
        let Ok((stream, _)) = accepted else {
            // Out of descriptors, most likely: somebody has to hang up first.
            sleep(Duration::from_millis(50)).await;
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
enum Given {
    Response(Response<Body>),
    Reset,
}

async fn answer(
    service: Arc<Service>,
    reset: Arc<AtomicBool>,
    request: http::Request<Incoming>,
) -> Result<Response<Body>, io::Error> {
    match routed(service, request).await {
        Given::Response(response) => Ok(response),
        Given::Reset => {
            reset.store(true, Ordering::SeqCst);
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
}

async fn routed(service: Arc<Service>, request: http::Request<Incoming>) -> Given {
    let (head, body) = request.into_parts();
    let body: Bytes = match timeout(BODY_TIMEOUT, Limited::new(body, LARGEST_BODY).collect()).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) => {
            return sent(413, "text/plain; charset=utf-8", "the body is larger than 4 MiB or broken\n");
        }
        Err(_) => return sent(408, "text/plain; charset=utf-8", "the body took longer than 30 seconds\n"),
    };
    if let Some(what) = head.uri.path().strip_prefix("/_control/").filter(|_| service.has_control) {
        let (status, body) = control::answer(&Control::new(service), &head.method, what, &body);
        return sent(status, "application/json", &format!("{body}\n"));
    }
    match read(head.method, head.uri.path(), head.uri.query(), &body) {
        Ok(request) => commanded(&service, request).await,
        Err(refusal) => spoken(&service, Err(refusal), None),
    }
}

fn read(method: Method, path: &str, query: Option<&str>, body: &[u8]) -> Result<Request, Refusal> {
    let mut parts: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let session = match parts.as_slice() {
        [first, id, ..] if first == "session" => Some(id.clone()),
        _ => None,
    };
    if session.is_some() {
        parts.drain(..2);
    }
    let query = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect();
    let body = if body.is_empty() {
        Value::Null
    } else {
        serde_json::from_slice(body).map_err(|_| Refusal::invalid_argument("the body is not JSON"))?
    };
    Ok(Request { method, session, path: parts, query, body })
}

/// Runs the command unless a fault comes first, writes it down, and answers.
async fn commanded(service: &Service, request: Request) -> Given {
    let command = request.command();
    let (outcome, fault) = {
        let mut state = service.state();
        let fault = state.faults.strike(&command);
        let kind = fault.as_ref().map(|fault| &fault.kind);
        match kind {
            Some(Kind::Alert) => state.device.app.ask_permission(),
            Some(Kind::Expire) => state.session = None,
            Some(Kind::Stale) => {
                if let Some(session) = &mut state.session {
                    session.forget();
                }
            }
            _ => {}
        }
        let extra = if let Some(Kind::LargeScreenshot { bytes }) = kind { *bytes } else { 0 };
        let runs =
            fault.as_ref().is_none_or(|fault| !fault.kind.replaces_answer() || fault.stage == Stage::After);
        let outcome = if runs { routes::perform(&mut state, &request, extra) } else { Ok(Value::Null) };
        let came_to = match (kind.and_then(Kind::label), &outcome) {
            (Some(label), _) => label.to_owned(),
            (None, Err(refusal)) => refusal.error.clone(),
            (None, Ok(_)) => "ok".to_owned(),
        };
        let small = request.body.to_string().len() <= LARGEST_KEPT;
        state.calls.push(Call {
            number: 0,
            command,
            body: if small { request.body } else { Value::Null },
            since_start: service.started.elapsed(),
            outcome: came_to,
        });
        (outcome, fault)
    };
    struck(service, outcome, fault.as_ref()).await
}

/// The answer, or what a fault makes of it.
async fn struck(service: &Service, outcome: Outcome, fault: Option<&Fault>) -> Given {
    match fault.map(|fault| &fault.kind) {
        Some(Kind::Hang) => {
            sleep(HANG).await;
            Given::Reset
        }
        Some(Kind::Die) => {
            service.died.send_replace(true);
            Given::Reset
        }
        Some(Kind::Reset) => Given::Reset,
        Some(Kind::Html) => {
            sent(502, "text/html; charset=utf-8", "<!doctype html><title>Bad gateway</title>\n")
        }
        Some(Kind::Refuse { error, message, status }) => {
            spoken(service, Err(Refusal::new(*status, error, message.clone())), None)
        }
        Some(kind) => {
            sleep(kind.wait()).await;
            spoken(service, outcome, Some(kind))
        }
        None => spoken(service, outcome, None),
    }
}

/// An answer as the runner writes it.
fn spoken(service: &Service, outcome: Outcome, bend: Option<&Kind>) -> Given {
    let session = service.state().session.as_ref().map(|session| session.id.clone());
    let (status, value) = match outcome {
        Ok(value) => (200, value),
        Err(refusal) => (refusal.status, refusal.value()),
    };
    let text = json!({"value": value, "sessionId": session}).to_string();
    let body = if bend == Some(&Kind::Truncate) { Body::broken(text) } else { Body::whole(text) };
    Given::Response(response(status, "application/json;charset=UTF-8", body))
}

fn sent(status: u16, kind: &'static str, text: &str) -> Given {
    Given::Response(response(status, kind, Body::whole(text.to_owned())))
}

fn response(status: u16, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
