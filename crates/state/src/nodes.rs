//! Nodes among each other: who is there, and what they say.

use std::sync::Weak;
use std::time::Duration;

use failwell_fault::{Fault, OrFault, reason};
use failwell_server::Letter;
use futures_util::StreamExt;
use redis::aio::PubSubStream;
use redis::cmd;
use serde::{Deserialize, Serialize};
use tokio::time::{sleep, timeout};

use crate::link::{WAIT, away};
use crate::redis_state::Inner;

/// How often a node says that it is there.
const BEAT: Duration = Duration::from_secs(2);
/// How long others believe it.
const BELIEF: Duration = Duration::from_secs(6);
/// How long to rest before listening is tried again.
const REST: Duration = Duration::from_millis(500);
const CHANNEL: &str = "failwell:letters";

#[derive(Serialize, Deserialize)]
struct Envelope {
    from: String,
    letter: Letter,
}

pub(crate) fn node_key(node: &str) -> String {
    format!("failwell:node:{node}")
}

impl Inner {
    /// Says that this node is there.
    pub(crate) async fn beat(&self) -> Result<(), Fault> {
        let mut command = cmd("SET");
        command.arg(node_key(&self.node)).arg("here").arg("PX").arg(BELIEF.as_millis() as u64);
        self.link.run(&command).await
    }

    pub(crate) async fn tell(&self, letter: Letter) -> Result<(), Fault> {
        let envelope = Envelope { from: self.node.clone(), letter };
        let text = serde_json::to_string(&envelope).or_fault(&reason::SERVER_BUG)?;
        self.link.run(cmd("PUBLISH").arg(CHANNEL).arg(text)).await
    }

    /// Begins to listen.
    pub(crate) async fn listen(&self) -> Result<PubSubStream, Fault> {
        let listening = async {
            let mut ear = self.link.ear().await?;
            ear.subscribe(CHANNEL).await?;
            Ok(ear.into_on_message())
        };
        let late = |_| Fault::new(&reason::SERVER_STATE).note("redis", "no subscription in time");
        timeout(WAIT, listening).await.map_err(late)?.map_err(|error| away(&error))
    }

    fn hear(&self, bytes: &[u8]) {
        // What is no letter comes from a newer version, or from somebody else.
        if let Ok(envelope) = serde_json::from_slice::<Envelope>(bytes)
            && envelope.from != self.node
        {
            let _ = self.letters.send(envelope.letter);
        }
    }
}

/// Says again and again that this node is there, and keeps the key it seals with in its place.
pub(crate) async fn keep_alive(inner: Weak<Inner>) {
    loop {
        sleep(BEAT).await;
        let Some(inner) = inner.upgrade() else { return };
        let _ = inner.beat().await;
        let _ = inner.settle_key().await;
    }
}

/// Hears what others say, and listens again when the connection breaks.
pub(crate) async fn keep_hearing(inner: Weak<Inner>, mut ear: PubSubStream) {
    loop {
        while let Some(message) = ear.next().await {
            let Some(inner) = inner.upgrade() else { return };
            inner.hear(message.get_payload_bytes());
        }
        ear = loop {
            sleep(REST).await;
            let Some(inner) = inner.upgrade() else { return };
            if let Ok(ear) = inner.listen().await {
                break ear;
            }
        };
    }
}
