//! Liveness check after a timed-out call: is the upstream slow, or hung?
//!
//! A slow upstream stays connected. An upstream that sends nothing at all, not even the answer to a ping, would let
//! every later call time out: it is stopped and started again.

use std::sync::Arc;
use std::time::Duration;

use failwell_rpc::Era;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::upstream::connection::channel::Channel;
use crate::upstream::connection::close_reason::CloseReason;
use crate::upstream::connection::request_mux::RequestMux;
use crate::upstream::params::plain_meta;

/// Pings the upstream and closes the connection if nothing arrives in time. Only one check runs at a time.
pub(crate) fn check(channel: &Channel, era: Era, patience: Duration, stop: &CancellationToken) {
    // Over HTTP, a hung exchange says nothing about the next one.
    let Channel::Stream(mux) = channel else { return };
    if mux.begin_check() {
        let (mux, stop) = (mux.clone(), stop.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                is_there = is_there(&mux, era, patience) => {
                    mux.end_check();
                    if !is_there {
                        mux.close(&CloseReason::Silent(patience));
                        stop.cancel();
                    }
                }
            }
        });
    }
}

async fn is_there(mux: &Arc<RequestMux>, era: Era, patience: Duration) -> bool {
    let before = mux.received();
    let asking = async {
        let (method, params) = match era {
            Era::Session => ("ping", json!({})),
            Era::Modern => ("server/discover", json!({"_meta": plain_meta()})),
        };
        let pending = mux.send(method, |_, out| out.push_str(&params.to_string()), None).await.ok()?;
        // Any answer counts, including an error.
        let _ = pending.answer.await;
        Some(())
    };
    let _ = tokio::time::timeout(patience, asking).await;
    mux.received() != before || mux.is_closed()
}
