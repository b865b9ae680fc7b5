//! Calls of the service's methods: signed, in their turn, reads tried again, changes never blindly.

use std::time::Duration;

use failwell_fault::{Effect, Fault, Retry, Secret, reason};
use serde_json::Value;
use tokio::time::Instant;

use crate::http::{Address, Connection, Heard, Http, Unheard};
use crate::keep::Keep;
use crate::pace::Pace;
use crate::refusal::{self, Wanted, unavailable};
use crate::settings::{ApiKey, PaceIs, Settings};
use crate::sign::{Params, form, signature};

/// How often a read is tried.
const TRIES: u32 = 4;
/// How long a read may be tried, all together.
const PATIENCE: Duration = Duration::from_secs(45);
/// The longest pause the service may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The way to the service's methods.
pub(crate) struct Client {
    settings: Settings,
    http: Http,
    pace: Pace,
    pub(crate) keep: Keep,
}

/// How sure it is that a failed change was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// It was not.
    None,
    /// It may have been, and is over either way.
    Made,
    /// It may have been, or may still be made.
    UnderWay,
}

/// A change that failed.
pub(crate) struct Failed {
    pub(crate) fault: Fault,
    pub(crate) doubt: Doubt,
}

/// Why one try failed.
enum Miss {
    Unheard(Unheard),
    /// HTTP 503 or code 105, and when to come back.
    Unavailable(Fault, Option<Duration>),
    /// Not what was asked for.
    Nonsense(Fault),
    /// The service said no.
    Refused(u32, String),
    /// It never came to a request.
    Ours(Fault),
}

impl Client {
    pub(crate) fn new(settings: Settings) -> Result<Client, Fault> {
        let address = Address::read(&settings.service, "/services/rest/");
        let address = address
            .ok_or_else(|| Fault::new(&reason::CONFIG_INVALID).note("base_url", settings.service.clone()))?;
        let mark = settings.key.as_ref().map(|key| mark(&key.key));
        let folder = settings.folder.as_ref().map(|folder| folder.join("tasks"));
        let beside = |name: &str| Some(folder.as_ref()?.join(format!("{name}-{}", mark.as_ref()?)));
        let pace = match settings.pace {
            PaceIs::Free => Pace::free(),
            PaceIs::Documented => Pace::shared(beside("pace").as_deref()),
        };
        let keep = Keep::new(settings.keep, beside("token"), mark.unwrap_or_default());
        Ok(Client { http: Http::new(address, settings.timeout), pace, keep, settings })
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many bytes of answers came so far.
    pub(crate) fn received(&self) -> u64 {
        self.http.received()
    }

    pub(crate) fn key(&self) -> Result<&ApiKey, Fault> {
        self.settings.key.as_ref().ok_or_else(|| Fault::new(&reason::TASKS_NOT_CONFIGURED))
    }

    /// A method that needs no login, or brings its token along.
    pub(crate) async fn open(&self, method: &'static str, params: Params) -> Result<Value, Fault> {
        self.patiently(method, &params).await
    }

    /// A method that only reads, for who is logged in.
    pub(crate) async fn read(&self, method: &'static str, mut params: Params) -> Result<Value, Fault> {
        params.push(("auth_token", self.token().await?.expose().clone()));
        self.patiently(method, &params).await
    }

    /// A method that changes something: sent once, unless nothing of it left.
    pub(crate) async fn write(
        &self,
        method: &'static str,
        mut params: Params,
        wanted: Wanted<'_>,
    ) -> Result<Value, Failed> {
        let sure = |fault| Failed { fault, doubt: Doubt::None };
        params.push(("auth_token", self.token().await.map_err(sure)?.expose().clone()));
        let mut tries = 0;
        loop {
            tries += 1;
            let missed = match self.once(method, &params, Connection::Fresh).await {
                Ok(answer) => return Ok(answer),
                Err(missed) => missed,
            };
            match missed {
                Miss::Unheard(Unheard::NotSent(_)) if tries < TRIES => self.pause(tries, None).await,
                other => return Err(self.failed(other, wanted)),
            }
        }
    }

    async fn token(&self) -> Result<Secret<String>, Fault> {
        self.key()?;
        self.keep.token().await?.ok_or_else(|| Fault::new(&reason::TASKS_LOGIN_NEEDED))
    }

    /// Tries again while that may help.
    async fn patiently(&self, method: &'static str, params: &Params) -> Result<Value, Fault> {
        let end = Instant::now() + PATIENCE;
        let mut tries = 0;
        loop {
            tries += 1;
            let missed = match self.once(method, params, Connection::Any).await {
                Ok(answer) => return Ok(answer),
                Err(missed) => missed,
            };
            let allowed = match &missed {
                Miss::Unheard(Unheard::NotSent(_) | Unheard::Lost(_)) | Miss::Unavailable(..) => TRIES,
                // Once more may be the service itself instead of something in between.
                Miss::Nonsense(_) => 2,
                Miss::Unheard(Unheard::Late | Unheard::TooLarge) | Miss::Refused(..) | Miss::Ours(_) => 1,
            };
            let asked = match &missed {
                Miss::Unavailable(_, asked) => *asked,
                _ => None,
            };
            if tries >= allowed || Instant::now() >= end {
                let failed = self.failed(missed, Wanted::default());
                return Err(refusal::with_effect(failed.fault, Effect::None));
            }
            self.pause(tries, asked).await;
        }
    }

    async fn pause(&self, tries: u32, asked: Option<Duration>) {
        let doubled = self.settings.pause * 2u32.saturating_pow(tries.saturating_sub(1));
        tokio::time::sleep(asked.unwrap_or(doubled).min(LONGEST_PAUSE)).await;
    }

    /// One try.
    async fn once(&self, method: &str, params: &Params, which: Connection) -> Result<Value, Miss> {
        let form = self.signed(method, params).map_err(Miss::Ours)?;
        let place = self.pace.turn().await.map_err(Miss::Ours)?;
        let line = self.http.connect(which).await.map_err(Miss::Unheard)?;
        self.pace.leaves(place).await;
        let heard = self.http.send(line, form).await.map_err(Miss::Unheard)?;
        match read(&heard) {
            Ok(answer) => Ok(answer),
            // What a failure keeps for the operator must not hold what is secret, should it come back.
            Err(_) => read(&self.scrubbed(heard, params).await),
        }
    }

    async fn scrubbed(&self, heard: Heard, params: &Params) -> Heard {
        let token = self.keep.token().await.ok().flatten();
        let sent =
            params.iter().filter(|(name, _)| matches!(*name, "auth_token" | "frob")).map(|(_, value)| value);
        let ours = self.settings.key.iter().flat_map(|key| [key.key.expose(), key.secret.expose()]);
        let mut text = String::from_utf8_lossy(&heard.body).into_owned();
        for secret in sent.chain(ours).chain(token.iter().map(Secret::expose)).filter(|it| !it.is_empty()) {
            text = text.replace(secret.as_str(), "[secret]");
        }
        Heard { body: text.into(), ..heard }
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

    /// What to say of a try that failed, and whether a change may have been made by it.
    fn failed(&self, missed: Miss, wanted: Wanted<'_>) -> Failed {
        let (fault, doubt) = match missed {
            Miss::Ours(fault) => (fault, Doubt::None),
            Miss::Refused(code, words) => (refusal::fault(code, &words, wanted), Doubt::None),
            Miss::Unavailable(fault, _) => (fault, Doubt::Made),
            Miss::Nonsense(fault) => (fault, Doubt::Made),
            Miss::Unheard(Unheard::NotSent(error)) => {
                (unavailable("there is no connection to it").because(error), Doubt::None)
            }
            Miss::Unheard(Unheard::Lost(error)) => {
                (unavailable("the connection broke off").note("connection", error.to_string()), Doubt::Made)
            }
            Miss::Unheard(Unheard::Late) => {
                let limit = self.settings.timeout.as_secs_f64();
                (
                    Fault::new(&reason::TASKS_RTM_TIMEOUT).fact("limit_s", limit).fact("done", ""),
                    Doubt::UnderWay,
                )
            }
            Miss::Unheard(Unheard::TooLarge) => (nonsense("the answer is too large"), Doubt::Made),
        };
        Failed { fault, doubt }
    }
}

/// A name for a key that does not tell the key.
fn mark(key: &Secret<String>) -> String {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(key.expose());
    crate::sign::hex(digest.get(..8).unwrap_or(&digest))
}

fn nonsense(why: &'static str) -> Fault {
    Fault::new(&reason::TASKS_BAD_ANSWER).fact("why", why).fact("done", "nothing was changed")
}

/// Reads `{"rsp": {"stat": …}}`.
fn read(heard: &Heard) -> Result<Value, Miss> {
    if heard.status == 503 {
        let fault = unavailable("it has too much to do").capture("answer", start_of(&heard.body));
        let fault = match heard.retry_after {
            Some(wait) => fault.retry_as(Retry::After(wait)),
            None => fault,
        };
        return Err(Miss::Unavailable(fault, heard.retry_after));
    }
    let strange = |why| {
        let status = heard.status.to_string();
        Miss::Nonsense(nonsense(why).note("status", status).capture("answer", start_of(&heard.body)))
    };
    let Ok(mut document) = serde_json::from_slice::<Value>(&heard.body) else {
        return Err(strange(if heard.body.trim_ascii_start().starts_with(b"<") {
            "a web page instead of data"
        } else {
            "no JSON"
        }));
    };
    let Some(rsp) = document.get_mut("rsp").map(Value::take) else { return Err(strange("no answer in it")) };
    let rsp = crate::shape::first(rsp);
    match crate::shape::text(&rsp, "stat").as_str() {
        "ok" => Ok(rsp),
        "fail" => {
            let err = crate::shape::first(rsp.get("err").cloned().unwrap_or_default());
            let words = crate::shape::text(&err, "msg");
            match crate::shape::text(&err, "code").parse() {
                Ok(105) => Err(Miss::Unavailable(refusal::fault(105, &words, Wanted::default()), None)),
                Ok(code) => Err(Miss::Refused(code, words)),
                Err(_) => Err(strange("a refusal without a code")),
            }
        }
        _ => Err(strange("neither yes nor no")),
    }
}

/// Enough of an answer to see what it was.
fn start_of(body: &[u8]) -> Vec<u8> {
    body.get(..2_048).unwrap_or(body).to_vec()
}
