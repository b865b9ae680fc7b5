//! A connection to an upstream, whatever carries it.

use std::fmt::Write as _;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Fault;
use failwell_rpc::{Era, Id, Raw, Revision};
use failwell_server::Trace;
use failwell_transport::within;
use serde_json::json;

use crate::http::Peer;
use crate::line::Line;
use crate::params::plain_meta;
use crate::patrons::Patrons;
use crate::relay::Relay;
use crate::said::Said;

/// A connection.
#[derive(Debug, Clone)]
pub(crate) enum Link {
    /// Over one stream of messages each way: a child's standard input and output, or HTTP+SSE.
    Child(Arc<Line>),
    /// To a server somewhere, over HTTP.
    Remote(Arc<Peer>),
}

/// A request on its way: its number, and its answer. Over HTTP it leaves when the answer is first waited for, and
/// dropping the answer hangs up.
pub(crate) struct Pending {
    pub(crate) number: u64,
    pub(crate) answer: Pin<Box<dyn Future<Output = Result<Said, Fault>> + Send>>,
}

/// Room for what stands before the params of most requests: small enough to cost next to nothing where more is needed.
const ROOM: usize = 128;

/// A request as it is written.
pub(crate) struct Written {
    pub(crate) text: String,
    params: usize,
}

impl Written {
    /// Writes a request; `params` go straight into its text, since they can be large, and make room for themselves.
    pub(crate) fn new(number: u64, method: &str, params: impl FnOnce(&mut String)) -> Written {
        let mut text = String::with_capacity(ROOM);
        text.push_str(r#"{"jsonrpc":"2.0","id":"#);
        let _ = write!(text, "{number}");
        // Methods are names of ours, which need no escapes.
        text.push_str(r#","method":""#);
        text.push_str(method);
        text.push_str(r#"","params":"#);
        let start = text.len();
        params(&mut text);
        text.push('}');
        Written { text, params: start }
    }

    /// Its params.
    pub(crate) fn params(&self) -> Raw<'_> {
        Raw::written(self.text.get(self.params..self.text.len() - 1).unwrap_or_default())
    }
}

impl Link {
    /// Sends a request. `params` is told the number, for tokens that must be ours, and where to write them.
    pub(crate) async fn send(
        &self,
        method: &str,
        params: impl FnOnce(u64, &mut String),
        relay: Option<Relay>,
    ) -> Result<Pending, Fault> {
        match self {
            Link::Child(line) => line.send(method, params, relay).await,
            Link::Remote(peer) => Ok(peer.send(None, method, params, relay)),
        }
    }

    /// Sends a request that is a step of a trace; over HTTP the headers say so too. `None` when it took too long to get
    /// its turn.
    pub(crate) async fn send_within(
        &self,
        patience: Duration,
        trace: Option<&Trace>,
        method: &str,
        params: impl FnOnce(u64, &mut String) + Send,
        relay: Option<Relay>,
    ) -> Option<Result<Pending, Fault>> {
        match self {
            // Kept apart: what a call over HTTP is made of stays small.
            Link::Child(line) => {
                let sending = async { within(patience, pin!(line.send(method, params, relay))).await };
                Box::pin(sending).await
            }
            Link::Remote(peer) => Some(Ok(peer.send(trace, method, params, relay))),
        }
    }

    /// From here on this revision is spoken.
    pub(crate) fn settle(&self, revision: Revision) {
        if let Link::Remote(peer) = self {
            peer.settle(revision);
        }
    }

    /// Hears what the upstream says of its own accord, where that takes a stream of its own.
    pub(crate) async fn listen(&self, era: Era) -> Result<(), Fault> {
        match self {
            Link::Remote(peer) => peer.listen(),
            Link::Child(line) if era == Era::Modern => {
                let wanted = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true});
                let meta = plain_meta();
                let params = json!({"notifications": wanted, "_meta": meta}).to_string();
                // Its answer is its end, which nobody waits for.
                line.send("subscriptions/listen", |_, out| out.push_str(&params), None).await?;
            }
            Link::Child(_) => {}
        }
        Ok(())
    }

    /// Nobody waits for this one any more.
    pub(crate) fn forget(&self, number: u64) {
        if let Link::Child(line) = self {
            line.forget(number);
        }
    }

    /// Tells the upstream that an answer is no longer wanted.
    pub(crate) fn call_off(&self, number: u64) {
        match self {
            Link::Child(line) => line.call_off(number),
            Link::Remote(peer) => peer.call_off(number),
        }
    }

    /// Sends a notice, and waits until it arrived where arriving can be seen.
    pub(crate) async fn tell(&self, method: &str, params: &str) {
        let method = failwell_rpc::json_string(method);
        let notice = format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#);
        match self {
            Link::Child(line) => line.tell(notice),
            Link::Remote(peer) => peer.deliver(notice).await,
        }
    }

    /// Who uses it.
    pub(crate) fn patrons(&self) -> &Arc<Patrons> {
        match self {
            Link::Child(line) => &line.patrons,
            Link::Remote(peer) => &peer.patrons,
        }
    }

    /// Hears of changes of a resource of a modern upstream; `params` ask for just that one.
    pub(crate) async fn watch(&self, uri: &str, params: String) -> Result<(), Fault> {
        match self {
            Link::Child(line) => line.watch(uri, &params).await,
            Link::Remote(peer) => peer.watch(uri),
        }
    }

    /// Nobody wants to hear of changes of a resource of a modern upstream any more.
    pub(crate) fn unwatch(&self, uri: &str) {
        match self {
            Link::Child(line) => line.unwatch(uri),
            Link::Remote(peer) => peer.unwatch(uri),
        }
    }

    /// Whether the connection is gone.
    pub(crate) fn is_down(&self) -> bool {
        match self {
            Link::Child(line) => line.is_down(),
            Link::Remote(peer) => peer.is_lost(),
        }
    }

    /// Whether anybody waits for an answer.
    pub(crate) fn is_busy(&self) -> bool {
        match self {
            Link::Child(line) => line.is_busy(),
            Link::Remote(peer) => peer.is_busy(),
        }
    }

    /// Answers the upstream.
    pub(crate) fn reply(&self, id: &Id, result: &str) {
        match self {
            Link::Child(line) => line.reply(id, result),
            Link::Remote(peer) => peer.reply(id, result),
        }
    }

    /// Declines a question of the upstream.
    pub(crate) fn decline(&self, id: &Id, code: i32, message: &'static str) {
        match self {
            Link::Child(line) => line.decline(id, code, message),
            Link::Remote(peer) => peer.decline(id, code, message),
        }
    }
}
