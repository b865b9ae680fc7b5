//! The public keys of whoever makes tokens: read when first needed, kept for a while, read again when a token names one
//! that is not there. All of it is bounded, since anybody can send a token.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use failwell_policy::{Bucket, KeySet, Rate};
use http::header::ACCEPT;
use tokio::io::AsyncReadExt;

use crate::connect::{HeadLines, Remote, Trust, Verb};

/// How long reading the keys may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most bytes of a key set.
const LARGEST: usize = 256 * 1024;
/// How long keys are used without a look for newer ones.
const FRESH: Duration = Duration::from_secs(600);
/// How long they are used while newer ones cannot be had.
const USABLE: Duration = Duration::from_secs(3_600);
/// How often they are read at the most, whatever callers send.
const READS: Rate = Rate { per_second: 0.1, burst: 5.0 };

/// Where an issuer's keys come from, and those that came.
#[derive(Debug)]
pub struct Issuer {
    source: Source,
    known: Mutex<Known>,
    /// Held while the keys are read.
    reading: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
enum Source {
    File(PathBuf),
    Remote(Box<Remote>),
}

#[derive(Debug)]
struct Known {
    keys: Option<(Arc<KeySet>, Instant)>,
    reads: Bucket,
    /// What was wrong the last time, for the operator.
    failed: Option<String>,
}

impl Issuer {
    /// Keys in a file.
    pub fn file(path: PathBuf) -> Issuer {
        Issuer::of(Source::File(path))
    }

    /// Keys at an address.
    pub fn remote(url: &str, trust: Trust) -> Result<Issuer, Fault> {
        Ok(Issuer::of(Source::Remote(Box::new(Remote::new(url, &[], trust)?))))
    }

    fn of(source: Source) -> Issuer {
        let known = Known { keys: None, reads: Bucket::full(READS, Instant::now()), failed: None };
        Issuer { source, known: Mutex::new(known), reading: tokio::sync::Mutex::default() }
    }

    /// The keys as far as they are known, read now if they are not or are old.
    pub(super) async fn keys(&self) -> Result<Arc<KeySet>, Fault> {
        if let Some(keys) = self.known_for(FRESH) {
            return Ok(keys);
        }
        let turn = tokio::time::timeout(PATIENCE, self.reading.lock()).await;
        if turn.is_ok() && self.known_for(FRESH).is_none() {
            self.read_again().await;
        }
        self.known_for(USABLE).ok_or_else(|| {
            let why = self.lock().failed.clone().unwrap_or_else(|| "they are being read".to_owned());
            Fault::new(&reason::POLICY_ISSUER).note("jwks", why)
        })
    }

    /// Newer keys than these, if they can be had now.
    pub(super) async fn newer(&self, than: &Arc<KeySet>) -> Option<Arc<KeySet>> {
        let newer = || self.known_for(USABLE).filter(|keys| !Arc::ptr_eq(keys, than));
        let _turn = tokio::time::timeout(PATIENCE, self.reading.lock()).await.ok()?;
        if newer().is_none() {
            self.read_again().await;
        }
        newer()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_for(&self, age: Duration) -> Option<Arc<KeySet>> {
        let known = self.lock();
        known.keys.as_ref().filter(|(_, since)| since.elapsed() < age).map(|(keys, _)| keys.clone())
    }

    async fn read_again(&self) {
        if self.lock().reads.take(Instant::now()).is_err() {
            return;
        }
        let read = tokio::time::timeout(PATIENCE, self.read()).await;
        let read = read.unwrap_or_else(|_| Err(format!("no answer within {} seconds", PATIENCE.as_secs())));
        let read = read.and_then(|bytes| {
            KeySet::read(&bytes).ok_or_else(|| "there is no key for RS256, ES256 or EdDSA in it".to_owned())
        });
        let mut known = self.lock();
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
    let heard = sent.map_err(|why| match std::error::Error::source(&why) {
        Some(cause) => format!("{why}: {cause}"),
        None => why.to_string(),
    })?;
    if heard.status() != 200 {
        return Err(format!("the answer has status {}", heard.status()));
    }
    heard.whole(LARGEST).await.map_err(|why| why.to_string())
}
