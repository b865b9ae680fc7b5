//! Calls of the service's methods. Requests are signed and paced. Reads are retried, changes never blindly.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use failwell_backoff::Backoff;
use failwell_fault::{Effect, Fault, Retry, Secret};
use failwell_http_client::{Endpoint, HttpClient, Method, Request, Resend, Response, SendError};
use serde_json::Value;
use tokio::time::Instant;

use crate::reason;
use crate::service::error::{self, RequestedNames, unavailable};
use crate::service::pacer::RequestPacer;
use crate::service::signature::{Params, form, signature};
use crate::service::token_storage::TokenStorage;
use crate::settings::{ApiKey, RateLimit, Settings};

/// The path of every method. Requests use POST, so that a logging proxy sees no key, token or signature.
const PATH: &str = "/services/rest/";
/// Maximum size of a response, in bytes: about fifty thousand tasks.
const MAX_BODY_BYTES: usize = 64 << 20;
/// A change uses a new connection. An idle one may be closing, and then the outcome of the change would be
/// unknown.
const CHANGE: Resend = Resend::Never { reuse_within: Duration::ZERO };
/// Maximum number of attempts of a read.
const TRIES: u32 = 4;
/// Maximum total time of all attempts of a read.
const PATIENCE: Duration = Duration::from_secs(45);
/// Maximum time to find out whether the service can be reached.
const REACH_LIMIT: Duration = Duration::from_secs(5);
/// The longest `Retry-After` that is accepted.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

pub(crate) struct Client {
    settings: Settings,
    http: HttpClient,
    received: AtomicU64,
    pace: RequestPacer,
    pub(crate) keep: TokenStorage,
}

/// The possible effect of a failed change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PossibleEffect {
    /// It was not made.
    None,
    /// It may have been made, and is no longer in progress.
    ChangeResult,
    /// It may have been made, or may still be in progress.
    UnderWay,
}

pub(crate) struct ChangeError {
    pub(crate) fault: Fault,
    pub(crate) doubt: PossibleEffect,
}

/// The reason why one attempt failed.
enum AttemptError {
    Send(SendError),
    /// HTTP 503 or code 105, with the requested delay.
    Unavailable(Fault, Option<Duration>),
    /// The response is not one of the service.
    InvalidResponse(Fault),
    /// The service refused the request with a code and a message.
    Refused(u32, String),
    /// No request was sent.
    Ours(Fault),
}

impl Client {
    pub(crate) fn new(settings: Settings) -> Result<Client, Fault> {
        let endpoint = Endpoint::parse(&settings.service)
            .ok_or_else(|| Fault::new(&reason::CONFIG_INVALID).note("base_url", settings.service.clone()))?;
        let mark = settings.key.as_ref().map(|key| mark(&key.key));
        let folder = settings.folder.as_ref().map(|folder| folder.join("tasks"));
        let beside = |name: &str| Some(folder.as_ref()?.join(format!("{name}-{}", mark.as_ref()?)));
        let pace = match settings.pace {
            RateLimit::Free => RequestPacer::free(),
            RateLimit::Documented => RequestPacer::shared(beside("pace").as_deref()),
        };
        let keep = TokenStorage::new(settings.keep, beside("token"), mark.unwrap_or_default());
        let keep = keep.holding(settings.token.clone());
        Ok(Client {
            http: HttpClient::new(endpoint, MAX_BODY_BYTES),
            received: AtomicU64::new(0),
            pace,
            keep,
            settings,
        })
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The number of bytes received so far.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    pub(crate) fn key(&self) -> Result<&ApiKey, Fault> {
        self.settings.key.as_ref().ok_or_else(|| Fault::new(&reason::TASKS_NOT_CONFIGURED))
    }

    /// Calls a method that needs no login.
    pub(crate) async fn open(&self, method: &'static str, params: Params) -> Result<Value, Fault> {
        self.call_with_retries(method, &params).await
    }

    /// Calls a reading method with the login.
    pub(crate) async fn read(&self, method: &'static str, mut params: Params) -> Result<Value, Fault> {
        params.push(("auth_token", self.token().await?.expose().clone()));
        self.call_with_retries(method, &params).await
    }

    /// Calls a changing method. It is sent once, unless no byte of it left.
    pub(crate) async fn write(
        &self,
        method: &'static str,
        mut params: Params,
        wanted: RequestedNames<'_>,
    ) -> Result<Value, ChangeError> {
        let sure = |fault| ChangeError { fault, doubt: PossibleEffect::None };
        params.push(("auth_token", self.token().await.map_err(sure)?.expose().clone()));
        let mut tries = 0;
        loop {
            tries += 1;
            let missed = match self.attempt(method, &params, CHANGE).await {
                Ok(answer) => return Ok(answer),
                Err(missed) => missed,
            };
            match missed {
                AttemptError::Send(SendError::NotSent(_)) if tries < TRIES => self.pause(tries, None).await,
                other => return Err(self.failed(method, other, wanted)),
            }
        }
    }

    async fn token(&self) -> Result<Secret<String>, Fault> {
        self.key()?;
        self.keep.token().await?.ok_or_else(|| Fault::new(&reason::TASKS_LOGIN_NEEDED))
    }

    /// Retries a read while another attempt may help.
    async fn call_with_retries(&self, method: &'static str, params: &Params) -> Result<Value, Fault> {
        let end = Instant::now() + PATIENCE;
        let mut tries = 0;
        loop {
            tries += 1;
            let missed = match self.attempt(method, params, Resend::Safe).await {
                Ok(answer) => return Ok(answer),
                Err(missed) => missed,
            };
            let allowed = match &missed {
                AttemptError::Send(SendError::NotSent(_) | SendError::ConnectionLost(_))
                | AttemptError::Unavailable(..) => TRIES,
                // One more attempt may reach the service itself instead of a proxy.
                AttemptError::InvalidResponse(_) => 2,
                AttemptError::Send(SendError::TimedOut | SendError::TooLarge(_))
                | AttemptError::Refused(..)
                | AttemptError::Ours(_) => 1,
            };
            let asked = match &missed {
                AttemptError::Unavailable(_, asked) => *asked,
                _ => None,
            };
            if tries >= allowed || Instant::now() >= end {
                let failed = self.failed(method, missed, RequestedNames::default());
                return Err(error::with_effect(failed.fault, Effect::None));
            }
            self.pause(tries, asked).await;
        }
    }

    async fn pause(&self, tries: u32, asked: Option<Duration>) {
        let backoff = Backoff::new(self.settings.pause, LONGEST_PAUSE);
        let delay = asked.map_or_else(|| backoff.delay(tries), |asked| asked.min(LONGEST_PAUSE));
        tokio::time::sleep(delay).await;
    }

    async fn attempt(&self, method: &str, params: &Params, resend: Resend) -> Result<Value, AttemptError> {
        let form = self.signed(method, params).map_err(AttemptError::Ours)?;
        let place = self.pace.turn().await.map_err(AttemptError::Ours)?;
        let connection = self.http.connect(resend).await.map_err(AttemptError::Send)?;
        self.pace.leaves(place).await;
        let body = Some(("application/x-www-form-urlencoded", form.into()));
        let request = Request { method: Method::POST, path: PATH, body };
        let sent = self.http.send(connection, &request, self.settings.timeout).await;
        let response = sent.map_err(AttemptError::Send)?;
        self.received.fetch_add(response.body.len() as u64, Ordering::Relaxed);
        match read(&response) {
            Ok(answer) => Ok(answer),
            // A fault stores the response for the operator, so secrets that the service echoed are removed.
            Err(_) => read(&self.scrubbed(response, params).await),
        }
    }

    async fn scrubbed(&self, response: Response, params: &Params) -> Response {
        let token = self.keep.token().await.ok().flatten();
        let sent =
            params.iter().filter(|(name, _)| matches!(*name, "auth_token" | "frob")).map(|(_, value)| value);
        let ours = self.settings.key.iter().flat_map(|key| [key.key.expose(), key.secret.expose()]);
        let mut text = String::from_utf8_lossy(&response.body).into_owned();
        for secret in sent.chain(ours).chain(token.iter().map(Secret::expose)).filter(|it| !it.is_empty()) {
            text = text.replace(secret.as_str(), "[secret]");
        }
        Response { body: text.into(), ..response }
    }

    fn signed(&self, method: &str, params: &Params) -> Result<String, Fault> {
        let key = self.key()?;
        let mut all: Params = vec![
            ("method", method.to_owned()),
            ("api_key", key.key.expose().clone()),
            ("format", "json".to_owned()),
            ("v", "2".to_owned()),
        ];
        all.extend(params.iter().cloned());
        all.push(("api_sig", signature(&key.secret, &all)));
        Ok(form(&all))
    }

    /// The fault of a failed attempt, and its possible effect.
    fn failed(&self, method: &str, missed: AttemptError, wanted: RequestedNames<'_>) -> ChangeError {
        let (fault, doubt) = match missed {
            AttemptError::Ours(fault) => (fault, PossibleEffect::None),
            AttemptError::Refused(code, words) => (error::fault(code, &words, wanted), PossibleEffect::None),
            AttemptError::Unavailable(fault, _) => (fault, PossibleEffect::ChangeResult),
            AttemptError::InvalidResponse(fault) => (fault, PossibleEffect::ChangeResult),
            AttemptError::Send(SendError::NotSent(error)) => {
                (unavailable("there is no connection to it").because(error), PossibleEffect::None)
            }
            AttemptError::Send(SendError::ConnectionLost(error)) => (
                unavailable("the connection broke off").note("connection", error.to_string()),
                PossibleEffect::ChangeResult,
            ),
            AttemptError::Send(SendError::TimedOut) => {
                let limit = self.settings.timeout.as_secs_f64();
                (
                    Fault::new(&reason::TASKS_RTM_TIMEOUT).fact("limit_s", limit).fact("done", ""),
                    PossibleEffect::UnderWay,
                )
            }
            AttemptError::Send(SendError::TooLarge(_)) => {
                (invalid_response("the answer is too large"), PossibleEffect::ChangeResult)
            }
        };
        let endpoint = format!("{}{PATH}", self.settings.service.trim_end_matches('/'));
        let fault = fault.note("rtm_method", method.to_owned()).note("rtm_endpoint", endpoint);
        ChangeError { fault, doubt }
    }

    /// Fails if the service cannot be reached now. One attempt, which answers soon.
    pub(crate) async fn check_reach(&self) -> Result<(), Fault> {
        const METHOD: &str = "rtm.test.echo";
        let params = Params::new();
        let attempt = self.attempt(METHOD, &params, Resend::Safe);
        let reached = tokio::time::timeout(REACH_LIMIT, attempt).await;
        match reached.unwrap_or(Err(AttemptError::Send(SendError::TimedOut))) {
            // The service answered, whatever it thinks of the request.
            Ok(_) | Err(AttemptError::Refused(..)) => Ok(()),
            Err(missed) => Err(self.failed(METHOD, missed, RequestedNames::default()).fault),
        }
    }
}

/// An identifier of a key that does not reveal the key.
fn mark(key: &Secret<String>) -> String {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(key.expose());
    hex::encode(digest.get(..8).unwrap_or(&digest))
}

fn invalid_response(why: &'static str) -> Fault {
    Fault::new(&reason::TASKS_BAD_ANSWER).fact("why", why).fact("done", "nothing was changed")
}

/// Parses `{"rsp": {"stat": …}}`.
fn read(response: &Response) -> Result<Value, AttemptError> {
    if response.status == 503 {
        let fault = unavailable("it has too much to do").capture("answer", start_of(&response.body));
        let fault = match response.retry_after() {
            Some(wait) => fault.retry_as(Retry::After(wait)),
            None => fault,
        };
        return Err(AttemptError::Unavailable(fault, response.retry_after()));
    }
    let strange = |why| {
        let status = response.status.to_string();
        AttemptError::InvalidResponse(
            invalid_response(why).note("status", status).capture("answer", start_of(&response.body)),
        )
    };
    let Ok(mut document) = serde_json::from_slice::<Value>(&response.body) else {
        return Err(strange(if response.body.trim_ascii_start().starts_with(b"<") {
            "a web page instead of data"
        } else {
            "no JSON"
        }));
    };
    let Some(rsp) = document.get_mut("rsp").map(Value::take) else { return Err(strange("no answer in it")) };
    let rsp = crate::service::json::first(rsp);
    match crate::service::json::text(&rsp, "stat").as_str() {
        "ok" => Ok(rsp),
        "fail" => {
            let err = crate::service::json::first(rsp.get("err").cloned().unwrap_or_default());
            let words = crate::service::json::text(&err, "msg");
            match crate::service::json::text(&err, "code").parse() {
                Ok(105) => {
                    Err(AttemptError::Unavailable(error::fault(105, &words, RequestedNames::default()), None))
                }
                Ok(code) => Err(AttemptError::Refused(code, words)),
                Err(_) => Err(strange("a refusal without a code")),
            }
        }
        _ => Err(strange("neither yes nor no")),
    }
}

/// The beginning of a response, for the operator.
fn start_of(body: &[u8]) -> Vec<u8> {
    body.get(..2_048).unwrap_or(body).to_vec()
}
