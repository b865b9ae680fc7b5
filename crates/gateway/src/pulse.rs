//! Whether an upstream that let a call time out is slow, or will never say anything again.
//!
//! A call may take longer than it is given, and its upstream lives on. One that meanwhile says nothing at all, not
//! even that it is there when asked, would let every call to come time out too: it is ended, and started anew.

use std::sync::Arc;
use std::time::Duration;

use failwell_rpc::Era;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::line::{Down, Line};
use crate::link::Link;
use crate::params::plain_meta;

/// Asks the other side whether it is there, and ends the connection when nothing at all is heard for so long. Does
/// nothing while somebody else asks already.
pub(crate) fn examine(link: &Link, era: Era, patience: Duration, stop: &CancellationToken) {
    // Over HTTP every call is an exchange of its own, and a server that hangs in one may answer the next.
    let Link::Child(line) = link else { return };
    if line.begin_examination() {
        let (line, stop) = (line.clone(), stop.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                is_there = is_there(&line, era, patience) => {
                    line.end_examination();
                    if !is_there {
                        line.go_down(&Down::Silent(patience));
                        stop.cancel();
                    }
                }
            }
        });
    }
}

async fn is_there(line: &Arc<Line>, era: Era, patience: Duration) -> bool {
    let before = line.heard();
    let asking = async {
        let (method, params) = match era {
            Era::Session => ("ping", json!({})),
            Era::Modern => ("server/discover", json!({"_meta": plain_meta()})),
        };
        let pending = line.send(method, |_, out| out.push_str(&params.to_string()), None).await.ok()?;
        // Whatever it answers, it is there.
        let _ = pending.answer.await;
        Some(())
    };
    let _ = tokio::time::timeout(patience, asking).await;
    line.heard() != before || line.is_down()
}
