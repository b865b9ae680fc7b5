//! The state of several nodes, as commands.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, OrFault, Secret, reason};
use failwell_policy::Rate;
use failwell_server::{Found, Happened, KeptSession, Letter, Place, SharedState, Track, Turn, Work, Written};
use failwell_transport::Trust;
use redis::cmd;
use tokio::sync::broadcast;

use crate::link::Link;
use crate::nodes::{keep_alive, keep_hearing, node_key};

/// Letters that wait for a slow reader.
const MOST_LETTERS: usize = 1_024;
const SEAL: &str = "failwell:seal";

/// Counts one request against a bucket that all nodes fill, by the clock of Redis. Answers with the milliseconds to
/// wait, 0 for none.
const TAKE: &str = "
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now) + ARGV[1]
local early = due - ARGV[1] * ARGV[2] - now
if early > 0 then return math.ceil(early) end
redis.call('SET', KEYS[1], string.format('%.3f', due), 'PX', math.ceil(due - now) + 1000)
return 0";

/// What nodes share, in Redis or Valkey.
pub struct RedisState(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) link: Link,
    pub(crate) node: String,
    pub(crate) idle: Duration,
    pub(crate) letters: broadcast::Sender<Letter>,
    /// What this node seals with, if nobody else brought a key before.
    own_key: Secret<String>,
}

impl RedisState {
    /// Joins the other nodes there. Over TLS (`rediss://`) `trust` says who may vouch for it. Sessions live for as long as
    /// they may be idle.
    pub async fn join(url: &Secret<String>, trust: Trust, idle: Duration) -> Result<Arc<RedisState>, Fault> {
        let inner = Arc::new(Inner {
            link: Link::new(url, trust)?,
            node: random(8)?,
            idle,
            letters: broadcast::Sender::new(MOST_LETTERS),
            own_key: Secret::new(random(32)?),
        });
        inner.beat().await?;
        let ear = inner.listen().await?;
        tokio::spawn(keep_alive(Arc::downgrade(&inner)));
        tokio::spawn(keep_hearing(Arc::downgrade(&inner), ear));
        Ok(Arc::new(RedisState(inner)))
    }

    /// Does something with the connection, beside whoever asks.
    pub(crate) fn with<T, F>(&self, work: impl FnOnce(Arc<Inner>) -> F) -> Work<T>
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

/// So many random bytes, in hexadecimal.
pub(crate) fn random(bytes: usize) -> Result<String, Fault> {
    let mut random = vec![0u8; bytes];
    getrandom::fill(&mut random).or_fault(&reason::SERVER_BUG)?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn session_key(of: &Place) -> String {
    format!("failwell:session:{}:{}", of.house, of.session)
}

impl Inner {
    /// The key all nodes seal with: the first that was brought.
    pub(crate) async fn settle_key(&self) -> Result<Secret<[u8; 32]>, Fault> {
        let _: Option<String> =
            self.link.run(cmd("SET").arg(SEAL).arg(self.own_key.expose()).arg("NX")).await?;
        let found: String = self.link.run(cmd("GET").arg(SEAL)).await?;
        let byte = |at: usize| u8::from_str_radix(found.get(2 * at..2 * at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..32).map(byte).collect();
        let key = bytes.and_then(|bytes| bytes.try_into().ok());
        key.map(Secret::new)
            .ok_or_else(|| Fault::new(&reason::SERVER_STATE).note("redis", "no key to seal with"))
    }

    async fn take(&self, counter: &str, rate: Rate) -> Result<Turn, Fault> {
        let mut command = cmd("EVAL");
        command.arg(TAKE).arg(1).arg(format!("failwell:rate:{counter}"));
        command.arg(1_000.0 / rate.per_second).arg(rate.burst);
        let wait: u64 = self.link.run(&command).await?;
        Ok(if wait == 0 { Turn::Now } else { Turn::Wait(Duration::from_millis(wait)) })
    }
}

impl SharedState for RedisState {
    fn node(&self) -> Option<&str> {
        Some(&self.0.node)
    }

    fn is_alive(&self, node: &str) -> Work<bool> {
        let key = node_key(node);
        self.with(|inner| async move { inner.link.run(cmd("EXISTS").arg(key)).await })
    }

    fn seal_key(&self) -> Work<Option<Secret<[u8; 32]>>> {
        self.with(|inner| async move { inner.settle_key().await.map(Some) })
    }

    fn keep_session(&self, of: &Place, session: &KeptSession) -> Work<()> {
        let (key, text) = (session_key(of), serde_json::to_string(session));
        self.with(|inner| async move {
            let (text, idle) = (text.or_fault(&reason::SERVER_BUG)?, inner.idle.as_millis() as u64);
            inner.link.run(cmd("SET").arg(key).arg(text).arg("PX").arg(idle)).await
        })
    }

    fn find_session(&self, of: &Place) -> Work<Found> {
        let key = session_key(of);
        self.with(|inner| async move {
            let idle = inner.idle.as_millis() as u64;
            let text: Option<String> = inner.link.run(cmd("GETEX").arg(key).arg("PX").arg(idle)).await?;
            let kept = text.map(|text| serde_json::from_str(&text)).transpose();
            Ok(kept.or_fault(&reason::SERVER_BUG)?.map_or(Found::Nowhere, Found::Kept))
        })
    }

    fn end_session(&self, of: &Place) -> Work<()> {
        let key = session_key(of);
        self.with(|inner| async move { inner.link.run::<u64>(cmd("DEL").arg(key)).await.map(drop) })
    }

    fn tell(&self, letter: Letter) -> Work<()> {
        self.with(|inner| async move { inner.tell(letter).await })
    }

    fn hear(&self) -> Option<broadcast::Receiver<Letter>> {
        Some(self.0.letters.subscribe())
    }

    fn write_stream(&self, at: &Track, happened: Happened) -> Work<()> {
        let at = at.clone();
        self.with(|inner| async move { inner.write_stream(&at, happened).await })
    }

    fn read_stream(&self, at: &Track, after: u64) -> Work<Option<Written>> {
        let at = at.clone();
        self.with(|inner| async move { inner.read_stream(&at, after).await })
    }

    fn take(&self, counter: &str, rate: Rate) -> Work<Turn> {
        let counter = counter.to_owned();
        self.with(|inner| async move { Ok(inner.take(&counter, rate).await.unwrap_or(Turn::Uncounted)) })
    }

    fn rest(&self, upstream: &str, wait: Duration) -> Work<()> {
        let key = format!("failwell:rest:{upstream}");
        self.with(|inner| async move {
            let wait = wait.as_millis().max(1) as u64;
            inner.link.run(cmd("SET").arg(key).arg("resting").arg("PX").arg(wait)).await
        })
    }

    fn resting(&self, upstream: &str) -> Work<Option<Duration>> {
        let key = format!("failwell:rest:{upstream}");
        self.with(|inner| async move {
            let left: i64 = inner.link.run(cmd("PTTL").arg(key)).await?;
            Ok(u64::try_from(left).ok().filter(|left| *left > 0).map(Duration::from_millis))
        })
    }
}
