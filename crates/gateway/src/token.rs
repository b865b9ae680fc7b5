//! Tokens of an OAuth 2.0 client (RFC 6749, section 4.4): fetched when first needed, kept until shortly before they
//! expire, and fetched once however many callers wait.
//!
//! Neither a token nor the secret it is bought with is ever written down, and neither is what a token endpoint
//! answered, of which nobody knows what is in it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use failwell_fault::{Fault, reason};
use failwell_transport::{ContentKind, HeadLines, Heard, Remote, Verb};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use serde::Deserialize;

use crate::settings::{ClientCredentials, UpstreamSettings};

/// How long the token endpoint may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most bytes of its answer.
const LARGEST: usize = 64 * 1024;
/// How long a token is believed in when nobody says.
const USUAL_LIFE: Duration = Duration::from_secs(300);
/// However long it says to live.
const LONGEST_LIFE: Duration = Duration::from_secs(24 * 3_600);
/// How long before its end a token is replaced: this much, or a tenth of its life.
const EARLY: Duration = Duration::from_secs(30);

/// What the endpoint of one upstream handed out, kept across its connections.
#[derive(Debug)]
pub(crate) struct Tokens {
    credentials: ClientCredentials,
    /// What was wrong with the address, if it could not be used.
    endpoint: Result<Remote, String>,
    kept: Mutex<Option<Kept>>,
    /// What was wrong the last time the endpoint was asked. Held while it is asked.
    asking: tokio::sync::Mutex<Option<String>>,
    /// How often it was asked.
    asked: AtomicU64,
}

#[derive(Debug)]
struct Kept {
    /// Marked as sensitive, so that it prints as nothing.
    header: HeaderValue,
    until: Instant,
}

/// The members of an answer that matter.
#[derive(Deserialize)]
struct Answer {
    access_token: String,
    token_type: String,
    expires_in: Option<u64>,
}

impl Tokens {
    /// Of an upstream that wants to see one.
    pub(crate) fn of(settings: &UpstreamSettings) -> Option<Tokens> {
        let credentials = settings.credentials.clone()?;
        let endpoint = Remote::new(&credentials.token_url, &[], settings.trust.clone());
        Some(Tokens {
            credentials,
            endpoint: endpoint.map_err(|_| "auth.token_url is no address that can be used".to_owned()),
            kept: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
            asked: AtomicU64::new(0),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Option<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fresh(&self) -> Option<HeaderValue> {
        self.lock().as_ref().filter(|kept| Instant::now() < kept.until).map(|kept| kept.header.clone())
    }

    /// The token as a header shows it, fetched now if there is none.
    pub(crate) async fn current(&self) -> Result<HeaderValue, Fault> {
        match self.fresh() {
            Some(header) => Ok(header),
            None => self.fetch().await,
        }
    }

    /// A token in place of one that was refused. Whoever finds it replaced already takes the new one.
    pub(crate) async fn instead_of(&self, refused: &HeaderValue) -> Result<HeaderValue, Fault> {
        {
            let mut kept = self.lock();
            if kept.as_ref().is_some_and(|kept| kept.header == *refused) {
                *kept = None;
            }
        }
        self.current().await
    }

    /// One asks, the others wait for what comes of it, be it a token or a failure.
    async fn fetch(&self) -> Result<HeaderValue, Fault> {
        let before = self.asked.load(Ordering::SeqCst);
        let mut failed = self.asking.lock().await;
        if let Some(header) = self.fresh() {
            return Ok(header);
        }
        if self.asked.load(Ordering::SeqCst) != before
            && let Some(why) = &*failed
        {
            return Err(no_token(why.clone()));
        }
        let asked = tokio::time::timeout(PATIENCE, self.ask()).await;
        let asked = asked.unwrap_or_else(|_| {
            Err(format!("the token endpoint did not answer within {} seconds", PATIENCE.as_secs()))
        });
        self.asked.fetch_add(1, Ordering::SeqCst);
        *failed = asked.as_ref().err().cloned();
        let kept = asked.map_err(no_token)?;
        let header = kept.header.clone();
        *self.lock() = Some(kept);
        Ok(header)
    }

    async fn ask(&self) -> Result<Kept, String> {
        let remote = self.endpoint.as_ref().map_err(Clone::clone)?;
        let sent = remote.send(Verb::Post, self.headers(), Bytes::from(self.form())).await;
        let heard = sent.map_err(|why| match std::error::Error::source(&why) {
            Some(cause) => format!("the token endpoint cannot be reached: {cause}"),
            None => "the token endpoint cannot be reached".to_owned(),
        })?;
        let (status, kind) = (heard.status(), heard.content());
        if status != 200 {
            return Err(refusal(status, heard).await);
        }
        let body = heard.whole(LARGEST).await.map_err(|why| format!("its answer was cut short: {why}"))?;
        let unreadable = "the token endpoint's answer holds no token; look whether auth.token_url is right";
        if kind != ContentKind::Json {
            return Err(unreadable.to_owned());
        }
        let answer: Answer = serde_json::from_slice(&body).map_err(|_| unreadable.to_owned())?;
        kept(&answer)
    }

    fn headers(&self) -> HeadLines {
        let (id, secret) = (&self.credentials.client_id, self.credentials.client_secret.expose());
        let pair = STANDARD.encode(format!("{}:{}", encoded(id), encoded(secret)));
        HeadLines::new()
            .with(ACCEPT.as_str(), "application/json")
            .with(CONTENT_TYPE.as_str(), "application/x-www-form-urlencoded")
            .with(AUTHORIZATION.as_str(), format!("Basic {pair}"))
    }

    fn form(&self) -> String {
        let wanted = &self.credentials;
        let optional =
            [("scope", &wanted.scope), ("audience", &wanted.audience), ("resource", &wanted.resource)];
        let mut form = "grant_type=client_credentials".to_owned();
        for (name, value) in optional {
            if let Some(value) = value {
                form.push_str(&format!("&{name}={}", encoded(value)));
            }
        }
        form
    }
}

fn kept(answer: &Answer) -> Result<Kept, String> {
    if !answer.token_type.eq_ignore_ascii_case("bearer") {
        return Err("the token endpoint hands out tokens of another type than Bearer".to_owned());
    }
    let header = HeaderValue::from_str(&format!("Bearer {}", answer.access_token));
    let mut header = header.map_err(|_| "the token fits in no header".to_owned())?;
    header.set_sensitive(true);
    let life = answer.expires_in.map_or(USUAL_LIFE, Duration::from_secs).min(LONGEST_LIFE);
    Ok(Kept { header, until: Instant::now() + life.saturating_sub(EARLY.min(life / 10)) })
}

/// What to look at, by the codes of RFC 6749 and RFC 8707. Anything else the endpoint says is not repeated.
async fn refusal(status: u16, heard: Heard) -> String {
    #[derive(Deserialize)]
    struct Refusal {
        error: String,
    }
    let body = heard.whole(LARGEST).await.unwrap_or_default();
    let code = serde_json::from_slice(&body).map_or(String::new(), |refusal: Refusal| refusal.error);
    let look = match code.as_str() {
        "invalid_client" => "invalid_client: check auth.client_id and auth.client_secret",
        "invalid_scope" => "invalid_scope: check auth.scope",
        "invalid_target" => "invalid_target: check auth.resource and auth.audience",
        "unauthorized_client" => "unauthorized_client: allow this client the grant client_credentials",
        "unsupported_grant_type" => "unsupported_grant_type: the endpoint has no grant client_credentials",
        "invalid_request" => "invalid_request: check auth.scope, auth.audience and auth.resource",
        _ if status == 401 => "check auth.client_id and auth.client_secret",
        _ if (400..500).contains(&status) => "check auth.token_url and the client there",
        _ => "it is not well; look there",
    };
    format!("the token endpoint answered with status {status}: {look}")
}

/// Without a token nothing is sent, so nothing happened.
fn no_token(why: String) -> Fault {
    Fault::new(&reason::GATEWAY_UPSTREAM_DOWN).note("token", why)
}

/// As a form has it, and as RFC 6749 wants name and secret in `Basic`.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Answer, Duration, Instant, encoded, kept};

    #[test]
    fn text_is_encoded_for_forms() {
        assert_eq!(encoded("a b:c/é+~"), "a%20b%3Ac%2F%C3%A9%2B~");
    }

    #[test]
    fn a_token_is_replaced_before_it_expires_and_never_printed() {
        let answer = |expires_in| Answer {
            access_token: "t0ken".to_owned(),
            token_type: "bearer".to_owned(),
            expires_in,
        };
        let left = |expires_in| {
            let kept = kept(&answer(expires_in)).expect("a token");
            assert!(!format!("{kept:?}").contains("t0ken"), "{kept:?}");
            kept.until.saturating_duration_since(Instant::now()).as_millis().div_ceil(1000)
        };
        assert_eq!(left(Some(3600)), 3570);
        assert_eq!(left(Some(10)), 9);
        assert_eq!(left(Some(0)), 0);
        assert_eq!(left(Some(u64::MAX)), 24 * 3_600 - 30);
        assert_eq!(Duration::from_secs(u64::try_from(left(None)).unwrap_or(0)), Duration::from_secs(270));
    }
}
