//! Accepts connections, and closes them on shutdown.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Fault;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection;
use super::idle_timeouts::{IdleTimeouts, InTurn};
use super::mounts::{Mounts, PipelineSet};
use super::settings::HttpSettings;
use super::shared::hear_others;
use super::timed_io::TimedIo;

/// Interval of checks for idle sessions.
const SWEEP: Duration = Duration::from_secs(30);
/// Maximum buffer size, which also limits the request head. A 64 KB body arrives together with its head, so
/// it needs no copy. A larger buffer would make malloc call the operating system each time.
const AT_ONCE: usize = 96 * 1024;
/// Delay after a failed accept, for example without free file descriptors.
const REST: Duration = Duration::from_millis(50);

/// Serves until `stop` is set, then waits for the accepted requests.
pub async fn serve_http(
    pipelines: impl Into<PipelineSet>,
    listener: TcpListener,
    mut settings: HttpSettings,
    stop: CancellationToken,
) -> Result<(), Fault> {
    if let Ok(address) = listener.local_addr() {
        settings.allow_address(address.ip());
    }
    serve_mounts(Arc::new(Mounts::new(pipelines, settings)), listener, stop).await
}

/// Serves these mounts until `stop` is set, then waits for the accepted requests.
pub async fn serve_mounts(
    mounts: Arc<Mounts>,
    listener: TcpListener,
    stop: CancellationToken,
) -> Result<(), Fault> {
    let drain = mounts.settings().drain;
    let slots = Arc::new(Semaphore::new(mounts.settings().most_connections));
    let (connections, hang_up) = (TaskTracker::new(), CancellationToken::new());
    let mut sweep = tokio::time::interval(SWEEP);
    let letters = mounts.main().pipeline.state().hear();
    let hearing = letters.map(|letters| tokio::spawn(hear_others(mounts.clone(), letters)));
    loop {
        tokio::select! {
            accepted = accept(&listener, &slots) => {
                if let Some((stream, peer, slot)) = accepted {
                    let serving = serve_connection(mounts.clone(), stream, peer, hang_up.clone());
                    connections.spawn(async move {
                        serving.await;
                        drop(slot);
                    });
                }
            }
            _ = sweep.tick() => mounts.all().iter().for_each(|mount| mount.sessions.sweep_idle()),
            () = stop.cancelled() => break,
        }
    }
    drop(listener);
    // Subscriptions and idle streams end, running requests continue, and new ones are refused.
    for mount in mounts.all() {
        mount.pipeline.close_doors();
        mount.sessions.finish_notices();
    }
    hang_up.cancel();
    connections.close();
    let answered = tokio::time::timeout(drain / 2, connections.wait()).await;
    mounts.all().iter().for_each(|mount| mount.sessions.end_all());
    if answered.is_err() {
        let _ = tokio::time::timeout(drain / 2, connections.wait()).await;
    }
    hearing.iter().for_each(tokio::task::JoinHandle::abort);
    Ok(())
}

async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> Option<(TcpStream, IpAddr, tokio::sync::OwnedSemaphorePermit)> {
    let slot = slots.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => Some((stream, peer.ip(), slot)),
        Err(_) => {
            tokio::time::sleep(REST).await;
            None
        }
    }
}

async fn serve_connection(mounts: Arc<Mounts>, stream: TcpStream, peer: IpAddr, hang_up: CancellationToken) {
    // Responses are small, and clients wait for them.
    let _ = stream.set_nodelay(true);
    let turns = IdleTimeouts::new(mounts.settings().head_deadline);
    let stream = TimedIo::new(stream, turns.clone());
    // One `Arc` per connection, so that processors do not contend for a shared reference count.
    let own = Arc::new((mounts, connection::fresh()));
    let service = service_fn(move |request| {
        let (own, turn) = (own.clone(), turns.take());
        async move {
            let answer = own.0.answer(request, peer, &own.1).await;
            Ok::<_, Infallible>(answer.map(|body| InTurn { body, turn }))
        }
    });
    let connection =
        http1::Builder::new().max_buf_size(AT_ONCE).serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        () = hang_up.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
