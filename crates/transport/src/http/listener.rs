//! Accepting connections, and letting them go.

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
use super::doors::{Doors, Houses};
use super::settings::HttpSettings;
use super::shared::hear_others;
use super::timed_io::TimedIo;
use super::turns::{InTurn, Turns};

/// How often idle sessions are looked for.
const SWEEP: Duration = Duration::from_secs(30);
/// The most bytes read at once, and of a head: a body of 64 KB comes with its head in one piece, which needs no copy, and
/// the place for it is not so large that malloc would ask the system for it each time.
const AT_ONCE: usize = 96 * 1024;
/// How long to rest when the system has no more descriptors.
const REST: Duration = Duration::from_millis(50);

/// Serves until `stop` is set, then answers what was accepted.
pub async fn serve_http(
    houses: impl Into<Houses>,
    listener: TcpListener,
    mut settings: HttpSettings,
    stop: CancellationToken,
) -> Result<(), Fault> {
    if let Ok(address) = listener.local_addr() {
        settings.allow_address(address.ip());
    }
    serve_doors(Arc::new(Doors::new(houses, settings)), listener, stop).await
}

/// Serves these doors until `stop` is set, then answers what was accepted.
pub async fn serve_doors(
    doors: Arc<Doors>,
    listener: TcpListener,
    stop: CancellationToken,
) -> Result<(), Fault> {
    let drain = doors.settings().drain;
    let slots = Arc::new(Semaphore::new(doors.settings().most_connections));
    let (connections, hang_up) = (TaskTracker::new(), CancellationToken::new());
    let mut sweep = tokio::time::interval(SWEEP);
    let letters = doors.main().house.state().hear();
    let hearing = letters.map(|letters| tokio::spawn(hear_others(doors.clone(), letters)));
    loop {
        tokio::select! {
            accepted = accept(&listener, &slots) => {
                if let Some((stream, peer, slot)) = accepted {
                    let serving = serve_connection(doors.clone(), stream, peer, hang_up.clone());
                    connections.spawn(async move {
                        serving.await;
                        drop(slot);
                    });
                }
            }
            _ = sweep.tick() => doors.all().iter().for_each(|door| door.sessions.sweep_idle()),
            () = stop.cancelled() => break,
        }
    }
    drop(listener);
    // Subscriptions and idle streams end, running requests go on, new ones are turned away.
    for door in doors.all() {
        door.house.close_doors();
        door.sessions.finish_notices();
    }
    hang_up.cancel();
    connections.close();
    let answered = tokio::time::timeout(drain / 2, connections.wait()).await;
    doors.all().iter().for_each(|door| door.sessions.end_all());
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

async fn serve_connection(doors: Arc<Doors>, stream: TcpStream, peer: IpAddr, hang_up: CancellationToken) {
    // Answers are small and waited for.
    let _ = stream.set_nodelay(true);
    let turns = Turns::new(doors.settings().head_deadline);
    let stream = TimedIo::new(stream, turns.clone());
    // What every connection has of its own, no other processor counts at the same time.
    let own = Arc::new((doors, connection::fresh()));
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
