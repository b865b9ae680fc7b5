//! The lower bound: a minimal reverse proxy. `blind` forwards bodies unread. `envelope` scans both directions, replaces
//! the request id by its own and restores the caller's, as every MCP gateway must.
//!
//! Each client connection has its own upstream connection.

use bench_server::lifecycle::{open, shutdown_requested};
use bytes::Bytes;
use failwell_rpc::{Incoming, Limits, Message, read};
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderValue, TRANSFER_ENCODING};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming as Body;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;

type Failure = Box<dyn Error + Send + Sync>;
type Upstream = Mutex<SendRequest<Full<Bytes>>>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inspection {
    Blind,
    Envelope,
}

static NEXT: AtomicU64 = AtomicU64::new(1);

async fn pass(
    request: Request<Body>,
    upstream: &Upstream,
    host: &HeaderValue,
    inspection: Inspection,
) -> Result<Response<Full<Bytes>>, Failure> {
    let (mut head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let (sent, id) = match inspection {
        Inspection::Blind => (body, None),
        Inspection::Envelope => match read(&body, &Limits::default()) {
            Incoming::One(Ok(Message::Request(message))) => {
                let number = NEXT.fetch_add(1, Ordering::Relaxed);
                (Bytes::from(message.splice_id(&number.to_string()).concat()), Some((message.id, number)))
            }
            Incoming::One(Ok(Message::Notification(_))) => (body, None),
            _ => return Err("not a request".into()),
        },
    };
    head.headers.insert(HOST, host.clone());
    for hop in [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING] {
        head.headers.remove(hop);
    }
    let mut upstream = upstream.lock().await;
    upstream.ready().await?;
    let (mut head, body) =
        upstream.send_request(Request::from_parts(head, Full::new(sent))).await?.into_parts();
    let body = body.collect().await?.to_bytes();
    head.headers.remove(CONTENT_LENGTH);
    let body = match id {
        None => body,
        Some((id, number)) => {
            let Incoming::One(Ok(Message::Response(message))) = read(&body, &Limits::default()) else {
                return Err("not a response".into());
            };
            if message.id.as_u64() != Some(number) {
                return Err("a response to something else".into());
            }
            Bytes::from(message.splice_id(id.text()).concat())
        }
    };
    Ok(Response::from_parts(head, Full::new(body)))
}

async fn serve_one(stream: TcpStream, to: SocketAddr, inspection: Inspection) -> Result<(), Failure> {
    stream.set_nodelay(true)?;
    let upstream = TcpStream::connect(to).await?;
    upstream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(upstream)).await?;
    tokio::spawn(connection);
    let upstream = Arc::new(Mutex::new(sender));
    let host = HeaderValue::from_str(&to.to_string())?;
    let service = service_fn(move |request| {
        let (upstream, host) = (upstream.clone(), host.clone());
        async move { pass(request, &upstream, &host, inspection).await.map_err(std::io::Error::other) }
    });
    http1::Builder::new().serve_connection(TokioIo::new(stream), service).await?;
    Ok(())
}

async fn serve(listener: TcpListener, to: SocketAddr, inspection: Inspection) -> Result<(), Failure> {
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            if let Err(error) = serve_one(stream, to, inspection).await {
                eprintln!("{error}");
            }
        });
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let to: SocketAddr = arguments.next().ok_or("where to?")?.parse()?;
    let inspection = match arguments.next().as_deref() {
        Some("blind") => Inspection::Blind,
        Some("envelope") => Inspection::Envelope,
        _ => return Err("blind or envelope?".into()),
    };
    let listener = open().await?;
    tokio::select! {
        served = serve(listener, to, inspection) => served,
        () = shutdown_requested() => Ok(()),
    }
}
