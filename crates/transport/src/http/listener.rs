//! Accepts connections and bounds their waits. On shutdown, answers their requests and closes them.
//!
//! A connection has a deadline for the head of its next request, and one for a write without progress. The wait
//! for a head does not count while a request is served. Its start is stored as a time that the connection's
//! timer checks when it fires, so that a request needs no timer.

pub(super) mod connections;
mod head_refusal;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use failwell_fault::Fault;
use failwell_pipeline::Requester;
use failwell_rpc::{Dialect, ReplyTo, RestStyle};
use futures_util::FutureExt;
use http_body::{Body, Frame, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::router::{Mount, Mounts, PipelineSet};
use super::sessions::shared::receive_node_messages;
use super::settings::HttpSettings;
use crate::shutdown::{FLUSH, ShutdownReport, settle};
use connections::{Connections, OpenConnection};
use head_refusal::{HeadProblem, write_last};

/// Interval of checks for idle sessions.
const SWEEP: Duration = Duration::from_secs(30);
/// Maximum buffer size, which also limits the request head. A 64 KB body arrives together with its head, so
/// it needs no copy. A larger buffer would make malloc call the operating system each time.
const AT_ONCE: usize = 96 * 1024;
/// Delay after a failed accept, for example without free file descriptors.
const REST: Duration = Duration::from_millis(50);

/// Time for a first request on a connection that is silent at shutdown.
const SILENT: Duration = Duration::from_millis(100);
/// Maximum number of refused connections that get a response at the same time.
const MOST_REFUSALS: usize = 64;

/// Serves until `stop` is set, then answers the accepted requests.
pub async fn serve_http(
    pipelines: impl Into<PipelineSet>,
    listener: TcpListener,
    mut settings: HttpSettings,
    stop: CancellationToken,
) -> Result<ShutdownReport, Fault> {
    if let Ok(address) = listener.local_addr() {
        settings.allow_address(address.ip());
    }
    serve_mounts(Arc::new(Mounts::new(pipelines, settings)), listener, stop).await
}

/// Serves these mounts until `stop` is set, then answers the accepted requests.
pub async fn serve_mounts(
    mounts: Arc<Mounts>,
    listener: TcpListener,
    stop: CancellationToken,
) -> Result<ShutdownReport, Fault> {
    let serving = ConnectionServer {
        mounts: mounts.clone(),
        connections: Connections::new(mounts.settings()),
        refusals: Arc::new(Semaphore::new(MOST_REFUSALS)),
        tasks: TaskTracker::new(),
        hang_up: CancellationToken::new(),
    };
    let mut sweep = tokio::time::interval(SWEEP);
    let messages = mounts.main().pipeline.state().subscribe();
    let hearing = messages.map(|messages| tokio::spawn(receive_node_messages(mounts.clone(), messages)));
    loop {
        tokio::select! {
            accepted = accept(&listener, &serving.connections) => {
                accepted.into_iter().for_each(|accepted| serving.serve(accepted));
            }
            _ = sweep.tick() => mounts.all().iter().for_each(|mount| mount.sessions.sweep_idle()),
            () = stop.cancelled() => break,
        }
    }
    // Connections that the system has accepted for us are answered too.
    while let Some(Some(accepted)) = accept(&listener, &serving.connections).now_or_never() {
        serving.serve(accepted);
    }
    drop(listener);
    let report = serving.shut_down().await;
    hearing.iter().for_each(tokio::task::JoinHandle::abort);
    Ok(report)
}

/// A connection that was accepted, and the address of its client.
type AcceptedConnection = (TcpStream, IpAddr);

/// The state of one listener.
struct ConnectionServer {
    mounts: Arc<Mounts>,
    connections: Arc<Connections>,
    /// Refused connections that get a response at the same time.
    refusals: Arc<Semaphore>,
    tasks: TaskTracker,
    hang_up: CancellationToken,
}

impl ConnectionServer {
    fn serve(&self, (stream, peer): AcceptedConnection) {
        let settings = self.mounts.settings();
        let timeouts = IdleTimeouts::new(settings.head_deadline, settings.first_byte_deadline);
        let entry = match self.connections.enter(peer, &timeouts) {
            Ok(entry) => entry,
            Err(fault) => return self.refuse((stream, peer), fault),
        };
        if let Some(line) = self.connections.notice() {
            self.mounts.main().pipeline.journal().write(line);
        }
        let serving =
            serve_connection(self.mounts.clone(), (stream, peer), timeouts, self.hang_up.clone(), entry);
        self.tasks.spawn(serving);
    }

    /// Answers a connection that is one too many. During a flood most of them are closed without a response.
    fn refuse(&self, accepted: AcceptedConnection, fault: Fault) {
        let Ok(permit) = self.refusals.clone().try_acquire_owned() else { return };
        let mounts = self.mounts.clone();
        self.tasks.spawn(async move {
            write_refusal(&mounts, &connection_name(), accepted, fault).await;
            drop(permit);
        });
    }

    /// Refuses new requests and lets running ones finish. Ends the rest after the grace period, writes the
    /// responses, and closes the connections.
    async fn shut_down(&self) -> ShutdownReport {
        let mounts = self.mounts.with_retired();
        // Subscriptions and idle streams end here.
        for mount in &mounts {
            mount.pipeline.refuse_requests();
            mount.sessions.finish_notices();
        }
        let count = |of: fn(&Mount) -> usize| mounts.iter().map(|mount| of(mount)).sum::<usize>();
        let running = count(|mount| mount.pipeline.running());
        let is_done = || count(|mount| mount.pipeline.running()) == 0 && self.connections.serving() == 0;
        if !settle(self.mounts.settings().drain, is_done).await {
            mounts.iter().for_each(|mount| mount.pipeline.end_running());
            settle(FLUSH, is_done).await;
        }
        let undelivered = self.connections.serving().max(count(|mount| mount.pipeline.running()));
        self.hang_up.cancel();
        self.tasks.close();
        let _ = tokio::time::timeout(FLUSH, self.tasks.wait()).await;
        mounts.iter().for_each(|mount| mount.sessions.end_all());
        ShutdownReport { running, ended: count(|mount| mount.pipeline.ended()), undelivered }
    }
}

async fn accept(listener: &TcpListener, connections: &Connections) -> Option<AcceptedConnection> {
    connections.wait_for_space().await;
    match listener.accept().await {
        Ok((stream, peer)) => Some((stream, peer.ip())),
        Err(error) => {
            // A client that is gone already needs no room; any other error means that a resource is used up.
            if !matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
                connections.make_room();
            }
            tokio::time::sleep(REST).await;
            None
        }
    }
}

async fn serve_connection(
    mounts: Arc<Mounts>,
    (stream, peer): (TcpStream, IpAddr),
    timeouts: IdleTimeouts,
    hang_up: CancellationToken,
    entry: OpenConnection,
) {
    // Responses are small, and clients wait for them.
    let _ = stream.set_nodelay(true);
    let stream = TimedIo::new(stream, timeouts.clone());
    // One `Arc` per connection, so that processors do not contend for a shared reference count.
    let own = Arc::new((mounts, connection_name()));
    let (handler, own_timeouts) = (own.clone(), timeouts.clone());
    let service = service_fn(move |request| {
        let (own, pause) = (handler.clone(), own_timeouts.take());
        async move {
            let answer = own.0.answer(request, peer, &own.1).await;
            Ok::<_, Infallible>(answer.map(|body| PausingBody { body, pause }))
        }
    });
    let mut connection =
        http1::Builder::new().max_buf_size(AT_ONCE).serve_connection(TokioIo::new(stream), service);
    let mut is_evicted = false;
    let is_stopping = loop {
        tokio::select! {
            _ = &mut connection => break false,
            () = hang_up.cancelled() => break true,
            () = entry.evicted.cancelled(), if !is_evicted => is_evicted = true,
        }
        // A request that has just arrived is answered.
        if !timeouts.is_serving() {
            return;
        }
    };
    if is_stopping {
        Pin::new(&mut connection).graceful_shutdown();
        // A client that never sent anything is not waited for.
        let patience = if timeouts.has_heard() { FLUSH } else { SILENT };
        if tokio::time::timeout(patience, &mut connection).await.is_err() {
            return;
        }
    }
    let TimedIo { inner, refused, .. } = connection.into_parts().io.into_inner();
    if let Some(problem) = refused {
        let fault = problem.fault(own.0.settings(), AT_ONCE);
        // Boxed, because it is rare: the future of every connection stays small.
        Box::pin(write_refusal(&own.0, &own.1, (inner, peer), fault)).await;
    }
}

/// Answers a request that cannot be read, or a connection that is one too many. The path is unknown, so the
/// response is REST's.
async fn write_refusal(mounts: &Mounts, on: &str, (stream, peer): AcceptedConnection, fault: Fault) {
    let to = ReplyTo::unreadable(None, Dialect::Rest(RestStyle::Plain));
    if let Some(reply) = mounts.main().pipeline.refuse(fault, to, on, Requester::Address(peer)).await {
        write_last(stream, reply).await;
    }
}

/// A short name that is unique in this process, to distinguish connections in records: the start time in
/// minutes, and a counter.
fn connection_name() -> Arc<str> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    static SINCE: OnceLock<u64> = OnceLock::new();
    let since = SINCE.get_or_init(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        now.as_secs() / 60
    });
    format!("h{:05x}-{}", since & 0xf_ffff, NEXT.fetch_add(1, Ordering::Relaxed)).into()
}

/// A request is being served.
const OURS: u64 = u64::MAX;

#[derive(Debug, Clone)]
pub(super) struct IdleTimeouts(Arc<HeadWait>);

#[derive(Debug)]
struct HeadWait {
    begun: Instant,
    limit: Duration,
    /// The time for the first byte of the connection.
    first: Duration,
    /// The start of the wait for a head, in milliseconds since `begun`.
    since: AtomicU64,
    /// Whether the client has sent anything.
    has_received: AtomicBool,
    /// Whether a part of the next head has arrived.
    began_head: AtomicBool,
}

/// Suspends the timeout until it is dropped.
pub(super) struct TimeoutPause(IdleTimeouts);

impl IdleTimeouts {
    /// Starts the timeout. Each request head has `limit`, and the first byte of the connection `first`.
    pub(super) fn new(limit: Duration, first: Duration) -> IdleTimeouts {
        IdleTimeouts(Arc::new(HeadWait {
            begun: Instant::now(),
            limit,
            first: first.min(limit),
            since: AtomicU64::new(0),
            has_received: AtomicBool::new(false),
            began_head: AtomicBool::new(false),
        }))
    }

    /// Suspends the timeout, because a head has arrived.
    pub(super) fn take(&self) -> TimeoutPause {
        self.0.since.store(OURS, Ordering::Relaxed);
        self.0.began_head.store(false, Ordering::Relaxed);
        TimeoutPause(self.clone())
    }

    /// Notes that bytes arrived.
    pub(super) fn received(&self) {
        if !self.has_heard() {
            self.0.has_received.store(true, Ordering::Relaxed);
        }
        if !self.is_serving() {
            self.0.began_head.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the client has sent anything.
    pub(super) fn has_heard(&self) -> bool {
        self.0.has_received.load(Ordering::Relaxed)
    }

    /// The order in which idle connections are closed to make room; `None` while a request is served. Silent
    /// connections come first, then those between two requests, then those with an unfinished head.
    pub(super) fn idleness(&self) -> Option<(u8, Instant)> {
        let since = Some(self.0.since.load(Ordering::Relaxed)).filter(|since| *since != OURS)?;
        let rank = match (self.has_heard(), self.0.began_head.load(Ordering::Relaxed)) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => 2,
        };
        Some((rank, self.0.begun + Duration::from_millis(since)))
    }

    /// Whether a request is being served.
    pub(super) fn is_serving(&self) -> bool {
        self.0.since.load(Ordering::Relaxed) == OURS
    }

    /// Restarts a running timeout, because the last response has only just been written.
    fn begin_anew(&self) {
        let inner = &self.0;
        if inner.since.load(Ordering::Relaxed) != OURS {
            inner.since.store(inner.now(), Ordering::Relaxed);
        }
    }

    /// The deadline of the next head; `None` while a request is served.
    fn deadline(&self) -> Option<Instant> {
        let since = Some(self.0.since.load(Ordering::Relaxed)).filter(|since| *since != OURS);
        let limit = if self.has_heard() { self.0.limit } else { self.0.first };
        since.map(|since| self.0.begun + Duration::from_millis(since) + limit)
    }
}

impl Drop for TimeoutPause {
    fn drop(&mut self) {
        let inner = &self.0.0;
        inner.since.store(inner.now(), Ordering::Relaxed);
    }
}

impl HeadWait {
    /// Milliseconds since `begun`.
    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(0)
    }
}

/// A body that suspends the timeout until it is sent.
struct PausingBody<B> {
    body: B,
    #[expect(dead_code, reason = "held for its drop")]
    pause: TimeoutPause,
}

impl<B: Body + Unpin> Body for PausingBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A connection with deadlines, so that a client that stops reading or sending does not occupy it without
/// end.
struct TimedIo<S> {
    inner: S,
    timeouts: IdleTimeouts,
    /// Fires occasionally, to check the deadline of the next head.
    timer: Option<Pin<Box<Sleep>>>,
    stalled: Option<Pin<Box<Sleep>>>,
    /// A head that was refused and has no response yet.
    refused: Option<HeadProblem>,
}

/// Maximum time without progress of a write.
const SLOWEST: Duration = Duration::from_secs(30);

impl<S> TimedIo<S> {
    fn new(inner: S, timeouts: IdleTimeouts) -> TimedIo<S> {
        TimedIo { inner, timeouts, timer: None, stalled: None, refused: None }
    }

    /// Swallows the empty response of the parser to an unreadable head. The listener writes a better one.
    fn is_parser_response(&mut self, bytes: &[u8]) -> bool {
        let problem = HeadProblem::in_response(bytes);
        self.refused = problem.or(self.refused);
        problem.is_some()
    }

    /// No bytes arrived: checks whether the deadline has passed.
    fn await_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A response that is not fully written has its own deadline.
        if self.stalled.is_some() {
            return Poll::Pending;
        }
        let Some(deadline) = self.timeouts.deadline() else { return Poll::Pending };
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        while timer.as_mut().poll(cx).is_ready() {
            if Instant::now() >= deadline {
                let has_begun = self.timeouts.0.began_head.load(Ordering::Relaxed);
                self.refused = has_begun.then_some(HeadProblem::Late);
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            timer.as_mut().reset(deadline);
        }
        Poll::Pending
    }

    fn watch<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            if self.stalled.take().is_some() {
                self.timeouts.begin_anew();
            }
            return polled;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(SLOWEST)));
        match stalled.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedIo<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.inner).poll_read(cx, buffer) {
            Poll::Pending => self.await_head(cx),
            ready => {
                self.timeouts.received();
                ready
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedIo<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.is_parser_response(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        let polled = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.watch(cx, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [only] = slices
            && self.is_parser_response(only)
        {
            return Poll::Ready(Ok(only.len()));
        }
        let polled = Pin::new(&mut self.inner).poll_write_vectored(cx, slices);
        self.watch(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.inner).poll_flush(cx);
        self.watch(cx, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.refused.is_some() {
            return Poll::Ready(Ok(()));
        }
        let polled = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.watch(cx, polled)
    }
}
