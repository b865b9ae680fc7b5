//! One upstream: started when needed, watched over, started again within a budget.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use failwell_fault::{Effect, Fact, Fault, OrFault, Retry, reason};
use failwell_process::Launcher;
use failwell_rpc::{Era, Json};
use failwell_server::Event;
use tokio_util::sync::CancellationToken;

use crate::child;
use crate::http;
use crate::introduction::{Introduction, introduce};
use crate::link::Link;
use crate::relay::Relay;
use crate::settings::{Reach, UpstreamSettings};

/// The longest rest after repeated failures.
const LONGEST_REST: Duration = Duration::from_secs(30);

/// A server behind the gateway.
pub(crate) struct Upstream {
    pub(crate) settings: UpstreamSettings,
    launcher: Launcher,
    repeated: Arc<http::Repeated>,
    slot: tokio::sync::Mutex<Slot>,
    changed: Arc<dyn Fn(Event) + Send + Sync>,
    stop: CancellationToken,
    used: Mutex<Instant>,
}

#[derive(Default)]
struct Slot {
    connection: Option<Arc<Connection>>,
    starts: VecDeque<Instant>,
    failures: u32,
    rest_until: Option<Instant>,
    era: Option<Era>,
}

/// A connection that has been introduced.
pub(crate) struct Connection {
    pub(crate) link: Link,
    pub(crate) introduction: Introduction,
    stop: CancellationToken,
}

impl Connection {
    pub(crate) fn era(&self) -> Era {
        self.introduction.revision.era()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Upstream {
    pub(crate) fn new(
        settings: UpstreamSettings,
        launcher: Launcher,
        changed: Arc<dyn Fn(Event) + Send + Sync>,
    ) -> Arc<Upstream> {
        let upstream = Arc::new(Upstream {
            settings,
            launcher,
            repeated: Arc::default(),
            slot: tokio::sync::Mutex::default(),
            changed,
            stop: CancellationToken::new(),
            used: Mutex::new(Instant::now()),
        });
        if let Some(idle) = upstream.settings.idle_stop {
            tokio::spawn(stop_when_idle(Arc::downgrade(&upstream), idle));
        }
        upstream
    }

    /// The name its tools are prefixed with.
    pub(crate) fn name(&self) -> &str {
        &self.settings.name
    }

    /// A connection that works, started now if there is none. Whoever comes while it starts waits for it.
    pub(crate) async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, Fault> {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        let alive = |connection: &&Arc<Connection>| !connection.link.is_down();
        if let Ok(slot) = self.slot.try_lock()
            && let Some(connection) = slot.connection.as_ref().filter(alive)
        {
            return Ok(connection.clone());
        }
        // Beside whoever asks: one who loses patience must not undo a start others wait for.
        let upstream = self.clone();
        tokio::spawn(async move { upstream.connect().await }).await.or_fault(&reason::SERVER_BUG)?
    }

    async fn connect(&self) -> Result<Arc<Connection>, Fault> {
        let mut slot = self.slot.lock().await;
        if let Some(connection) = slot.connection.as_ref().filter(|connection| !connection.link.is_down()) {
            return Ok(connection.clone());
        }
        slot.connection = None;
        slot.may_start(&self.settings, Instant::now())?;
        let known = slot.era.take().or(self.settings.first_era);
        match self.start(known).await {
            Ok(connection) => {
                slot.failures = 0;
                slot.era = Some(connection.era());
                slot.connection = Some(connection.clone());
                Ok(connection)
            }
            Err(fault) => {
                slot.failures += 1;
                slot.rest_until = Some(Instant::now() + rest(slot.failures).max(asked_for(&fault)));
                Err(fault)
            }
        }
    }

    async fn start(&self, known: Option<Era>) -> Result<Arc<Connection>, Fault> {
        let stop = self.stop.child_token();
        // Whatever goes wrong from here on, what was started is stopped.
        let undo = stop.clone().drop_guard();
        let starting = async {
            let changed = self.changed.clone();
            let changed = move |event| changed(event);
            let link = match &self.settings.reach {
                Reach::Child { .. } => {
                    Link::Child(child::start(&self.launcher, &self.settings, stop.clone(), changed).await?)
                }
                Reach::Http { .. } => {
                    Link::Remote(http::connect(&self.settings, self.repeated.clone(), stop.clone(), changed)?)
                }
            };
            let introduction = introduce(&link, known).await?;
            link.listen(introduction.revision.era()).await?;
            Ok(Connection { link, introduction, stop: stop.clone() })
        };
        let started = tokio::time::timeout(self.settings.start_timeout, starting).await;
        let late = |_| {
            let seconds = self.settings.start_timeout.as_secs();
            Fault::new(&reason::GATEWAY_UPSTREAM_DOWN)
                .fact("limit_s", seconds)
                .note("start", "no introduction in time")
        };
        let connection = started.map_err(late)?.map_err(never_left)?;
        undo.disarm();
        Ok(Arc::new(connection))
    }

    /// One request. Tried again only when it provably never left.
    pub(crate) async fn request(
        self: &Arc<Self>,
        method: &str,
        params: impl Fn(&Connection, u64) -> String,
        relay: Option<&Relay>,
    ) -> Result<(Json, Arc<Connection>), Fault> {
        let mut tries = 0;
        loop {
            tries += 1;
            let connection = self.connection().await?;
            let sent =
                connection.link.send(method, |number| params(&connection, number), relay.cloned()).await;
            let pending = match sent {
                Err(fault) if tries < 2 && connection.link.is_down() => {
                    drop(fault);
                    continue;
                }
                Err(fault) => return Err(fault),
                Ok(pending) => pending,
            };
            // Dropped before the answer came, the upstream is told that nobody waits for it.
            let mut unwanted = Unwanted { link: &connection.link, number: Some(pending.number) };
            let answer = tokio::time::timeout(self.settings.timeout, pending.answer).await;
            let Ok(answer) = answer else {
                return Err(Fault::new(&reason::GATEWAY_UPSTREAM_TIMEOUT)
                    .fact("limit_s", self.settings.timeout.as_secs())
                    .with_effect(Effect::Unknown));
            };
            unwanted.number = None;
            match answer {
                // It never left, or reached somebody who does not know us any more.
                Err(fault) if tries < 2 && fault.effect() == Effect::None && connection.link.is_down() => {}
                answer => return Ok((answer?.result()?, connection.clone())),
            }
        }
    }

    /// Ends the connection and whatever is behind it.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

struct Unwanted<'a> {
    link: &'a Link,
    number: Option<u64>,
}

impl Drop for Unwanted<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.link.call_off(number);
        }
    }
}

impl Slot {
    /// Whether the budget of starts and the rest after failures allow another start.
    fn may_start(&mut self, settings: &UpstreamSettings, now: Instant) -> Result<(), Fault> {
        if let Some(until) = self.rest_until.filter(|until| *until > now) {
            return Err(resting(until - now));
        }
        while self.starts.front().is_some_and(|first| now.duration_since(*first) >= settings.restart.window) {
            self.starts.pop_front();
        }
        // The first start is no restart.
        if self.starts.len() > settings.restart.budget as usize
            && let Some(first) = self.starts.front()
        {
            return Err(resting(settings.restart.window.saturating_sub(now.duration_since(*first))));
        }
        self.starts.push_back(now);
        Ok(())
    }
}

fn resting(wait: Duration) -> Fault {
    Fault::new(&reason::GATEWAY_CIRCUIT_OPEN).retry_as(Retry::After(wait))
}

/// Longer after every failure, and never the same for two upstreams.
fn rest(failures: u32) -> Duration {
    let doubled = Duration::from_millis(250) * 2u32.saturating_pow(failures.min(10).saturating_sub(1));
    let jitter = f64::from(getrandom::u32().unwrap_or(0)) / f64::from(u32::MAX);
    doubled.min(LONGEST_REST).mul_f64(0.75 + jitter / 2.0)
}

/// How long an upstream that refused us asked us to stay away.
fn asked_for(fault: &Fault) -> Duration {
    match (fault.get("status"), fault.retry()) {
        (Some(Fact::Unsigned(429 | 503)), Retry::After(wait)) => wait.min(LONGEST_REST),
        _ => Duration::ZERO,
    }
}

/// What failed while starting never reached the caller's request.
fn never_left(fault: Fault) -> Fault {
    let (retry, status) = (fault.retry(), fault.get("status").cloned());
    let down = Fault::new(&reason::GATEWAY_UPSTREAM_DOWN);
    let down = match status {
        Some(status) => down.fact("status", status),
        None => down,
    };
    let down = if matches!(retry, Retry::After(_)) { down.retry_as(retry) } else { down };
    down.absorbing(fault)
}

async fn stop_when_idle(upstream: std::sync::Weak<Upstream>, idle: Duration) {
    loop {
        tokio::time::sleep(idle.min(Duration::from_secs(5))).await;
        let Some(upstream) = upstream.upgrade() else { return };
        let used = *upstream.used.lock().unwrap_or_else(PoisonError::into_inner);
        let mut slot = upstream.slot.lock().await;
        let busy = slot.connection.as_ref().is_some_and(|connection| connection.link.is_busy());
        if used.elapsed() >= idle && !busy {
            slot.connection = None;
        }
    }
}
