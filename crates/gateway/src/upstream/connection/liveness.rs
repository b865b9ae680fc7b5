//! Liveness check after a timed-out call: is the upstream slow, or hung?
//!
//! A slow upstream stays connected. An upstream that sends nothing at all, not even the answer to a ping, would let
//! every later call time out. Later calls therefore wait for the check, which is short, and go to a new process if the
//! old one is silent. The old one is stopped when no other call waits for it any more.

use std::sync::Arc;
use std::time::Duration;

use failwell_rpc::Era;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::upstream::connection::channel::Channel;
use crate::upstream::connection::close_reason::CloseReason;
use crate::upstream::connection::request_mux::RequestMux;
use crate::upstream::params::plain_meta;

/// How long an upstream may take to answer the ping.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// Interval of looking whether a silent upstream still has calls to answer.
const LOOK: Duration = Duration::from_millis(50);

/// What later calls do while the upstream is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaterCalls {
    /// A child reads one stream, so a stuck child would lose them.
    Wait,
    /// Each request to a remote server is an exchange of its own.
    Proceed,
}

/// Whether an upstream answers, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Liveness {
    Answers,
    /// A call timed out, and the upstream is being asked.
    Unsure,
    /// It did not answer the ping.
    Silent,
}

/// Pings the upstream, and closes the connection if nothing arrives. Only one check runs at a time.
pub(crate) fn check(
    channel: &Channel,
    era: Era,
    timeout: Duration,
    later: LaterCalls,
    stop: &CancellationToken,
) {
    // Over HTTP, a hung exchange says nothing about the next one.
    let Channel::Stream(mux) = channel else { return };
    if mux.begin_check(later) {
        let (mux, stop) = (mux.clone(), stop.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = settle(&mux, era, timeout, later, &stop) => mux.end_check(),
            }
        });
    }
}

async fn settle(
    mux: &Arc<RequestMux>,
    era: Era,
    timeout: Duration,
    later: LaterCalls,
    stop: &CancellationToken,
) {
    let before = mux.received();
    let patience = if later == LaterCalls::Wait { timeout.min(PATIENCE) } else { timeout };
    ping(mux, era, patience).await;
    let is_there = || mux.received() != before || mux.is_closed();
    if is_there() {
        return mux.set_liveness(Liveness::Answers);
    }
    if later == LaterCalls::Wait {
        mux.set_liveness(Liveness::Silent);
    }
    let last_call = async {
        while mux.is_busy() && !is_there() {
            tokio::time::sleep(LOOK).await;
        }
    };
    let _ = tokio::time::timeout(timeout, last_call).await;
    if is_there() {
        return mux.set_liveness(Liveness::Answers);
    }
    mux.close(&CloseReason::Silent(patience));
    stop.cancel();
}

/// Waits for an answer. Any answer counts, including an error.
async fn ping(mux: &Arc<RequestMux>, era: Era, patience: Duration) {
    let asking = async {
        let (method, params) = match era {
            Era::Session => ("ping", json!({})),
            Era::Modern => ("server/discover", json!({"_meta": plain_meta()})),
        };
        let pending = mux.send(method, |_, out| out.push_str(&params.to_string()), None).await.ok()?;
        pending.answer.await.ok()
    };
    let _ = tokio::time::timeout(patience, asking).await;
}
