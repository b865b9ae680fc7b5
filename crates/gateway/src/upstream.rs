//! One upstream server: connected on first use, supervised, and restarted within a budget.

mod circuit_breaker;
mod client;
mod connection;
mod connection_pool;
mod counters;
mod debouncer;
mod health;
mod lifecycle;
pub(crate) mod metrics;
mod params;
mod request;
mod response;
mod settings;
mod span;
mod subscriptions;
mod time_limit;

use std::iter;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use failwell_fault::{Fault, OrFault, Retry, reason};
use failwell_pipeline::SharedState;
use failwell_pipeline::Tracer;
use failwell_process::Launcher;
use failwell_rpc::Era;
use failwell_toolbox::{CallerSession, Context, Event, ServerFeatures};
use parking_lot::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

pub(crate) use self::client::{ClientQuestion, ClientRelay};
pub(crate) use self::connection::handshake::{ALL_FEATURES, PROBE};
pub(crate) use self::connection::http::header_params;
pub(crate) use self::connection_pool::PooledConnection;
pub(crate) use self::params::{RequestParams, SendContext};
pub(crate) use self::request::UpstreamRequest;
pub(crate) use self::response::{ParsedResult, RequestError, UpstreamResponse, invalid_response};
pub(crate) use self::subscriptions::WatchOutcome;

use self::circuit_breaker::CircuitBreaker;
use self::connection::{Connector, DetectedProtocol, StartError, UpstreamConnection};
use self::connection_pool::{ConnectionPool, ConnectionSlot, UpstreamStatus, circuit_open};
use self::counters::UpstreamCounters;
use self::debouncer::Debouncer;
use self::health::Health;
use self::lifecycle::{ObserverSlot, UpstreamLifecycle};

pub use self::lifecycle::{ServerChange, ServerEvent, ServerFailure, ServerKind};
pub use self::settings::{
    ClientCredentials, Endpoint, HttpTransport, RestartBudget, SessionSharing, UpstreamSettings,
};

/// How often idle slots are released.
const SWEEP: Duration = Duration::from_secs(5);

/// Receives changes: for all clients, or for one party.
pub(crate) type ChangeListener = dyn Fn(Event, Option<Arc<CallerSession>>) + Send + Sync;

/// Services that the upstreams of one gateway share.
#[derive(Clone)]
pub(crate) struct UpstreamServices {
    pub(crate) launcher: Launcher,
    pub(crate) state: Arc<dyn SharedState>,
    /// Where the spans of requests end; set once, after the gateway was built.
    pub(crate) tracer: Arc<OnceLock<Tracer>>,
    pub(crate) observer: ObserverSlot,
}

/// An upstream with one connection pool per protocol era. An HTTP server that speaks both eras is called in the era
/// of each client, which needs no translation.
pub(crate) struct DualEraUpstream {
    settings: UpstreamSettings,
    /// Both eras are one server for the operator.
    life: Arc<UpstreamLifecycle>,
    modern: Arc<Upstream>,
    /// `None` for a child: one process has one state.
    session: Option<Arc<Upstream>>,
}

impl DualEraUpstream {
    pub(crate) fn new(
        settings: UpstreamSettings,
        changed: Arc<ChangeListener>,
        services: &UpstreamServices,
    ) -> Arc<DualEraUpstream> {
        let is_child = matches!(settings.endpoint, Endpoint::Child { .. });
        let has_two = !is_child && settings.transport != HttpTransport::Sse && settings.first_era.is_none();
        let life = UpstreamLifecycle::new(&settings, services.observer.clone());
        let session = has_two.then(|| {
            let settings = UpstreamSettings { first_era: Some(Era::Session), ..settings.clone() };
            Upstream::new(settings, changed.clone(), life.clone(), services.clone())
        });
        let modern = Upstream::new(settings.clone(), changed, life.clone(), services.clone());
        Arc::new(DualEraUpstream { settings, life, modern, session })
    }

    pub(crate) fn settings(&self) -> &UpstreamSettings {
        &self.settings
    }

    pub(crate) fn lifecycle(&self) -> &UpstreamLifecycle {
        &self.life
    }

    pub(crate) fn name(&self) -> &str {
        self.modern.name()
    }

    /// The upstream in the era of this client.
    pub(crate) fn for_client(&self, cx: &Context) -> &Arc<Upstream> {
        match cx.client().revision.era() {
            Era::Session => self.session.as_ref().unwrap_or(&self.modern),
            Era::Modern => &self.modern,
        }
    }

    pub(crate) fn generation(&self) -> u64 {
        self.all().map(|upstream| upstream.counters().ends()).sum()
    }

    /// The era in which this client is served, if there are two; otherwise empty.
    pub(crate) fn era_name(&self, cx: &Context) -> &'static str {
        match (&self.session, cx.client().revision.era()) {
            (None, _) => "",
            (Some(_), Era::Session) => "session",
            (Some(_), Era::Modern) => "modern",
        }
    }

    pub(crate) fn is_up(&self) -> bool {
        self.state() == UpstreamStatus::Up
    }

    /// The better status of the two. One whose last start failed is down, also when no caller has tried since.
    pub(crate) fn state(&self) -> UpstreamStatus {
        let states: Vec<UpstreamStatus> = self.all().map(|upstream| upstream.state()).collect();
        let order = [UpstreamStatus::Up, UpstreamStatus::Starting, UpstreamStatus::Down];
        let best = order.into_iter().find(|state| states.contains(state));
        let resting = if self.life.has_failed() { UpstreamStatus::Down } else { UpstreamStatus::Idle };
        best.unwrap_or(resting)
    }

    pub(crate) fn sessions(&self) -> usize {
        self.all().map(|upstream| upstream.sessions()).sum()
    }

    /// What it said that it offers, in the era that was connected last.
    pub(crate) fn known_offers(&self) -> Option<ServerFeatures> {
        self.all().find_map(|upstream| upstream.known_offers())
    }

    /// Whether to log a fault: once for both eras.
    pub(crate) fn is_worth_reporting(&self, fault: &Fault) -> bool {
        self.modern.counters().is_worth_reporting(fault)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Upstream>> {
        iter::once(&self.modern).chain(&self.session)
    }

    /// Stops each era after its last call in flight.
    pub(crate) fn retire(&self, end: &CancellationToken) {
        for upstream in self.all() {
            tokio::spawn(upstream.retire(end.clone()));
        }
    }

    /// The next start is for no caller.
    pub(crate) fn expect_unattended_start(&self) {
        self.all().for_each(|upstream| upstream.expect_unattended_start());
    }

    pub(crate) fn stop(&self) {
        self.all().for_each(|upstream| upstream.stop());
    }
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
        life: Arc<UpstreamLifecycle>,
        services: UpstreamServices,
    ) -> Arc<Upstream> {
        let settings = Arc::new(settings);
        let is_child = matches!(settings.endpoint, Endpoint::Child { .. });
        let sharing = settings.sharing.or(is_child.then_some(SessionSharing::Shared));
        // Over HTTP, the handshake shows whether the server keeps sessions.
        let known = sharing.filter(|sharing| is_child || *sharing == SessionSharing::Shared);
        let UpstreamServices { launcher, state, tracer, .. } = services;
        let breaker = CircuitBreaker::new(&settings, state);
        let stop = CancellationToken::new();
        let upstream = Arc::new(Upstream {
            connector: Connector::new(settings.clone(), launcher, life, stop.clone()),
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
        self.health.lock()
    }

    /// A live connection, opened now if necessary. Concurrent callers wait for the same start.
    pub(crate) async fn connection(self: &Arc<Self>, cx: &Context) -> Result<Arc<UpstreamConnection>, Fault> {
        Ok(self.acquire(cx).await?.connection)
    }

    pub(crate) async fn acquire(self: &Arc<Self>, cx: &Context) -> Result<PooledConnection, Fault> {
        let slot = self.pool.slot(cx)?;
        slot.touch();
        if let Some(connection) = slot.alive()
            && connection.channel.is_usable().await
        {
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
        let mut starts = slot.lock_starts().await;
        if let Some(connection) = slot.alive() {
            return Ok(Some(connection));
        }
        if !self.pool.owns(slot) {
            return Ok(None);
        }
        slot.set(None, &mut starts);
        let known = self.may_start()?;
        self.breaker.check().await?;
        let is_counted = !self.health().unattended;
        if is_counted {
            starts.may_start(&self.settings, Instant::now())?;
        }
        self.counters().start();
        let started = self.connector.start(known, cx, self.change_notifier(cx)).await;
        let connection = match started {
            Ok(connection) => connection,
            Err(error) => {
                let wait = self.health().failed(&error);
                self.breaker.open(wait).await;
                return Err(match error {
                    StartError::Late(fault) => fault.retry_as(Retry::After(wait)),
                    StartError::Failed { fault, .. } => fault,
                });
            }
        };
        *self.health() = Health {
            known: Some(connection.known(&self.settings)),
            instructions: connection.handshake.instructions.clone(),
            offers: Some(connection.handshake.offers),
            ..Health::default()
        };
        connection.renew(slot).await;
        let sharing = connection.sharing(&self.settings);
        let kept = self.pool.place(slot, connection, sharing, cx).await;
        slot.set(kept.clone(), &mut starts);
        Ok(kept)
    }

    /// The detected protocol, or a fault during back-off. After a start that took too long, callers are told so.
    fn may_start(&self) -> Result<Option<DetectedProtocol>, Fault> {
        let health = self.health();
        let now = Instant::now();
        match health.open_until.filter(|until| *until > now) {
            Some(until) if health.late.is_some() => {
                Err(self.settings.start_exceeded().retry_as(Retry::After(until - now)))
            }
            Some(until) => Err(circuit_open(until - now)),
            None => Ok(health.known),
        }
    }

    /// How changes reported on a connection of this caller are announced.
    fn change_notifier(&self, cx: &Context) -> impl Fn(Event) + Clone + Send + 'static {
        let (pool, changed, debouncer) = (self.pool.clone(), self.changed.clone(), self.debouncer.clone());
        let caller_session = Arc::new(cx.caller_session());
        move |event: Event| match event.kind() {
            _ if !pool.is_per_caller() => changed(event, None),
            // Only the party that subscribed is notified.
            Event::ResourceUpdated(_) => changed(event, Some(caller_session.clone())),
            // Every session reports a changed list, so equal reports are merged.
            _ => debouncer.notify(event, &changed),
        }
    }

    pub(crate) fn existing_connection(&self, cx: &Context) -> Option<Arc<UpstreamConnection>> {
        self.pool.existing_slot(cx)?.alive()
    }

    /// Checks in the background whether the upstream still answers.
    pub(crate) fn check_liveness(&self, cx: &Context) {
        if let Some(connection) = self.existing_connection(cx) {
            connection.check_liveness(&self.settings);
        }
    }

    /// The next start is for no caller, so its failure is no reason to back off.
    pub(crate) fn expect_unattended_start(&self) {
        self.health().unattended = true;
    }

    /// What it offered in its last handshake.
    pub(crate) fn known_offers(&self) -> Option<ServerFeatures> {
        self.health().offers
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
