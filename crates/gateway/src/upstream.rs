//! One upstream server: connected on first use, supervised, and restarted within a budget.

mod circuit_breaker;
mod client;
mod connection;
mod connection_pool;
mod connection_slot;
mod counters;
mod debouncer;
mod dual_era;
mod health;
pub(crate) mod metrics;
mod params;
mod request;
mod response;
mod settings;
mod span;
mod time_limit;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use failwell_fault::{Fault, OrFault, Retry, reason};
use failwell_pipeline::SharedState;
use failwell_pipeline::Tracer;
use failwell_process::Launcher;
use failwell_rpc::Era;
use failwell_toolbox::{Context, Event, Party, Watcher};
use tokio_util::sync::CancellationToken;

pub(crate) use self::client::{ClientQuestion, ClientRelay};
pub(crate) use self::connection::handshake::{ALL_OFFERS, PROBE};
pub(crate) use self::connection::http::header_params;
pub(crate) use self::connection_pool::PooledConnection;
pub(crate) use self::connection_slot::WatchOutcome;
pub(crate) use self::dual_era::DualEraUpstream;
pub(crate) use self::params::{RequestParams, SendContext};
pub(crate) use self::request::UpstreamRequest;
pub(crate) use self::response::{ParsedResult, UpstreamResponse, invalid_response, upstream_code};

use self::circuit_breaker::CircuitBreaker;
use self::connection::{Connector, DetectedProtocol, UpstreamConnection};
use self::connection_pool::ConnectionPool;
use self::connection_slot::{ConnectionSlot, UpstreamStatus, circuit_open};
use self::counters::UpstreamCounters;
use self::debouncer::Debouncer;
use self::health::Health;

pub use self::settings::{
    ClientCredentials, Endpoint, HttpTransport, RestartBudget, SessionSharing, UpstreamSettings,
};

/// How often idle slots are released.
const SWEEP: Duration = Duration::from_secs(5);

/// Receives changes: for all clients, or for one party.
pub(crate) type ChangeListener = dyn Fn(Event, Option<Arc<Party>>) + Send + Sync;

/// What the upstreams of one gateway share.
#[derive(Clone)]
pub(crate) struct UpstreamServices {
    pub(crate) launcher: Launcher,
    pub(crate) state: Arc<dyn SharedState>,
    /// Where the spans of requests end; set once, after the gateway was built.
    pub(crate) tracer: Arc<OnceLock<Tracer>>,
}

pub(crate) struct Upstream {
    pub(crate) settings: Arc<UpstreamSettings>,
    connector: Connector,
    pool: Arc<ConnectionPool>,
    health: Mutex<Health>,
    changed: Arc<ChangeListener>,
    debouncer: Arc<Debouncer>,
    breaker: CircuitBreaker,
    tracer: Arc<OnceLock<Tracer>>,
    stop: CancellationToken,
}

impl Upstream {
    pub(crate) fn new(
        settings: UpstreamSettings,
        changed: Arc<ChangeListener>,
        services: UpstreamServices,
    ) -> Arc<Upstream> {
        let settings = Arc::new(settings);
        let is_child = matches!(settings.endpoint, Endpoint::Child { .. });
        let sharing = settings.sharing.or(is_child.then_some(SessionSharing::Shared));
        // Over HTTP, the handshake shows whether the server keeps sessions.
        let known = sharing.filter(|sharing| is_child || *sharing == SessionSharing::Shared);
        let UpstreamServices { launcher, state, tracer } = services;
        let breaker = CircuitBreaker::new(&settings, state);
        let stop = CancellationToken::new();
        let upstream = Arc::new(Upstream {
            connector: Connector::new(settings.clone(), launcher, stop.clone()),
            pool: ConnectionPool::new(settings.most_sessions, known),
            settings,
            health: Mutex::default(),
            changed,
            debouncer: Arc::default(),
            breaker,
            tracer,
            stop,
        });
        tokio::spawn(sweep(Arc::downgrade(&upstream)));
        upstream
    }

    pub(crate) fn name(&self) -> &str {
        &self.settings.name
    }

    pub(crate) fn state(&self) -> UpstreamStatus {
        let circuit_open = self.health().open_until.is_some_and(|until| Instant::now() < until);
        match self.pool.state() {
            UpstreamStatus::Idle if circuit_open => UpstreamStatus::Down,
            state => state,
        }
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A live connection, opened now if necessary. Concurrent callers wait for the same start.
    pub(crate) async fn connection(self: &Arc<Self>, cx: &Context) -> Result<Arc<UpstreamConnection>, Fault> {
        Ok(self.acquire(cx).await?.connection)
    }

    pub(crate) async fn acquire(self: &Arc<Self>, cx: &Context) -> Result<PooledConnection, Fault> {
        let slot = self.pool.slot(cx)?;
        slot.touch();
        if let Some(connection) = slot.alive() {
            connection.channel.users().record_use(cx);
            return Ok(PooledConnection { slot, connection });
        }
        // In a task of its own: a caller that gives up must not abort a start that others wait for.
        let (upstream, of) = (self.clone(), cx.clone());
        let connecting = tokio::spawn(async move { upstream.connect(slot, &of).await });
        let PooledConnection { slot, connection } = connecting.await.or_fault(&reason::SERVER_BUG)??;
        connection.channel.users().record_use(cx);
        Ok(PooledConnection { slot, connection })
    }

    async fn connect(&self, slot: Arc<ConnectionSlot>, cx: &Context) -> Result<PooledConnection, Fault> {
        let mut slot = slot;
        loop {
            if let Some(connection) = self.connect_at(&slot, cx).await? {
                return Ok(PooledConnection { slot, connection });
            }
            // The handshake showed that connections belong in other slots.
            slot = self.pool.slot(cx)?;
        }
    }

    async fn connect_at(
        &self,
        slot: &Arc<ConnectionSlot>,
        cx: &Context,
    ) -> Result<Option<Arc<UpstreamConnection>>, Fault> {
        let since = Instant::now();
        let mut starts = slot.lock_starts().await;
        if let Some(connection) = slot.alive() {
            return Ok(Some(connection));
        }
        if !self.pool.owns(slot) {
            return Ok(None);
        }
        slot.set(None, &mut starts);
        let known = self.may_start(since)?;
        self.breaker.check().await?;
        starts.may_start(&self.settings, Instant::now())?;
        self.counters().start();
        let started = self.connector.start(known, cx, self.change_notifier(cx)).await;
        let connection = match started {
            Ok(connection) => connection,
            Err(fault) => {
                let wait = self.health().failed(&fault);
                self.breaker.open(wait).await;
                let is_late = *fault.reason() == reason::GATEWAY_UPSTREAM_STARTING;
                return Err(if is_late { fault.retry_as(Retry::After(wait)) } else { fault });
            }
        };
        *self.health() = Health {
            known: Some(connection.known(&self.settings)),
            instructions: connection.handshake.instructions.clone(),
            ..Health::default()
        };
        connection.renew(slot).await;
        let sharing = connection.sharing(&self.settings);
        let kept = self.pool.place(slot, connection, sharing, cx).await;
        slot.set(kept.clone(), &mut starts);
        Ok(kept)
    }

    /// The detected protocol, or a fault during back-off. A caller that waited for the failed start gets that start's
    /// timeout.
    fn may_start(&self, since: Instant) -> Result<Option<DetectedProtocol>, Fault> {
        let health = self.health();
        let now = Instant::now();
        match health.open_until.filter(|until| *until > now) {
            Some(until) if health.late.is_some_and(|late| late >= since) => {
                Err(self.settings.start_exceeded().retry_as(Retry::After(until - now)))
            }
            Some(until) => Err(circuit_open(until - now)),
            None => Ok(health.known),
        }
    }

    /// How changes reported on a connection of this caller are announced.
    fn change_notifier(&self, cx: &Context) -> impl Fn(Event) + Clone + Send + 'static {
        let (pool, changed, debouncer) = (self.pool.clone(), self.changed.clone(), self.debouncer.clone());
        let party = Arc::new(cx.party());
        move |event: Event| match event.kind() {
            _ if !pool.is_per_caller() => changed(event, None),
            // Only the party that subscribed is notified.
            Event::ResourceUpdated(_) => changed(event, Some(party.clone())),
            // Every session reports a changed list, so equal reports are merged.
            _ => debouncer.notify(event, &changed),
        }
    }

    /// Records a subscription, so that it is restored on the next connection.
    pub(crate) async fn add_watch(self: &Arc<Self>, uri: &str, cx: &Context) -> Result<WatchOutcome, Fault> {
        let slot = self.acquire(cx).await?.slot;
        let by = cx.watcher();
        let watched = slot.watch(uri, by)?;
        // Subscriptions of a session end with it.
        let ended = cx.end_of_session().filter(|_| matches!(by, Watcher::Session(_)));
        if let Some(ended) = ended.filter(|_| slot.begin_following(by)).cloned() {
            let left = slot.released().clone();
            tokio::spawn(async move {
                tokio::select! {
                    () = left.cancelled() => {}
                    () = ended.cancelled() => slot.unwatch_all(by),
                }
            });
        }
        Ok(watched)
    }

    pub(crate) fn unwatch(&self, uri: &str, cx: &Context) {
        if let Some(slot) = self.pool.existing_slot(cx) {
            slot.unwatch(uri, cx.watcher());
        }
    }

    /// The subscriber may have left while the upstream was asked: then unsubscribes.
    pub(crate) fn drop_unused_watch(&self, uri: &str, cx: &Context) {
        if let Some(slot) = self.pool.existing_slot(cx) {
            slot.drop_unused_watch(uri);
        }
    }

    pub(crate) fn existing_connection(&self, cx: &Context) -> Option<Arc<UpstreamConnection>> {
        self.pool.existing_slot(cx)?.alive()
    }

    /// Checks in the background whether the upstream still answers.
    pub(crate) fn check_liveness(&self, cx: &Context) {
        if let Some(connection) = self.existing_connection(cx) {
            connection.check_liveness(self.settings.timeout);
        }
    }

    /// Notifies a session-era upstream that asked this client for its roots.
    pub(crate) fn roots_changed(&self, cx: &Context) {
        let connection = self.existing_connection(cx).filter(|connection| connection.era() == Era::Session);
        let Some(connection) = connection.filter(|known| known.channel.users().roots_changed_by(cx)) else {
            return;
        };
        tokio::spawn(
            async move { connection.channel.notify("notifications/roots/list_changed", "{}").await },
        );
    }

    /// Its instructions, if known and if callers may read them.
    pub(crate) fn instructions(&self) -> Option<Arc<str>> {
        self.health().instructions.clone().filter(|_| self.settings.instructions)
    }

    /// Stops after the last call in flight, at the latest when all timeouts have passed.
    pub(crate) fn retire(
        self: &Arc<Self>,
        end: CancellationToken,
    ) -> impl Future<Output = ()> + Send + use<> {
        let patience = self.settings.start_timeout + self.settings.timeout;
        let upstream = Arc::downgrade(self);
        async move {
            let _ = tokio::time::timeout(patience, end.cancelled()).await;
            if let Some(upstream) = upstream.upgrade() {
                upstream.stop();
            }
        }
    }

    pub(crate) fn counters(&self) -> &UpstreamCounters {
        &self.connector.counters
    }

    pub(crate) fn sessions(&self) -> usize {
        self.pool.sessions()
    }

    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn sweep(upstream: std::sync::Weak<Upstream>) {
    loop {
        let Some(idle) = upstream.upgrade().map(|upstream| upstream.settings.idle_stop) else { return };
        tokio::time::sleep(idle.map_or(SWEEP, |idle| idle.min(SWEEP))).await;
        let Some(upstream) = upstream.upgrade() else { return };
        upstream.pool.sweep(idle);
    }
}
