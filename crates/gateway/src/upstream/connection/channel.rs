//! The message channel to an upstream, over any transport.

use std::fmt::Write as _;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Fault;
use failwell_rpc::{Era, Id, Raw, Revision};
use failwell_toolbox::Trace;
use failwell_transport::within;
use serde_json::json;

use crate::upstream::client::ClientRelay;
use crate::upstream::client::session_users::SessionUsers;
use crate::upstream::connection::http::StreamableHttp;
use crate::upstream::connection::liveness;
use crate::upstream::connection::request_mux::RequestMux;
use crate::upstream::params::plain_meta;
use crate::upstream::response::UpstreamResponse;

#[derive(Debug, Clone)]
pub(crate) enum Channel {
    /// One message stream in each direction: stdio or HTTP+SSE.
    Stream(Arc<RequestMux>),
    /// Streamable HTTP.
    Http(Arc<StreamableHttp>),
}

/// A request and its pending response. Over HTTP the request is sent when `answer` is first polled, and dropping
/// `answer` closes the exchange.
pub(crate) struct PendingResponse {
    pub(crate) number: u64,
    pub(crate) answer: Pin<Box<dyn Future<Output = Result<UpstreamResponse, Fault>> + Send>>,
}

/// Capacity for everything before the params of a typical request.
const ENVELOPE: usize = 128;

/// A serialized request.
pub(crate) struct EncodedRequest {
    pub(crate) text: String,
    params: usize,
}

impl EncodedRequest {
    /// Serializes a request. `params` are written straight into the buffer, because they can be large.
    pub(crate) fn new(number: u64, method: &str, params: impl FnOnce(&mut String)) -> EncodedRequest {
        let mut text = String::with_capacity(ENVELOPE);
        text.push_str(r#"{"jsonrpc":"2.0","id":"#);
        let _ = write!(text, "{number}");
        // Method names are literals of this program and need no escaping.
        text.push_str(r#","method":""#);
        text.push_str(method);
        text.push_str(r#"","params":"#);
        let start = text.len();
        params(&mut text);
        text.push('}');
        EncodedRequest { text, params: start }
    }

    pub(crate) fn params(&self) -> Raw<'_> {
        Raw::written(self.text.get(self.params..self.text.len() - 1).unwrap_or_default())
    }
}

impl Channel {
    /// Sends a request. `params` gets the request id, for use as progress token, and the buffer to write to.
    pub(crate) async fn send(
        &self,
        method: &str,
        params: impl FnOnce(u64, &mut String),
        relay: Option<ClientRelay>,
    ) -> Result<PendingResponse, Fault> {
        match self {
            Channel::Stream(mux) => mux.send(method, params, relay).await,
            Channel::Http(peer) => Ok(peer.send(None, method, params, relay)),
        }
    }

    /// Sends a request with its trace context. `None` if the outgoing queue stayed full for too long.
    pub(crate) async fn send_within(
        &self,
        patience: Duration,
        trace: Option<&Trace>,
        method: &str,
        params: impl FnOnce(u64, &mut String) + Send,
        relay: Option<ClientRelay>,
    ) -> Option<Result<PendingResponse, Fault>> {
        match self {
            // Boxed: the future of a call over HTTP stays small.
            Channel::Stream(mux) => {
                let sending = async { within(patience, pin!(mux.send(method, params, relay))).await };
                Box::pin(sending).await
            }
            Channel::Http(peer) => Some(Ok(peer.send(trace, method, params, relay))),
        }
    }

    /// The handshake is complete. False if the connection ended already.
    pub(crate) fn establish(&self) -> bool {
        match self {
            Channel::Stream(mux) => mux.establish(),
            Channel::Http(_) => true,
        }
    }

    pub(crate) fn set_revision(&self, revision: Revision) {
        if let Channel::Http(peer) = self {
            peer.set_revision(revision);
        }
    }

    /// Opens the notification stream, where the transport needs one.
    pub(crate) async fn listen(&self, era: Era) -> Result<(), Fault> {
        match self {
            Channel::Http(peer) => peer.listen(),
            Channel::Stream(mux) if era == Era::Modern => {
                let wanted = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true});
                let meta = plain_meta();
                let params = json!({"notifications": wanted, "_meta": meta}).to_string();
                // The response only marks the end of the subscription.
                mux.send("subscriptions/listen", |_, out| out.push_str(&params), None).await?;
            }
            Channel::Stream(_) => {}
        }
        Ok(())
    }

    pub(crate) fn forget(&self, number: u64) {
        if let Channel::Stream(mux) = self {
            mux.forget(number);
        }
    }

    pub(crate) fn cancel(&self, number: u64) {
        match self {
            Channel::Stream(mux) => mux.cancel(number),
            Channel::Http(peer) => peer.cancel(number),
        }
    }

    /// Sends a notification; over HTTP, waits until it was delivered.
    pub(crate) async fn notify(&self, method: &str, params: &str) {
        let method = failwell_rpc::json_string(method);
        let notice = format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#);
        match self {
            Channel::Stream(mux) => mux.notify(notice),
            Channel::Http(peer) => peer.deliver(notice).await,
        }
    }

    pub(crate) fn users(&self) -> &Arc<SessionUsers> {
        match self {
            Channel::Stream(mux) => &mux.users,
            Channel::Http(peer) => &peer.users,
        }
    }

    /// Subscribes to a resource of a modern upstream.
    pub(crate) async fn watch(&self, uri: &str, params: String) -> Result<(), Fault> {
        match self {
            Channel::Stream(mux) => mux.watch(uri, &params).await,
            Channel::Http(peer) => peer.watch(uri),
        }
    }

    pub(crate) fn unwatch(&self, uri: &str) {
        match self {
            Channel::Stream(mux) => mux.unwatch(uri),
            Channel::Http(peer) => peer.unwatch(uri),
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        match self {
            Channel::Stream(mux) => mux.is_closed(),
            Channel::Http(peer) => peer.is_lost(),
        }
    }

    /// Whether later calls may use the connection. After a timeout it is first known when the upstream was asked.
    pub(crate) async fn is_usable(&self) -> bool {
        if let Channel::Stream(mux) = self
            && mux.is_unsure()
        {
            // Boxed, because it is rare: the future of every call stays small.
            let _ = Box::pin(tokio::time::timeout(liveness::PATIENCE * 2, mux.checked())).await;
        }
        !self.is_closed() && !self.is_silent()
    }

    /// Whether the upstream was asked after a timeout and did not answer.
    pub(crate) fn is_silent(&self) -> bool {
        match self {
            Channel::Stream(mux) => mux.is_silent(),
            Channel::Http(_) => false,
        }
    }

    /// Whether any request is pending.
    pub(crate) fn is_busy(&self) -> bool {
        match self {
            Channel::Stream(mux) => mux.is_busy(),
            Channel::Http(peer) => peer.is_busy(),
        }
    }

    pub(crate) fn reply(&self, id: &Id, result: &str) {
        match self {
            Channel::Stream(mux) => mux.reply(id, result),
            Channel::Http(peer) => peer.reply(id, result),
        }
    }

    pub(crate) fn decline(&self, id: &Id, code: i32, message: &'static str) {
        match self {
            Channel::Stream(mux) => mux.decline(id, code, message),
            Channel::Http(peer) => peer.decline(id, code, message),
        }
    }
}
