//! The shared state as Redis commands.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use failwell_connect::Trust;
use failwell_controls::{SharedRateDecision, SharedRates};
use failwell_fault::{Fault, OrFault, Secret, reason};
use failwell_pipeline::{
    NodeMessage, SessionKey, SessionLookup, SharedSession, SharedState, StreamEvent, StreamRecord, Track,
};
use failwell_policy::Rate;
use failwell_toolbox::Work;
use redis::cmd;
use tokio::sync::broadcast;

pub(crate) mod connection;
mod keys;
mod nodes;
mod rest_sessions;
mod streams;
mod tls;

use connection::RedisConnection;
use nodes::{node_key, receive_messages, run_heartbeat};

/// Maximum number of node messages queued for a slow receiver.
const MOST_MESSAGES: usize = 1_024;
const SEAL: &str = "failwell:seal";

/// Counts one request against a bucket that all nodes share, by the clock of Redis. Returns the milliseconds
/// to wait, or 0.
const TAKE: &str = "
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now) + ARGV[1]
local early = due - ARGV[1] * ARGV[2] - now
if early > 0 then return math.ceil(early) end
redis.call('SET', KEYS[1], string.format('%.3f', due), 'PX', math.ceil(due - now) + 1000)
return 0";

/// Shared state in Redis or Valkey.
pub struct RedisState(Arc<RedisNode>);

pub(crate) struct RedisNode {
    pub(crate) redis: RedisConnection,
    pub(crate) node: String,
    pub(crate) idle: Duration,
    pub(crate) messages: broadcast::Sender<NodeMessage>,
    /// This node's proposal for the sealing key. The first proposal of all nodes is used.
    own_key: Secret<String>,
}

impl RedisState {
    /// Connects to Redis and joins the other nodes. `trust` applies to TLS (`rediss://`). Sessions expire
    /// after `idle`.
    pub async fn join(url: &Secret<String>, trust: Trust, idle: Duration) -> Result<Arc<RedisState>, Fault> {
        let inner = Arc::new(RedisNode {
            redis: RedisConnection::new(url, trust)?,
            node: random(8)?,
            idle,
            messages: broadcast::Sender::new(MOST_MESSAGES),
            own_key: Secret::new(random(32)?),
        });
        inner.heartbeat().await?;
        let subscription = inner.listen().await?;
        tokio::spawn(run_heartbeat(Arc::downgrade(&inner)));
        tokio::spawn(receive_messages(Arc::downgrade(&inner), subscription));
        Ok(Arc::new(RedisState(inner)))
    }

    /// Runs an operation as a boxed future.
    pub(crate) fn with<T, F>(&self, work: impl FnOnce(Arc<RedisNode>) -> F) -> Work<T>
    where
        F: Future<Output = Result<T, Fault>> + Send + 'static,
    {
        Box::pin(work(self.0.clone()))
    }
}

impl fmt::Debug for RedisState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisState").field("node", &self.0.node).finish_non_exhaustive()
    }
}

/// The given number of random bytes, in hexadecimal.
pub(crate) fn random(bytes: usize) -> Result<String, Fault> {
    let mut random = vec![0u8; bytes];
    getrandom::fill(&mut random).or_fault(&reason::SERVER_BUG)?;
    Ok(hex::encode(random))
}

fn session_key(of: &SessionKey) -> String {
    format!("failwell:session:{}:{}", of.pipeline, of.session)
}

impl RedisNode {
    /// The sealing key of all nodes: the first one that was stored.
    pub(crate) async fn agree_on_seal_key(&self) -> Result<Secret<[u8; 32]>, Fault> {
        let _: Option<String> =
            self.redis.run(cmd("SET").arg(SEAL).arg(self.own_key.expose()).arg("NX")).await?;
        let found: String = self.redis.run(cmd("GET").arg(SEAL)).await?;
        let mut key = [0; 32];
        hex::decode_to_slice(found, &mut key)
            .map_err(|_| Fault::new(&reason::SERVER_STATE).note("redis", "no key to seal with"))?;
        Ok(Secret::new(key))
    }

    async fn take(&self, counter: &str, rate: Rate) -> Result<SharedRateDecision, Fault> {
        let mut command = cmd("EVAL");
        command.arg(TAKE).arg(1).arg(format!("failwell:rate:{counter}"));
        command.arg(1_000.0 / rate.per_second).arg(rate.burst);
        let wait: u64 = self.redis.run(&command).await?;
        Ok(if wait == 0 {
            SharedRateDecision::Now
        } else {
            SharedRateDecision::Wait(Duration::from_millis(wait))
        })
    }
}

impl SharedState for RedisState {
    fn node(&self) -> Option<&str> {
        Some(&self.0.node)
    }

    fn is_alive(&self, node: &str) -> Work<bool> {
        let key = node_key(node);
        self.with(|inner| async move { inner.redis.run(cmd("EXISTS").arg(key)).await })
    }

    fn seal_key(&self) -> Work<Option<Secret<[u8; 32]>>> {
        self.with(|inner| async move { inner.agree_on_seal_key().await.map(Some) })
    }

    fn keep_session(&self, of: &SessionKey, session: &SharedSession) -> Work<()> {
        let (key, text) = (session_key(of), serde_json::to_string(session));
        self.with(|inner| async move {
            let (text, idle) = (text.or_fault(&reason::SERVER_BUG)?, inner.idle.as_millis() as u64);
            inner.redis.run(cmd("SET").arg(key).arg(text).arg("PX").arg(idle)).await
        })
    }

    fn find_session(&self, of: &SessionKey) -> Work<SessionLookup> {
        let key = session_key(of);
        self.with(|inner| async move {
            let idle = inner.idle.as_millis() as u64;
            let text: Option<String> = inner.redis.run(cmd("GETEX").arg(key).arg("PX").arg(idle)).await?;
            let shared = text.map(|text| serde_json::from_str(&text)).transpose();
            Ok(shared.or_fault(&reason::SERVER_BUG)?.map_or(SessionLookup::NotFound, SessionLookup::Found))
        })
    }

    fn end_session(&self, of: &SessionKey) -> Work<()> {
        let key = session_key(of);
        self.with(|inner| async move { inner.redis.run::<u64>(cmd("DEL").arg(key)).await.map(drop) })
    }

    fn tell(&self, message: NodeMessage) -> Work<()> {
        self.with(|inner| async move { inner.publish(message).await })
    }

    fn subscribe(&self) -> Option<broadcast::Receiver<NodeMessage>> {
        Some(self.0.messages.subscribe())
    }

    fn write_stream(&self, at: &Track, happened: StreamEvent) -> Work<()> {
        let at = at.clone();
        self.with(|inner| async move { inner.write_stream(&at, happened).await })
    }

    fn read_stream(&self, at: &Track, after: u64) -> Work<Option<StreamRecord>> {
        let at = at.clone();
        self.with(|inner| async move { inner.read_stream(&at, after).await })
    }

    fn rest(&self, upstream: &str, wait: Duration) -> Work<()> {
        let key = format!("failwell:rest:{upstream}");
        self.with(|inner| async move {
            let wait = wait.as_millis().max(1) as u64;
            inner.redis.run(cmd("SET").arg(key).arg("resting").arg("PX").arg(wait)).await
        })
    }

    fn resting(&self, upstream: &str) -> Work<Option<Duration>> {
        let key = format!("failwell:rest:{upstream}");
        self.with(|inner| async move {
            let left: i64 = inner.redis.run(cmd("PTTL").arg(key)).await?;
            Ok(u64::try_from(left).ok().filter(|left| *left > 0).map(Duration::from_millis))
        })
    }
}

impl SharedRates for RedisState {
    fn take(&self, counter: &str, rate: Rate) -> Work<SharedRateDecision> {
        let counter = counter.to_owned();
        self.with(|inner| async move {
            Ok(inner.take(&counter, rate).await.unwrap_or(SharedRateDecision::Uncounted))
        })
    }
}
