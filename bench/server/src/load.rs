//! One round: several connections, each with one request after another, until the deadline.

use crate::message::{Echo, Era, FIRST, NumberedMessage, handshake, ready};
use crate::wire::Connection;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The request and its destination.
#[derive(Clone, Copy)]
pub struct Target {
    pub address: SocketAddr,
    pub echo: Echo,
    pub era: Era,
}

/// The time limit of one answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Warm-up requests on each connection.
const WARM_UP: u64 = 20;

/// A connection after its warm-up.
struct Caller {
    connection: Connection,
    call: NumberedMessage,
    answer: NumberedMessage,
    next: u64,
}

impl Caller {
    /// Connects, opens a session if the era has sessions, and checks one answer completely.
    async fn ready(target: Target) -> Result<Caller, String> {
        let mut connection = Connection::open(target.address).await?;
        let session = match target.era {
            Era::Modern => None,
            Era::Session => Some(begin_session(&mut connection, target.echo.path).await?),
        };
        let mut call = NumberedMessage::call(target.echo, target.era, session.as_deref());
        let response = connection.exchange(call.numbered(FIRST)).await?;
        if response.status != 200 {
            return Err(format!("status {}: {}", response.status, String::from_utf8_lossy(response.body)));
        }
        let answer = NumberedMessage::answer(target.echo, response.body.to_vec(), FIRST)?;
        let mut caller = Caller { connection, call, answer, next: FIRST + 1 };
        for _ in 0..WARM_UP {
            caller.ask().await?;
        }
        Ok(caller)
    }

    /// Sends one request, and checks the answer.
    async fn ask(&mut self) -> Result<(), String> {
        let number = self.next;
        self.next += 1;
        let asked = self.connection.exchange(self.call.numbered(number));
        let response = tokio::time::timeout(PATIENCE, asked).await.map_err(|_| "no answer".to_owned())??;
        if response.status == 200 && response.body == self.answer.numbered(number) {
            return Ok(());
        }
        Err(format!("a wrong answer, status {}: {}", response.status, String::from_utf8_lossy(response.body)))
    }

    /// Sends requests until the deadline. Returns the latency of each.
    async fn keep_asking(mut self, deadline: Instant) -> Result<Vec<Duration>, String> {
        let mut times = Vec::with_capacity(64 * 1024);
        let mut now = Instant::now();
        while now < deadline {
            self.ask().await?;
            let then = std::mem::replace(&mut now, Instant::now());
            times.push(now - then);
        }
        Ok(times)
    }
}

async fn begin_session(connection: &mut Connection, path: &str) -> Result<String, String> {
    let response = connection.exchange(&handshake(path)).await?;
    let id = response.header("mcp-session-id").map(str::to_owned);
    let id = id.ok_or_else(|| format!("no session, status {}", response.status))?;
    let status = connection.exchange(&ready(path, &id)).await?.status;
    if (200..300).contains(&status) {
        Ok(id)
    } else {
        Err(format!("the handshake ended with status {status}"))
    }
}

/// The unsorted latencies of a round, and its duration.
pub async fn round(
    target: Target,
    connections: usize,
    length: Duration,
) -> Result<(Vec<Duration>, Duration), String> {
    let mut callers = Vec::new();
    for _ in 0..connections {
        callers.push(Caller::ready(target).await?);
    }
    let started = Instant::now();
    let asking: Vec<_> =
        callers.into_iter().map(|caller| tokio::spawn(caller.keep_asking(started + length))).collect();
    let mut times = Vec::new();
    for asked in asking {
        times.extend(asked.await.map_err(|error| error.to_string())??);
    }
    Ok((times, started.elapsed()))
}
