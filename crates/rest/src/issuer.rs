//! The public keys of a token issuer: fetched on first use, cached, and fetched again if a token names an
//! unknown key. Fetching is rate-limited, because any client can send a token.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use failwell_policy::{KeySet, Rate, TokenBucket};
use http::header::ACCEPT;
use tokio::io::AsyncReadExt;

use failwell_connect::{HeadLines, Remote, Trust, Verb};
use parking_lot::Mutex;

/// Maximum time to fetch the keys.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum bytes of a key set.
const LARGEST: usize = 256 * 1024;
/// Maximum age of cached keys before they are fetched again.
const FRESH: Duration = Duration::from_secs(600);
/// Maximum age of cached keys while fetching fails.
const USABLE: Duration = Duration::from_secs(3_600);
/// Maximum rate of fetches, independent of the requests.
const READS: Rate = Rate { per_second: 0.1, burst: 5.0 };

/// The source of an issuer's keys, and the cached keys.
#[derive(Debug)]
pub struct Issuer {
    source: Source,
    known: Mutex<CachedKeys>,
    /// Locked during a fetch.
    reading: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
enum Source {
    File(PathBuf),
    Remote(Box<Remote>),
}

#[derive(Debug)]
struct CachedKeys {
    keys: Option<(Arc<KeySet>, Instant)>,
    reads: TokenBucket,
    /// The last error, for the operator.
    failed: Option<String>,
}

impl Issuer {
    pub fn file(path: PathBuf) -> Issuer {
        Issuer::of(Source::File(path))
    }

    pub fn remote(url: &str, trust: Trust) -> Result<Issuer, Fault> {
        Ok(Issuer::of(Source::Remote(Box::new(Remote::new(url, &[], trust)?))))
    }

    fn of(source: Source) -> Issuer {
        let known = CachedKeys { keys: None, reads: TokenBucket::full(READS, Instant::now()), failed: None };
        Issuer { source, known: Mutex::new(known), reading: tokio::sync::Mutex::default() }
    }

    /// The cached keys, fetched now if they are missing or old.
    pub(super) async fn keys(&self) -> Result<Arc<KeySet>, Fault> {
        if let Some(keys) = self.known_for(FRESH) {
            return Ok(keys);
        }
        let turn = tokio::time::timeout(PATIENCE, self.reading.lock()).await;
        if turn.is_ok() && self.known_for(FRESH).is_none() {
            self.read_again().await;
        }
        self.known_for(USABLE).ok_or_else(|| {
            let why = self.known.lock().failed.clone().unwrap_or_else(|| "they are being read".to_owned());
            Fault::new(&reason::POLICY_ISSUER).note("jwks", why)
        })
    }

    /// Keys that are newer than the given ones, if they can be fetched now.
    pub(super) async fn newer(&self, than: &Arc<KeySet>) -> Option<Arc<KeySet>> {
        let newer = || self.known_for(USABLE).filter(|keys| !Arc::ptr_eq(keys, than));
        let _turn = tokio::time::timeout(PATIENCE, self.reading.lock()).await.ok()?;
        if newer().is_none() {
            self.read_again().await;
        }
        newer()
    }

    fn known_for(&self, age: Duration) -> Option<Arc<KeySet>> {
        let known = self.known.lock();
        known.keys.as_ref().filter(|(_, since)| since.elapsed() < age).map(|(keys, _)| keys.clone())
    }

    async fn read_again(&self) {
        if self.known.lock().reads.take(Instant::now()).is_err() {
            return;
        }
        let read = tokio::time::timeout(PATIENCE, self.read()).await;
        let read = read.unwrap_or_else(|_| Err(format!("no answer within {} seconds", PATIENCE.as_secs())));
        let read = read.and_then(|bytes| {
            KeySet::parse(&bytes).ok_or_else(|| "there is no key for RS256, ES256 or EdDSA in it".to_owned())
        });
        let mut known = self.known.lock();
        match read {
            Ok(keys) => (known.keys, known.failed) = (Some((Arc::new(keys), Instant::now())), None),
            Err(why) => known.failed = Some(why),
        }
    }

    async fn read(&self) -> Result<Bytes, String> {
        match &self.source {
            Source::File(path) => {
                let file = tokio::fs::File::open(path).await.map_err(|error| error.to_string())?;
                let mut bytes = Vec::new();
                let read = file.take(LARGEST as u64 + 1).read_to_end(&mut bytes).await;
                read.map_err(|error| error.to_string())?;
                if bytes.len() > LARGEST {
                    return Err(format!("it is larger than {LARGEST} bytes"));
                }
                Ok(bytes.into())
            }
            Source::Remote(remote) => fetch(remote).await,
        }
    }
}

async fn fetch(remote: &Remote) -> Result<Bytes, String> {
    let headers = HeadLines::new().with(ACCEPT.as_str(), "application/json");
    let sent = remote.send(Verb::Get, headers, Bytes::new()).await;
    let response = sent.map_err(|why| match std::error::Error::source(&why) {
        Some(cause) => format!("{why}: {cause}"),
        None => why.to_string(),
    })?;
    if response.status() != 200 {
        return Err(format!("the answer has status {}", response.status()));
    }
    response.whole(LARGEST).await.map_err(|why| why.to_string())
}
