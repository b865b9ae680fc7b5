//! Heartbeats of nodes, and messages between them.

use std::sync::Weak;
use std::time::Duration;

use failwell_backoff::Backoff;
use failwell_fault::{Fault, OrFault, reason};
use failwell_pipeline::NodeMessage;
use futures_util::StreamExt;
use redis::aio::PubSubStream;
use redis::cmd;
use serde::{Deserialize, Serialize};
use tokio::time::{sleep, timeout};

use crate::redis_state::RedisNode;
use crate::redis_state::connection::{WAIT, unreachable};

/// Interval between heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// Lifetime of a heartbeat.
const HEARTBEAT_TTL: Duration = Duration::from_secs(6);
/// Delay before the next attempt to subscribe.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(2));
const CHANNEL: &str = "failwell:letters";

#[derive(Serialize, Deserialize)]
struct Envelope {
    from: String,
    #[serde(rename = "letter")]
    message: NodeMessage,
}

pub(crate) fn node_key(node: &str) -> String {
    format!("failwell:node:{node}")
}

impl RedisNode {
    /// Renews this node's heartbeat.
    pub(crate) async fn heartbeat(&self) -> Result<(), Fault> {
        let mut command = cmd("SET");
        command.arg(node_key(&self.node)).arg("here").arg("PX").arg(HEARTBEAT_TTL.as_millis() as u64);
        self.redis.run(&command).await
    }

    pub(crate) async fn publish(&self, message: NodeMessage) -> Result<(), Fault> {
        let envelope = Envelope { from: self.node.clone(), message };
        let text = serde_json::to_string(&envelope).or_fault(&reason::SERVER_BUG)?;
        self.redis.run(cmd("PUBLISH").arg(CHANNEL).arg(text)).await
    }

    /// Subscribes to the messages of other nodes.
    pub(crate) async fn listen(&self) -> Result<PubSubStream, Fault> {
        let listening = async {
            let mut subscription = self.redis.subscribe().await?;
            subscription.subscribe(CHANNEL).await?;
            Ok(subscription.into_on_message())
        };
        let late = |_| Fault::new(&reason::SERVER_STATE).note("redis", "no subscription in time");
        timeout(WAIT, listening).await.map_err(late)?.map_err(|error| unreachable(&error))
    }

    fn receive(&self, bytes: &[u8]) {
        // Unreadable messages come from a newer version or from another program.
        if let Ok(envelope) = serde_json::from_slice::<Envelope>(bytes)
            && envelope.from != self.node
        {
            let _ = self.messages.send(envelope.message);
        }
    }
}

/// Renews the heartbeat periodically, and restores the sealing key if Redis lost it.
pub(crate) async fn run_heartbeat(inner: Weak<RedisNode>) {
    loop {
        sleep(HEARTBEAT).await;
        let Some(inner) = inner.upgrade() else { return };
        let _ = inner.heartbeat().await;
        let _ = inner.agree_on_seal_key().await;
    }
}

/// Receives messages of other nodes, and subscribes again when the connection breaks.
pub(crate) async fn receive_messages(inner: Weak<RedisNode>, mut subscription: PubSubStream) {
    loop {
        while let Some(message) = subscription.next().await {
            let Some(inner) = inner.upgrade() else { return };
            inner.receive(message.get_payload_bytes());
        }
        let mut failures = 0;
        subscription = loop {
            failures += 1;
            sleep(BACKOFF.delay(failures)).await;
            let Some(inner) = inner.upgrade() else { return };
            if let Ok(subscription) = inner.listen().await {
                break subscription;
            }
        };
    }
}
