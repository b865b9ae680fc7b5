//! One connection to an upstream: transport, handshake and subscriptions.

pub(super) mod channel;
pub(super) mod close_reason;
mod endpoint;
pub(super) mod handshake;
pub(super) mod http;
mod liveness;
pub(super) mod request_mux;
mod sse;
mod stdio;
mod token;

use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_fault::{Fact, Fault, Retry, reason};
use failwell_process::Launcher;
use failwell_rpc::Era;
use failwell_toolbox::{Context, Event, LogLevel, Support};
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::upstream::connection::channel::Channel;
use crate::upstream::connection::handshake::{HandshakeResult, client_capabilities, initialize, negotiate};
use crate::upstream::connection::liveness::LaterCalls;
use crate::upstream::connection::token::TokenSource;
use crate::upstream::connection_pool::ConnectionSlot;
use crate::upstream::counters::UpstreamCounters;
use crate::upstream::lifecycle::UpstreamLifecycle;
use crate::upstream::params::plain_meta;
use crate::upstream::settings::{Endpoint, HttpTransport, SessionSharing, UpstreamSettings};

/// The time limit of requests that no caller waits for.
const ASIDE: Duration = Duration::from_secs(5);

/// A connection after its handshake.
pub(crate) struct UpstreamConnection {
    pub(crate) channel: Channel,
    pub(crate) handshake: HandshakeResult,
    stop: CancellationToken,
}

/// The era and transport that worked last; tried first until they fail.
#[derive(Clone, Copy)]
pub(crate) struct DetectedProtocol {
    era: Option<Era>,
    transport: HttpTransport,
}

/// Why a connection could not be opened. The caller's request was not sent.
pub(crate) enum StartError {
    /// The child process is still starting.
    Late(Fault),
    Failed {
        fault: Fault,
        /// The `Retry-After` of an upstream that is overloaded.
        retry_after: Option<Duration>,
    },
}

/// Opens connections.
pub(crate) struct Connector {
    settings: Arc<UpstreamSettings>,
    launcher: Launcher,
    header_index: Arc<http::HeaderParamIndex>,
    tokens: Option<Arc<TokenSource>>,
    pub(crate) counters: Arc<UpstreamCounters>,
    stop: CancellationToken,
}

impl Drop for UpstreamConnection {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl UpstreamConnection {
    pub(crate) fn era(&self) -> Era {
        self.handshake.revision.era()
    }

    pub(crate) fn known(&self, settings: &UpstreamSettings) -> DetectedProtocol {
        let is_remote = matches!(settings.endpoint, Endpoint::Http { .. });
        let transport = match &self.channel {
            Channel::Stream(_) if is_remote => HttpTransport::Sse,
            _ => settings.transport,
        };
        DetectedProtocol { era: Some(self.era()), transport }
    }

    /// The callers that may use it. Without a session, sharing is always safe.
    pub(crate) fn sharing(&self, settings: &UpstreamSettings) -> SessionSharing {
        let is_remote = matches!(settings.endpoint, Endpoint::Http { .. });
        match &self.channel {
            Channel::Http(peer) if !peer.has_session() => SessionSharing::Shared,
            Channel::Stream(_) if !is_remote => settings.sharing.unwrap_or(SessionSharing::Shared),
            _ => settings.sharing.unwrap_or(SessionSharing::PerCaller),
        }
    }

    /// Checks in the background whether the upstream still answers.
    pub(crate) fn check_liveness(&self, settings: &UpstreamSettings) {
        let later = match settings.endpoint {
            Endpoint::Child { .. } => LaterCalls::Wait,
            Endpoint::Http { .. } => LaterCalls::Proceed,
        };
        liveness::check(&self.channel, self.era(), settings.timeout, later, &self.stop);
    }

    /// Restores the log level and the subscriptions of the previous connection.
    pub(crate) async fn renew(&self, slot: &ConnectionSlot) {
        if let Some(level) = slot.level() {
            self.set_level(level).await;
        }
        let watched = slot.watched();
        join_all(watched.iter().map(|uri| self.watch_again(uri))).await;
    }

    async fn watch_again(&self, uri: &str) {
        match self.era() {
            Era::Session => self.send_own("resources/subscribe", json!({"uri": uri})).await,
            Era::Modern => {
                let wanted = json!({"resourceSubscriptions": [uri]});
                let params = json!({"notifications": wanted, "_meta": plain_meta()});
                let _ = self.channel.watch(uri, params.to_string()).await;
            }
        }
    }

    pub(crate) fn unwatch(self: &Arc<Self>, uris: Vec<String>) {
        match self.era() {
            Era::Modern => uris.iter().for_each(|uri| self.channel.unwatch(uri)),
            Era::Session if uris.is_empty() => {}
            Era::Session => {
                let connection = self.clone();
                tokio::spawn(async move {
                    let delivery = uris
                        .iter()
                        .map(|uri| connection.send_own("resources/unsubscribe", json!({"uri": uri})));
                    join_all(delivery).await;
                });
            }
        }
    }

    /// Sets the log level. In the modern era each request carries its own.
    pub(crate) async fn request_log_level(
        &self,
        wanted: LogLevel,
        slot: &ConnectionSlot,
        sharing: SessionSharing,
    ) {
        let can_log = self.era() == Era::Session && self.handshake.logging == Support::Yes;
        if let Some(level) = slot.level_for(wanted, sharing).filter(|_| can_log) {
            self.set_level(level).await;
        }
    }

    async fn set_level(&self, level: LogLevel) {
        if self.era() == Era::Session && self.handshake.logging == Support::Yes {
            self.send_own("logging/setLevel", json!({"level": level.as_str()})).await;
        }
    }

    /// Sends a request of the gateway itself. Failures are ignored: calls on the same connection report them.
    async fn send_own(&self, method: &str, params: Value) {
        let Ok(pending) = self.channel.send(method, |_, out| out.push_str(&params.to_string()), None).await
        else {
            return;
        };
        if tokio::time::timeout(ASIDE, pending.answer).await.is_err() {
            self.channel.forget(pending.number);
        }
    }
}

impl Connector {
    pub(crate) fn new(
        settings: Arc<UpstreamSettings>,
        launcher: Launcher,
        life: Arc<UpstreamLifecycle>,
        stop: CancellationToken,
    ) -> Connector {
        let tokens = TokenSource::from_settings(&settings).map(Arc::new);
        let counters = UpstreamCounters::of(life);
        Connector { settings, launcher, header_index: Arc::default(), tokens, counters, stop }
    }

    pub(crate) async fn start(
        &self,
        detected: Option<DetectedProtocol>,
        cx: &Context,
        changed: impl Fn(Event) + Clone + Send + 'static,
    ) -> Result<Arc<UpstreamConnection>, StartError> {
        let strays = self.counters.strays();
        let stop = self.stop.child_token();
        // Stops the child or the stream if any later step fails.
        let undo = stop.clone().drop_guard();
        let starting = async {
            let (channel, handshake) = self.connect(detected, cx, &stop, changed).await?;
            channel.listen(handshake.revision.era()).await?;
            Ok(UpstreamConnection { channel, handshake, stop: stop.clone() })
        };
        let began = Instant::now();
        let started = tokio::time::timeout(self.settings.start_timeout, starting).await;
        let with_strays = |fault: Fault| match self.counters.strays() - strays {
            0 => fault,
            count => fault.note("start", format!("{count} lines it said until then were no messages")),
        };
        let error = match started {
            Ok(Ok(connection)) => {
                if connection.channel.establish() {
                    self.counters.lifecycle().started(began.elapsed());
                }
                // Otherwise it ended right after its handshake: the first request on it fails.
                undo.disarm();
                return Ok(Arc::new(connection));
            }
            Ok(Err(fault)) => {
                self.counters.lifecycle().failed(&fault);
                StartError::Failed {
                    retry_after: retry_after(&fault),
                    fault: with_strays(start_fault(fault)),
                }
            }
            Err(_) => {
                let fault = self.settings.start_exceeded();
                self.counters.lifecycle().failed(&fault);
                let fault = with_strays(fault);
                match self.settings.endpoint {
                    Endpoint::Child { .. } => StartError::Late(fault),
                    Endpoint::Http { .. } => StartError::Failed { fault, retry_after: None },
                }
            }
        };
        Err(error)
    }

    /// Opens a channel and performs the handshake.
    async fn connect(
        &self,
        detected: Option<DetectedProtocol>,
        cx: &Context,
        stop: &CancellationToken,
        changed: impl Fn(Event) + Clone + Send + 'static,
    ) -> Result<(Channel, HandshakeResult), Fault> {
        let detected = detected
            .unwrap_or(DetectedProtocol { era: self.settings.first_era, transport: self.settings.transport });
        let is_child = matches!(self.settings.endpoint, Endpoint::Child { .. });
        let sharing = self.settings.sharing.or(is_child.then_some(SessionSharing::Shared));
        let declared = client_capabilities(cx.client(), sharing);
        if let Endpoint::Child { .. } = &self.settings.endpoint {
            let mux = {
                let counters = self.counters.clone();
                stdio::start(&self.launcher, &self.settings, counters, stop.clone(), changed).await?
            };
            let channel = Channel::Stream(mux);
            channel.users().record_use(cx);
            let handshake = negotiate(&channel, detected.era, &declared).await?;
            return Ok((channel, handshake));
        }
        if detected.transport == HttpTransport::Sse {
            return self.connect_sse(&declared, cx, stop, changed).await;
        }
        let (header_index, tokens) = (self.header_index.clone(), self.tokens.clone());
        let channel = http::connect(&self.settings, header_index, tokens, stop.clone(), changed.clone())?;
        let channel = Channel::Http(channel);
        channel.users().record_use(cx);
        match negotiate(&channel, detected.era, &declared).await {
            Err(error)
                if detected.transport == HttpTransport::Detect && sse::may_be_spoken_after(error.fault()) =>
            {
                let reached = self.connect_sse(&declared, cx, stop, changed).await;
                reached.map_err(|other| Fault::from(error).absorbing(other))
            }
            introduced => Ok((channel, introduced?)),
        }
    }

    async fn connect_sse(
        &self,
        declared: &Value,
        cx: &Context,
        stop: &CancellationToken,
        changed: impl Fn(Event) + Send + 'static,
    ) -> Result<(Channel, HandshakeResult), Fault> {
        let mux = {
            let (tokens, counters) = (self.tokens.clone(), self.counters.clone());
            sse::start(&self.settings, tokens, counters, stop.clone(), changed).await?
        };
        let channel = Channel::Stream(mux);
        channel.users().record_use(cx);
        let handshake = initialize(&channel, declared).await?;
        Ok((channel, handshake))
    }
}

/// The `Retry-After` of an upstream that is overloaded.
fn retry_after(fault: &Fault) -> Option<Duration> {
    match (fault.get("status"), fault.retry()) {
        (Some(Fact::Unsigned(429 | 503)), Retry::After(wait)) => Some(wait),
        _ => None,
    }
}

/// A failed start had no effect: the caller's request was not sent yet.
fn start_fault(fault: Fault) -> Fault {
    let (retry, status) = (fault.retry(), fault.get("status").cloned());
    let down = Fault::new(&reason::GATEWAY_UPSTREAM_DOWN);
    let down = match status {
        Some(status) => down.fact("status", status),
        None => down,
    };
    let down = if matches!(retry, Retry::After(_)) { down.retry_as(retry) } else { down };
    down.absorbing(fault)
}

#[cfg(test)]
impl UpstreamConnection {
    /// A connection over one message stream, for tests of what keeps connections.
    pub(crate) fn over(mux: Arc<request_mux::RequestMux>) -> Arc<UpstreamConnection> {
        let handshake = HandshakeResult {
            revision: failwell_rpc::Revision::LATEST,
            offers: failwell_toolbox::ServerFeatures::default(),
            logging: failwell_toolbox::Support::No,
            instructions: None,
        };
        let channel = Channel::Stream(mux);
        Arc::new(UpstreamConnection { channel, handshake, stop: CancellationToken::new() })
    }
}
