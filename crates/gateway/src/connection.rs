//! One connection to an upstream, from the first word to the last.

use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, Retry, reason};
use failwell_process::Launcher;
use failwell_rpc::Era;
use failwell_server::{Context, Event, LogLevel, Offered};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::introduction::{Introduction, declared, initialize, introduce};
use crate::link::Link;
use crate::params::plain_meta;
use crate::seat::Seat;
use crate::settings::{Reach, Sharing, UpstreamSettings, Wire};
use crate::tally::Tally;
use crate::token::Tokens;
use crate::{child, http, pulse, sse};

/// How long what is said beside the callers' requests may take.
const ASIDE: Duration = Duration::from_secs(5);

/// A connection that has been introduced.
pub(crate) struct Connection {
    pub(crate) link: Link,
    pub(crate) introduction: Introduction,
    stop: CancellationToken,
}

/// What was found out about an upstream, and is believed until it fails.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    era: Option<Era>,
    wire: Wire,
}

/// What it takes to make connections.
pub(crate) struct Starter {
    settings: Arc<UpstreamSettings>,
    launcher: Launcher,
    repeated: Arc<http::Repeated>,
    tokens: Option<Arc<Tokens>>,
    pub(crate) tally: Arc<Tally>,
    stop: CancellationToken,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Connection {
    pub(crate) fn era(&self) -> Era {
        self.introduction.revision.era()
    }

    pub(crate) fn known(&self, settings: &UpstreamSettings) -> Known {
        let is_remote = matches!(settings.reach, Reach::Http { .. });
        let wire = match &self.link {
            Link::Child(_) if is_remote => Wire::Events,
            _ => settings.wire,
        };
        Known { era: Some(self.era()), wire }
    }

    /// Who may use it. Where there is no session, there is nothing to have of one's own.
    pub(crate) fn sharing(&self, settings: &UpstreamSettings) -> Sharing {
        let is_remote = matches!(settings.reach, Reach::Http { .. });
        match &self.link {
            Link::Remote(peer) if !peer.has_session() => Sharing::Shared,
            Link::Child(_) if !is_remote => settings.sharing.unwrap_or(Sharing::Shared),
            _ => settings.sharing.unwrap_or(Sharing::PerCaller),
        }
    }

    /// A call timed out: finds out, beside everything else, whether the other side is there at all.
    pub(crate) fn examine(&self, patience: Duration) {
        pulse::examine(&self.link, self.era(), patience, &self.stop);
    }

    /// Says again what was asked of the connection before this one.
    pub(crate) async fn renew(&self, seat: &Seat) {
        if let Some(level) = seat.level() {
            self.set_level(level).await;
        }
        let watched = seat.watched();
        join_all(watched.iter().map(|uri| self.watch_again(uri))).await;
    }

    async fn watch_again(&self, uri: &str) {
        match self.era() {
            Era::Session => self.aside("resources/subscribe", json!({"uri": uri})).await,
            Era::Modern => {
                let wanted = json!({"resourceSubscriptions": [uri]});
                let params = json!({"notifications": wanted, "_meta": plain_meta()});
                let _ = self.link.watch(uri, params.to_string()).await;
            }
        }
    }

    /// Nobody watches these any more.
    pub(crate) fn unwatch(self: &Arc<Self>, uris: Vec<String>) {
        match self.era() {
            Era::Modern => uris.iter().for_each(|uri| self.link.unwatch(uri)),
            Era::Session if uris.is_empty() => {}
            Era::Session => {
                let connection = self.clone();
                tokio::spawn(async move {
                    let telling =
                        uris.iter().map(|uri| connection.aside("resources/unsubscribe", json!({"uri": uri})));
                    join_all(telling).await;
                });
            }
        }
    }

    /// Has the upstream log as much as is wanted. In the modern era every request says so itself.
    pub(crate) async fn want_level(&self, wanted: LogLevel, seat: &Seat, sharing: Sharing) {
        let can_log = self.era() == Era::Session && self.introduction.logging == Offered::Yes;
        if let Some(level) = seat.level_for(wanted, sharing).filter(|_| can_log) {
            self.set_level(level).await;
        }
    }

    async fn set_level(&self, level: LogLevel) {
        if self.era() == Era::Session && self.introduction.logging == Offered::Yes {
            self.aside("logging/setLevel", json!({"level": level.as_str()})).await;
        }
    }

    /// A request of our own. If it fails, so do the requests of callers, and they are told.
    async fn aside(&self, method: &str, params: Value) {
        let Ok(pending) = self.link.send(method, |_, out| out.push_str(&params.to_string()), None).await
        else {
            return;
        };
        if tokio::time::timeout(ASIDE, pending.answer).await.is_err() {
            self.link.forget(pending.number);
        }
    }
}

impl Starter {
    pub(crate) fn new(
        settings: Arc<UpstreamSettings>,
        launcher: Launcher,
        stop: CancellationToken,
    ) -> Starter {
        let tokens = Tokens::of(&settings).map(Arc::new);
        Starter { settings, launcher, repeated: Arc::default(), tokens, tally: Arc::default(), stop }
    }

    /// A new connection for this request, and for whoever will share it.
    pub(crate) async fn start(
        &self,
        known: Option<Known>,
        cx: &Context,
        changed: impl Fn(Event) + Clone + Send + 'static,
    ) -> Result<Arc<Connection>, Fault> {
        let strays = self.tally.strays();
        let stop = self.stop.child_token();
        // Whatever goes wrong from here on, what was started is stopped.
        let undo = stop.clone().drop_guard();
        let starting = async {
            let (link, introduction) = self.reach(known, cx, &stop, changed).await?;
            link.listen(introduction.revision.era()).await?;
            Ok(Connection { link, introduction, stop: stop.clone() })
        };
        let started = tokio::time::timeout(self.settings.start_timeout, starting).await;
        let late = |_| self.settings.start_exceeded();
        let with_strays = |fault: Fault| match self.tally.strays() - strays {
            0 => fault,
            count => fault.note("start", format!("{count} lines it said until then were no messages")),
        };
        let connection = started.map_err(late).and_then(|started| started.map_err(never_left));
        let connection = connection.map_err(with_strays)?;
        undo.disarm();
        Ok(Arc::new(connection))
    }

    /// A link to the upstream, and what it said about itself.
    async fn reach(
        &self,
        known: Option<Known>,
        cx: &Context,
        stop: &CancellationToken,
        changed: impl Fn(Event) + Clone + Send + 'static,
    ) -> Result<(Link, Introduction), Fault> {
        let known = known.unwrap_or(Known { era: self.settings.first_era, wire: self.settings.wire });
        let is_child = matches!(self.settings.reach, Reach::Child { .. });
        let sharing = self.settings.sharing.or(is_child.then_some(Sharing::Shared));
        let declared = declared(cx.client(), sharing);
        if let Reach::Child { .. } = &self.settings.reach {
            let line = {
                let tally = self.tally.clone();
                child::start(&self.launcher, &self.settings, tally, stop.clone(), changed).await?
            };
            let link = Link::Child(line);
            link.patrons().visit(cx);
            let introduction = introduce(&link, known.era, &declared).await?;
            return Ok((link, introduction));
        }
        if known.wire == Wire::Events {
            return self.reach_by_events(&declared, cx, stop, changed).await;
        }
        let (repeated, tokens) = (self.repeated.clone(), self.tokens.clone());
        let link = http::connect(&self.settings, repeated, tokens, stop.clone(), changed.clone())?;
        let link = Link::Remote(link);
        link.patrons().visit(cx);
        match introduce(&link, known.era, &declared).await {
            Err(fault) if known.wire == Wire::Found && sse::may_be_spoken_after(&fault) => {
                let reached = self.reach_by_events(&declared, cx, stop, changed).await;
                reached.map_err(|other| fault.absorbing(other))
            }
            introduced => Ok((link, introduced?)),
        }
    }

    async fn reach_by_events(
        &self,
        declared: &Value,
        cx: &Context,
        stop: &CancellationToken,
        changed: impl Fn(Event) + Send + 'static,
    ) -> Result<(Link, Introduction), Fault> {
        let line = {
            let (tokens, tally) = (self.tokens.clone(), self.tally.clone());
            sse::start(&self.settings, tokens, tally, stop.clone(), changed).await?
        };
        let link = Link::Child(line);
        link.patrons().visit(cx);
        let introduction = initialize(&link, declared).await?;
        Ok((link, introduction))
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
