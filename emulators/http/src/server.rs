//! The HTTP/1.1 server of an emulator.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use crate::body::Body;
use crate::control::ControlReply;
use crate::control_access;
use crate::reply::Reply;
use crate::resettable_stream::ResettableStream;

/// Connections served at once; others wait.
const MOST_CONNECTIONS: usize = 256;
/// The time to read the body of a request.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// The largest body of a request.
const LARGEST_BODY: usize = 4 << 20;

/// Answers the requests of one emulator.
pub trait Handler: Send + Sync + 'static {
    /// Answers a request to the emulated service.
    fn handle(&self, head: Parts, body: Bytes) -> impl Future<Output = Reply> + Send;

    /// Answers a request to `/_control/<action>`.
    fn control(&self, method: &Method, action: &str, body: &[u8]) -> ControlReply;
}

/// How a server starts.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// Whether `/_control/` is served.
    pub control: bool,
    /// The time to read the head of a request, idle time included.
    pub head_timeout: Duration,
}

/// A running server. It stops when it is dropped, and all connections with it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    killed: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Server {
    /// Binds the address and serves requests.
    pub async fn start(options: ServerOptions, handler: Arc<impl Handler>) -> io::Result<Server> {
        let listener = TcpListener::bind(options.listen).await?;
        let address = listener.local_addr()?;
        let killed = watch::Sender::new(false);
        let task = tokio::spawn(accept_loop(listener, options, handler, killed.clone()));
        Ok(Server { address, killed, task })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL before the path.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until a [`Reply::Kill`] stops the server.
    pub async fn killed(&self) {
        let mut killed = self.killed.subscribe();
        // The sender is ours, so the channel stays open as long as we do.
        let _ = killed.wait_for(|killed| *killed).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept_loop(
    listener: TcpListener,
    options: ServerOptions,
    handler: Arc<impl Handler>,
    killed: watch::Sender<bool>,
) {
    let permits = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut on_kill = killed.subscribe();
    let mut connections = JoinSet::new();
    loop {
        let Ok(permit) = permits.clone().acquire_owned().await else { return };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = on_kill.wait_for(|killed| *killed) => return,
        };
        let Ok((stream, _)) = accepted else {
            // Most likely out of file descriptors: wait for a connection to close.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        let connection = serve_connection(stream, options.clone(), handler.clone(), killed.clone());
        connections.spawn(async move {
            connection.await;
            drop(permit);
        });
    }
}

async fn serve_connection(
    stream: TcpStream,
    options: ServerOptions,
    handler: Arc<impl Handler>,
    killed: watch::Sender<bool>,
) {
    let _ = stream.set_nodelay(true);
    let reset = Arc::new(AtomicBool::new(false));
    let io = TokioIo::new(ResettableStream::new(stream, reset.clone()));
    let control = options.control.then(|| options.listen.ip());
    let service = service_fn(move |request| {
        let (handler, reset, killed) = (handler.clone(), reset.clone(), killed.clone());
        async move {
            match answer(&*handler, control, request).await {
                Reply::Response(response) => return Ok::<Response<Body>, io::Error>(response),
                Reply::Reset => {}
                Reply::Kill => {
                    killed.send_replace(true);
                }
            }
            reset.store(true, Ordering::SeqCst);
            Err(io::ErrorKind::ConnectionReset.into())
        }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(options.head_timeout).max_buf_size(64 << 10);
    let _ = server.serve_connection(io, service).await;
}

/// `control` is the listening address where `/_control/` is served.
async fn answer(handler: &impl Handler, control: Option<IpAddr>, request: Request<Incoming>) -> Reply {
    let (head, body) = request.into_parts();
    let control = control
        .and_then(|listening| head.uri.path().strip_prefix("/_control/").map(|action| (action, listening)));
    if let Some((_, listening)) = control
        && let Err(refusal) = control_access::check(&head, listening)
    {
        return json(Err(refusal).into());
    }
    let body = match timeout(BODY_TIMEOUT, Limited::new(body, LARGEST_BODY).collect()).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) => {
            return Reply::plain(StatusCode::PAYLOAD_TOO_LARGE, "the body is larger than 4 MiB or broken\n");
        }
        Err(_) => {
            return Reply::plain(StatusCode::REQUEST_TIMEOUT, "the body took longer than 30 seconds\n");
        }
    };
    if let Some((action, _)) = control {
        return json(handler.control(&head.method, action, &body));
    }
    handler.handle(head, body).await
}

fn json(reply: ControlReply) -> Reply {
    Reply::text(reply.status, "application/json", format!("{}\n", reply.body))
}
