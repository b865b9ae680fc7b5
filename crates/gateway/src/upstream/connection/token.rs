//! OAuth 2.0 client credentials tokens (RFC 6749, section 4.4): fetched on first use, cached until shortly before
//! they expire, and fetched once for all concurrent callers.
//!
//! Tokens, client secrets and responses of the token endpoint are never logged.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use failwell_connect::{ContentKind, HeadLines, HttpResponse, Remote, Verb};
use failwell_fault::{Fault, reason};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use parking_lot::Mutex;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use serde::Deserialize;

use crate::upstream::settings::{ClientCredentials, UpstreamSettings};

const PATIENCE: Duration = Duration::from_secs(10);
const LARGEST: usize = 64 * 1024;
/// The lifetime of a token without `expires_in`.
const USUAL_LIFE: Duration = Duration::from_secs(300);
/// The upper bound of `expires_in`.
const LONGEST_LIFE: Duration = Duration::from_secs(24 * 3_600);
/// Tokens are replaced this long before they expire, or after nine tenths of their lifetime.
const EARLY: Duration = Duration::from_secs(30);

/// The token source of one upstream, shared by its connections.
#[derive(Debug)]
pub(crate) struct TokenSource {
    credentials: ClientCredentials,
    /// The error text, if `token_url` is invalid.
    endpoint: Result<Remote, String>,
    cached: Mutex<Option<CachedToken>>,
    /// The error of the last request. Locked during a request.
    asking: tokio::sync::Mutex<Option<String>>,
    /// The number of finished requests.
    asked: AtomicU64,
}

#[derive(Debug)]
struct CachedToken {
    /// Marked as sensitive, so that `Debug` hides it.
    header: HeaderValue,
    until: Instant,
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: String,
    token_type: String,
    expires_in: Option<u64>,
}

impl TokenSource {
    /// `None` for an upstream without client credentials.
    pub(crate) fn from_settings(settings: &UpstreamSettings) -> Option<TokenSource> {
        let credentials = settings.credentials.clone()?;
        let endpoint = Remote::new(&credentials.token_url, &[], settings.trust.clone());
        Some(TokenSource {
            credentials,
            endpoint: endpoint.map_err(|_| "auth.token_url is no address that can be used".to_owned()),
            cached: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
            asked: AtomicU64::new(0),
        })
    }

    fn fresh(&self) -> Option<HeaderValue> {
        self.cached
            .lock()
            .as_ref()
            .filter(|cached| Instant::now() < cached.until)
            .map(|cached| cached.header.clone())
    }

    /// The `Authorization` value, fetched now if none is cached.
    pub(crate) async fn current(&self) -> Result<HeaderValue, Fault> {
        match self.fresh() {
            Some(header) => Ok(header),
            None => self.fetch().await,
        }
    }

    /// Replaces a rejected token, unless another caller already has.
    pub(crate) async fn replace(&self, refused: &HeaderValue) -> Result<HeaderValue, Fault> {
        {
            let mut cached = self.cached.lock();
            if cached.as_ref().is_some_and(|cached| cached.header == *refused) {
                *cached = None;
            }
        }
        self.current().await
    }

    /// One caller sends the request; the others wait for its token or its error.
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
        let cached = asked.map_err(no_token)?;
        let header = cached.header.clone();
        *self.cached.lock() = Some(cached);
        Ok(header)
    }

    async fn ask(&self) -> Result<CachedToken, String> {
        let remote = self.endpoint.as_ref().map_err(Clone::clone)?;
        let sent = remote.send(Verb::Post, self.headers(), Bytes::from(self.form())).await;
        let response = sent.map_err(|why| match std::error::Error::source(&why) {
            Some(cause) => format!("the token endpoint cannot be reached: {cause}"),
            None => "the token endpoint cannot be reached".to_owned(),
        })?;
        let (status, kind) = (response.status(), response.content());
        if status != 200 {
            return Err(refusal(status, response).await);
        }
        let body = response.whole(LARGEST).await.map_err(|why| format!("its answer was cut short: {why}"))?;
        let unreadable = "the token endpoint's answer holds no token; look whether auth.token_url is right";
        if kind != ContentKind::Json {
            return Err(unreadable.to_owned());
        }
        let answer: TokenResponse = serde_json::from_slice(&body).map_err(|_| unreadable.to_owned())?;
        cached(&answer)
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

fn cached(answer: &TokenResponse) -> Result<CachedToken, String> {
    if !answer.token_type.eq_ignore_ascii_case("bearer") {
        return Err("the token endpoint hands out tokens of another type than Bearer".to_owned());
    }
    let header = HeaderValue::from_str(&format!("Bearer {}", answer.access_token));
    let mut header = header.map_err(|_| "the token fits in no header".to_owned())?;
    header.set_sensitive(true);
    let life = answer.expires_in.map_or(USUAL_LIFE, Duration::from_secs).min(LONGEST_LIFE);
    Ok(CachedToken { header, until: Instant::now() + life.saturating_sub(EARLY.min(life / 10)) })
}

/// Advice for the standard error codes of RFC 6749 and RFC 8707. Other text from the endpoint is not repeated.
async fn refusal(status: u16, response: HttpResponse) -> String {
    #[derive(Deserialize)]
    struct TokenError {
        error: String,
    }
    let body = response.whole(LARGEST).await.unwrap_or_default();
    let code = serde_json::from_slice(&body).map_or(String::new(), |refusal: TokenError| refusal.error);
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

/// The message was not sent, so it had no effect.
fn no_token(why: String) -> Fault {
    Fault::new(&reason::GATEWAY_UPSTREAM_DOWN).note("token", why)
}

/// Form encoding, which RFC 6749 also requires for `Basic` credentials.
fn encoded(text: &str) -> PercentEncode<'_> {
    const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(text, ESCAPED)
}

#[cfg(test)]
mod tests {
    use super::{Duration, Instant, TokenResponse, cached, encoded};

    #[test]
    fn text_is_encoded_for_forms() {
        assert_eq!(encoded("a b:c/é+~").to_string(), "a%20b%3Ac%2F%C3%A9%2B~");
    }

    #[test]
    fn a_token_is_replaced_before_it_expires_and_never_printed() {
        let answer = |expires_in| TokenResponse {
            access_token: "t0ken".to_owned(),
            token_type: "bearer".to_owned(),
            expires_in,
        };
        let left = |expires_in| {
            let cached = cached(&answer(expires_in)).expect("a token");
            assert!(!format!("{cached:?}").contains("t0ken"), "{cached:?}");
            cached.until.saturating_duration_since(Instant::now()).as_millis().div_ceil(1000)
        };
        assert_eq!(left(Some(3600)), 3570);
        assert_eq!(left(Some(10)), 9);
        assert_eq!(left(Some(0)), 0);
        assert_eq!(left(Some(u64::MAX)), 24 * 3_600 - 30);
        assert_eq!(Duration::from_secs(u64::try_from(left(None)).unwrap_or(0)), Duration::from_secs(270));
    }
}
