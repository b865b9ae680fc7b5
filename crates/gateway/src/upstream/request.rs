//! One request to an upstream. It is retried only if it provably never left.

use std::sync::Arc;
use std::time::Instant;

use failwell_fault::Effect;
use failwell_rpc::Json;
use failwell_toolbox::Context;

use crate::upstream::Upstream;
use crate::upstream::client::ClientRelay;
use crate::upstream::connection::UpstreamConnection;
use crate::upstream::connection::channel::Channel;
use crate::upstream::connection_pool::PooledConnection;
use crate::upstream::params::{RequestParams, SendContext};
use crate::upstream::response::{ParsedResult, RequestError, UpstreamResponse};
use crate::upstream::span::RequestSpan;

#[derive(Clone, Copy)]
pub(crate) struct UpstreamRequest<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: &'a RequestParams,
    /// The connection to use first, if it was already acquired.
    pub(crate) on: Option<&'a PooledConnection>,
    pub(crate) relay: Option<&'a ClientRelay>,
    pub(crate) progress: ProgressReports,
}

/// The treatment of progress notifications of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgressReports {
    Forwarded,
    Dropped,
}

impl<'a> UpstreamRequest<'a> {
    /// A request without a client to ask or notify.
    pub(crate) fn new(method: &'a str, params: &'a RequestParams) -> UpstreamRequest<'a> {
        UpstreamRequest { method, params, on: None, relay: None, progress: ProgressReports::Dropped }
    }

    pub(crate) fn on(self, on: &'a PooledConnection) -> UpstreamRequest<'a> {
        UpstreamRequest { on: Some(on), ..self }
    }

    /// A request whose client can be asked and notified while it runs.
    pub(crate) fn relayed(self, relay: &'a ClientRelay) -> UpstreamRequest<'a> {
        UpstreamRequest { relay: Some(relay), progress: ProgressReports::Forwarded, ..self }
    }
}

impl Upstream {
    /// Sends a request, within a span of the caller's trace.
    pub(crate) async fn request(
        self: &Arc<Self>,
        cx: &Context,
        request: &UpstreamRequest<'_>,
    ) -> Result<ParsedResult, RequestError> {
        let span = cx.trace().zip(self.tracer.get());
        let span = span.map(|(trace, tracer)| RequestSpan::begin(tracer, trace, &self.settings, request));
        let began = Instant::now();
        let asked = self.attempt(cx, request, span.as_ref()).await;
        let asked = asked.map(|result| ParsedResult::parse(request.method, result));
        self.counters().answered(began.elapsed(), asked.is_ok());
        if let Some(span) = span {
            span.end(asked.as_ref());
        }
        asked
    }

    async fn attempt(
        self: &Arc<Self>,
        cx: &Context,
        request: &UpstreamRequest<'_>,
        span: Option<&RequestSpan>,
    ) -> Result<Json, RequestError> {
        let UpstreamRequest { method, params, on, relay, progress } = *request;
        let trace = span.and_then(RequestSpan::trace);
        let mut tries = 0;
        loop {
            tries += 1;
            let PooledConnection { slot, connection } = match on.filter(|_| tries == 1) {
                Some(found) => found.clone(),
                None => self.acquire(cx).await?,
            };
            if let Some(wanted) = cx.chosen_log_level() {
                // Boxed, because it is rare: the future of every call stays small.
                Box::pin(connection.request_log_level(wanted, &slot, self.pool.sharing())).await;
            }
            let deadline = tokio::time::Instant::now() + self.settings.timeout;
            let write = |number, out: &mut String| {
                let progress = (progress == ProgressReports::Forwarded).then_some(number);
                params.write(out, &SendContext { connection: &connection, progress, trace }, cx);
            };
            // A request that is still queued was not sent, so it had no effect.
            let channel = &connection.channel;
            let sent = channel.send_within(self.settings.timeout, trace, method, write, relay.cloned()).await;
            let sent = match sent {
                Some(sent) => sent.map_err(RequestError::from),
                None => Err(self.timed_out(&connection, Effect::None)),
            };
            let pending = match sent {
                Err(_) if tries < 2 && connection.channel.is_closed() => continue,
                sent => sent?,
            };
            if let Some(span) = span {
                span.sent(pending.number, connection.handshake.revision);
            }
            // Cancels the request if this future is dropped before the response.
            let mut cancel_on_drop =
                CancelOnDrop { channel: &connection.channel, number: Some(pending.number) };
            let answer = tokio::time::timeout_at(deadline, pending.answer).await;
            let Ok(answer) = answer else { return Err(self.timed_out(&connection, Effect::Unknown)) };
            cancel_on_drop.number = None;
            match answer {
                // Not sent, or rejected because the session expired: tried once more.
                Err(fault)
                    if tries < 2 && fault.effect() == Effect::None && connection.channel.is_closed() => {}
                answer => return self.result(answer?),
            }
        }
    }

    fn timed_out(&self, connection: &UpstreamConnection, effect: Effect) -> RequestError {
        connection.check_liveness(&self.settings);
        RequestError::TimedOut(self.settings.answer_limit().exceeded().with_effect(effect))
    }

    /// The result, or an error. It quotes the error message if the upstream is trusted.
    fn result(&self, response: UpstreamResponse) -> Result<Json, RequestError> {
        let excerpt = if self.settings.trusted_errors { response.excerpt() } else { None };
        response.result().map_err(|error| match excerpt {
            Some(excerpt) => error.with_excerpt(excerpt),
            None => error,
        })
    }
}

struct CancelOnDrop<'a> {
    channel: &'a Channel,
    number: Option<u64>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.channel.cancel(number);
        }
    }
}
