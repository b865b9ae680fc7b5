//! One upstream: started when needed, watched over, started again within a budget.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use failwell_fault::{Effect, Fact, Fault, OrFault, Retry, reason};
use failwell_process::Launcher;
use failwell_rpc::{Era, Json};
use failwell_server::{Context, Event, Party, SharedState, Watcher};
use tokio_util::sync::CancellationToken;

use crate::calm::Calm;
pub(crate) use crate::connection::Connection;
use crate::connection::{Known, Starter};
use crate::link::Link;
use crate::params::{Onto, Params};
use crate::pool::Pool;
use crate::relay::Relay;
use crate::rests::{Rests, never_alike};
use crate::said::Said;
use crate::seat::{Seat, State, Watched, resting};
use crate::settings::{Reach, Sharing, UpstreamSettings};
use crate::step::Step;
use crate::tally::Tally;

/// The longest rest after repeated failures.
const LONGEST_REST: Duration = Duration::from_secs(30);
/// How often seats nobody uses are looked for.
const SWEEP: Duration = Duration::from_secs(5);

/// Who hears of changes: everybody, or one party.
pub(crate) type Changed = dyn Fn(Event, Option<Arc<Party>>) + Send + Sync;

/// A server behind the gateway.
pub(crate) struct Upstream {
    pub(crate) settings: Arc<UpstreamSettings>,
    starter: Starter,
    pool: Arc<Pool>,
    health: Mutex<Health>,
    changed: Arc<Changed>,
    calm: Arc<Calm>,
    rests: Rests,
    stop: CancellationToken,
}

/// A connection, and where it is kept.
pub(crate) type Seated = (Arc<Seat>, Arc<Connection>);

/// A request to an upstream.
#[derive(Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: &'a Params,
    /// What it goes out on, where that was found already.
    pub(crate) on: Option<&'a Seated>,
    /// The client that may be asked while it runs.
    pub(crate) relay: Option<&'a Relay>,
    pub(crate) progress: Progress,
}

/// Whether the client hears how far a request is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    Told,
    Untold,
}

impl<'a> Ask<'a> {
    /// A request nobody hears of before it is answered.
    pub(crate) fn of(method: &'a str, params: &'a Params) -> Ask<'a> {
        Ask { method, params, on: None, relay: None, progress: Progress::Untold }
    }

    /// A request whose connection was just found.
    pub(crate) fn on(self, on: Option<&'a Seated>) -> Ask<'a> {
        Ask { on, ..self }
    }

    /// A request whose client is asked and told things while it runs.
    pub(crate) fn relayed(self, relay: &'a Relay) -> Ask<'a> {
        Ask { relay: Some(relay), progress: Progress::Told, ..self }
    }
}

/// How it went lately, whoever asked.
#[derive(Default)]
struct Health {
    failures: u32,
    rest_until: Option<Instant>,
    /// When a start last took too long.
    late: Option<Instant>,
    known: Option<Known>,
    /// How it last said it is to be used.
    instructions: Option<Arc<str>>,
}

impl Upstream {
    pub(crate) fn new(
        settings: UpstreamSettings,
        launcher: Launcher,
        changed: Arc<Changed>,
        state: Arc<dyn SharedState>,
    ) -> Arc<Upstream> {
        let settings = Arc::new(settings);
        let is_child = matches!(settings.reach, Reach::Child { .. });
        let sharing = settings.sharing.or(is_child.then_some(Sharing::Shared));
        // Over HTTP it takes sessions to have one each, which is found out.
        let known = sharing.filter(|sharing| is_child || *sharing == Sharing::Shared);
        let rests = Rests::of(&settings, state);
        let stop = CancellationToken::new();
        let upstream = Arc::new(Upstream {
            starter: Starter::new(settings.clone(), launcher, stop.clone()),
            pool: Pool::new(settings.most_sessions, known),
            settings,
            health: Mutex::default(),
            changed,
            calm: Arc::default(),
            rests,
            stop,
        });
        tokio::spawn(sweep(Arc::downgrade(&upstream)));
        upstream
    }

    /// The name its tools are prefixed with.
    pub(crate) fn name(&self) -> &str {
        &self.settings.name
    }

    /// How it is doing.
    pub(crate) fn state(&self) -> State {
        let resting = self.health().rest_until.is_some_and(|until| Instant::now() < until);
        match self.pool.state() {
            State::Idle if resting => State::Down,
            state => state,
        }
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection that works, started now if there is none. Whoever comes while it starts waits for it.
    pub(crate) async fn connection(self: &Arc<Self>, cx: &Context) -> Result<Arc<Connection>, Fault> {
        Ok(self.seated(cx).await?.1)
    }

    pub(crate) async fn seated(self: &Arc<Self>, cx: &Context) -> Result<Seated, Fault> {
        let seat = self.pool.seat(cx)?;
        seat.touch();
        if let Some(connection) = seat.alive() {
            connection.link.patrons().visit(cx);
            return Ok((seat, connection));
        }
        // Beside whoever asks: one who loses patience must not undo a start others wait for.
        let (upstream, of) = (self.clone(), cx.clone());
        let connecting = tokio::spawn(async move { upstream.connect(seat, &of).await });
        let (seat, connection) = connecting.await.or_fault(&reason::SERVER_BUG)??;
        connection.link.patrons().visit(cx);
        Ok((seat, connection))
    }

    async fn connect(&self, seat: Arc<Seat>, cx: &Context) -> Result<Seated, Fault> {
        let mut seat = seat;
        loop {
            if let Some(connection) = self.connect_at(&seat, cx).await? {
                return Ok((seat, connection));
            }
            // It turned out that connections are kept elsewhere.
            seat = self.pool.seat(cx)?;
        }
    }

    async fn connect_at(&self, seat: &Arc<Seat>, cx: &Context) -> Result<Option<Arc<Connection>>, Fault> {
        let since = Instant::now();
        let mut starts = seat.replacing().await;
        if let Some(connection) = seat.alive() {
            return Ok(Some(connection));
        }
        if !self.pool.uses(seat) {
            return Ok(None);
        }
        seat.put(None, &mut starts);
        let known = self.may_start(since)?;
        self.rests.check().await?;
        starts.may_start(&self.settings, Instant::now())?;
        self.tally().start();
        let started = self.starter.start(known, cx, self.telling(cx)).await;
        let connection = match started {
            Ok(connection) => connection,
            Err(fault) => {
                let wait = self.health().failed(&fault);
                self.rests.tell(wait).await;
                let is_late = *fault.reason() == reason::GATEWAY_UPSTREAM_STARTING;
                return Err(if is_late { fault.retry_as(Retry::After(wait)) } else { fault });
            }
        };
        *self.health() = Health {
            known: Some(connection.known(&self.settings)),
            instructions: connection.introduction.instructions.clone(),
            ..Health::default()
        };
        connection.renew(seat).await;
        let sharing = connection.sharing(&self.settings);
        let kept = self.pool.settle(seat, connection, sharing, cx).await;
        seat.put(kept.clone(), &mut starts);
        Ok(kept)
    }

    /// What is known about it, unless it failed too often lately. A caller that waited for a start which took too long
    /// is told so.
    fn may_start(&self, since: Instant) -> Result<Option<Known>, Fault> {
        let health = self.health();
        let now = Instant::now();
        match health.rest_until.filter(|until| *until > now) {
            Some(until) if health.late.is_some_and(|late| late >= since) => {
                Err(self.settings.start_exceeded().retry_as(Retry::After(until - now)))
            }
            Some(until) => Err(resting(until - now)),
            None => Ok(health.known),
        }
    }

    /// How changes said on a connection of this request's are told.
    fn telling(&self, cx: &Context) -> impl Fn(Event) + Clone + Send + 'static {
        let (pool, changed, calm) = (self.pool.clone(), self.changed.clone(), self.calm.clone());
        let party = Arc::new(cx.party());
        move |event: Event| match event.kind() {
            _ if !pool.is_per_caller() => changed(event, None),
            // Whose session watches a resource is the one to hear of it.
            Event::ResourceUpdated(_) => changed(event, Some(party.clone())),
            // Every session says so when a list changed, but everybody needs to hear it only once.
            _ => calm.tell(event, &changed),
        }
    }

    /// Notes that a resource is watched, so that it is watched again after the connection was replaced.
    pub(crate) async fn note_watch(self: &Arc<Self>, uri: &str, cx: &Context) -> Result<Watched, Fault> {
        let (seat, _) = self.seated(cx).await?;
        let by = cx.watcher();
        let watched = seat.watch(uri, by)?;
        // A subscription is given back by whoever made it.
        let ended = cx.end_of_session().filter(|_| matches!(by, Watcher::Session(_)));
        if let Some(ended) = ended.filter(|_| seat.begin_following(by)).cloned() {
            let left = seat.left().clone();
            tokio::spawn(async move {
                tokio::select! {
                    () = left.cancelled() => {}
                    () = ended.cancelled() => seat.unwatch_all(by),
                }
            });
        }
        Ok(watched)
    }

    /// A resource is watched no more by this client.
    pub(crate) fn unwatch(&self, uri: &str, cx: &Context) {
        if let Some(seat) = self.pool.taken(cx) {
            seat.unwatch(uri, cx.watcher());
        }
    }

    /// The upstream was asked to tell of a resource, and whoever wanted it may have given it up meanwhile.
    pub(crate) fn unwatch_unwanted(&self, uri: &str, cx: &Context) {
        if let Some(seat) = self.pool.taken(cx) {
            seat.unwatch_unwanted(uri);
        }
    }

    /// One request, which is a step of its caller's trace where traces are kept.
    pub(crate) async fn request(self: &Arc<Self>, cx: &Context, ask: &Ask<'_>) -> Result<Json, Fault> {
        let step = cx.trace().map(|trace| Step::begin(cx, trace, &self.settings, ask));
        let began = Instant::now();
        let asked = self.attempt(cx, ask, step.as_ref()).await;
        self.tally().answered(began.elapsed(), asked.as_ref().map(|_| ()));
        if let Some(step) = step {
            step.end(asked.as_ref());
        }
        asked
    }

    /// Tried again only when it provably never left.
    async fn attempt(
        self: &Arc<Self>,
        cx: &Context,
        ask: &Ask<'_>,
        step: Option<&Step>,
    ) -> Result<Json, Fault> {
        let Ask { method, params, on, relay, progress } = *ask;
        let trace = step.and_then(Step::trace);
        let mut tries = 0;
        loop {
            tries += 1;
            let (seat, connection) = match on.filter(|_| tries == 1) {
                Some(found) => found.clone(),
                None => self.seated(cx).await?,
            };
            if let Some(wanted) = cx.chosen_log_level() {
                // Rare and large, so kept apart: what every call is made of stays small.
                Box::pin(connection.want_level(wanted, &seat, self.pool.sharing())).await;
            }
            let deadline = tokio::time::Instant::now() + self.settings.timeout;
            let write = |number, out: &mut String| {
                let progress = (progress == Progress::Told).then_some(number);
                params.write(out, &Onto { connection: &connection, progress, trace }, cx);
            };
            // Whoever waits in line behind an upstream that does not read has asked for nothing yet.
            let link = &connection.link;
            let sent = link.send_within(self.settings.timeout, trace, method, write, relay.cloned()).await;
            let pending = match sent.unwrap_or_else(|| Err(self.late(&connection, Effect::None))) {
                Err(fault) if tries < 2 && connection.link.is_down() => {
                    drop(fault);
                    continue;
                }
                Err(fault) => return Err(fault),
                Ok(pending) => pending,
            };
            if let Some(step) = step {
                step.left(pending.number, connection.introduction.revision);
            }
            // Dropped before the answer came, the upstream is told that nobody waits for it.
            let mut unwanted = Unwanted { link: &connection.link, number: Some(pending.number) };
            let answer = tokio::time::timeout_at(deadline, pending.answer).await;
            let Ok(answer) = answer else { return Err(self.late(&connection, Effect::Unknown)) };
            unwanted.number = None;
            match answer {
                // It never left, or reached somebody who does not know us any more.
                Err(fault) if tries < 2 && fault.effect() == Effect::None && connection.link.is_down() => {}
                answer => return self.result(answer?),
            }
        }
    }

    /// The connection of this request, if there is one already.
    pub(crate) fn made(&self, cx: &Context) -> Option<Arc<Connection>> {
        self.pool.taken(cx)?.alive()
    }

    /// Finds out, beside everything else, whether the other side is there at all.
    pub(crate) fn examine(&self, cx: &Context) {
        if let Some(connection) = self.made(cx) {
            connection.examine(self.settings.timeout);
        }
    }

    /// The roots of a client are others now: told to an upstream of the session era that asked for them, and that this
    /// client uses.
    pub(crate) fn roots_changed(&self, cx: &Context) {
        let connection = self.made(cx).filter(|connection| connection.era() == Era::Session);
        let Some(connection) = connection.filter(|known| known.link.patrons().change_roots(cx)) else {
            return;
        };
        tokio::spawn(async move { connection.link.tell("notifications/roots/list_changed", "{}").await });
    }

    /// How it says it is to be used, where callers may read it and it was ever asked.
    pub(crate) fn instructions(&self) -> Option<Arc<str>> {
        self.health().instructions.clone().filter(|_| self.settings.instructions)
    }

    fn late(&self, connection: &Connection, effect: Effect) -> Fault {
        connection.examine(self.settings.timeout);
        self.settings.answer_limit().exceeded().with_effect(effect)
    }

    /// Nobody new comes: it ends with the last call in flight, and at the latest when every one of them had its time.
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

    /// The result, or the fault a caller gets for an error, with as much of its words as the operator allows.
    fn result(&self, said: Said) -> Result<Json, Fault> {
        let excerpt = if self.settings.trusted_errors { said.excerpt() } else { None };
        said.result().map_err(|fault| match excerpt {
            Some(excerpt) => fault.with_excerpt(excerpt),
            None => fault,
        })
    }

    /// What is counted about it.
    pub(crate) fn tally(&self) -> &Tally {
        &self.starter.tally
    }

    /// How many callers have a session of their own with it.
    pub(crate) fn sessions(&self) -> usize {
        self.pool.sessions()
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

impl Health {
    fn failed(&mut self, fault: &Fault) -> Duration {
        self.failures += 1;
        self.known = None;
        if *fault.reason() == reason::GATEWAY_UPSTREAM_STARTING {
            self.late = Some(Instant::now());
        }
        let wait = rest(self.failures).max(asked_for(fault));
        self.rest_until = Some(Instant::now() + wait);
        wait
    }
}

/// Longer after every failure, and never the same for two upstreams.
fn rest(failures: u32) -> Duration {
    let doubled = Duration::from_millis(250) * 2u32.saturating_pow(failures.min(10).saturating_sub(1));
    never_alike(doubled.min(LONGEST_REST))
}

/// How long an upstream that refused us asked us to stay away.
fn asked_for(fault: &Fault) -> Duration {
    match (fault.get("status"), fault.retry()) {
        (Some(Fact::Unsigned(429 | 503)), Retry::After(wait)) => wait.min(LONGEST_REST),
        _ => Duration::ZERO,
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
