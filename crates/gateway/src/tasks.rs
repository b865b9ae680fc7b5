//! A call that goes on as a task upstream. It is followed here to its end: a client that follows tasks gets one of
//! ours, under an id of ours, and sees in it what the upstream says; any other waits for the result.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, Kind, OrFault, reason};
use failwell_rpc::{Json, Object, Raw};
use failwell_server::{Context, Question, TaskNeed};

use crate::line::garbled;
use crate::params::Params;
use crate::relay::Relay;
use crate::said::Said;
use crate::upstream::{Ask, Upstream};

/// How soon to look for the first time; then twice as long each time, up to what the upstream asks for.
const FIRST_LOOK: Duration = Duration::from_millis(50);
/// How often to look when the upstream does not say.
const USUAL_LOOK: Duration = Duration::from_secs(1);
/// The longest an upstream can make us wait between two looks.
const LONGEST_LOOK: Duration = Duration::from_secs(10);
/// How often in a row looking may fail before the task is given up.
const MOST_FAILURES: u32 = 8;

/// Follows the task that `created` tells of, and gives back the result of the call.
pub(crate) async fn see_through(
    upstream: &Arc<Upstream>,
    created: Object<'_>,
    cx: &Context,
) -> Result<Json, Fault> {
    let mut task = Running::of(upstream, created, cx)?;
    cx.become_task(TaskNeed::Preferred).await?;
    let mut asked = BTreeSet::new();
    let mut wait = FIRST_LOOK;
    loop {
        tokio::time::sleep(wait).await;
        let account = task.look().await?;
        match account.state {
            State::Working => {}
            State::Waiting => {
                let questions = questions(&account.text, &mut asked);
                if let Some(end) = task.answer(&questions).await? {
                    return end;
                }
                wait = FIRST_LOOK;
                continue;
            }
            State::Over => return task.end(&account.text),
        }
        wait = (wait * 2).min(account.look);
    }
}

/// The same in the session era, where the result is asked for and questions come on the way to it. An upstream that
/// did not make a task of the call has answered already.
pub(crate) async fn session_task(
    upstream: &Arc<Upstream>,
    answer: Json,
    relay: &Relay,
) -> Result<Json, Fault> {
    let created = answer.raw().as_object().and_then(|answer| answer.get("task")?.as_object());
    let Some(created) = created else { return Ok(answer) };
    let mut task = Running::of(upstream, created, &relay.cx)?;
    relay.cx.become_task(TaskNeed::Preferred).await?;
    let mut wait = FIRST_LOOK;
    loop {
        tokio::time::sleep(wait).await;
        let account = task.look().await?;
        if account.state != State::Working {
            match task.request("tasks/result", None, Some(relay)).await {
                // Somebody may still think about a question.
                Err(fault) if *fault.reason() == reason::GATEWAY_UPSTREAM_TIMEOUT => {}
                result => {
                    task.over = true;
                    return result;
                }
            }
        }
        wait = (wait * 2).min(account.look);
    }
}

/// What an upstream says about a task.
struct Account {
    state: State,
    look: Duration,
    text: Json,
}

#[derive(PartialEq, Eq)]
enum State {
    Working,
    Waiting,
    Over,
}

impl Account {
    fn of(text: Json) -> Option<Account> {
        let object = text.raw().as_object()?;
        let state = match object.get("status")?.as_str()?.as_ref() {
            "working" => State::Working,
            "input_required" => State::Waiting,
            "completed" | "failed" | "cancelled" => State::Over,
            _ => return None,
        };
        let look = object.get("pollIntervalMs").or_else(|| object.get("pollInterval"));
        let look = look.and_then(Raw::as_u64).map(Duration::from_millis);
        let look = look.unwrap_or(USUAL_LOOK).clamp(FIRST_LOOK, LONGEST_LOOK);
        Some(Account { state, look, text })
    }

    fn message(&self) -> Option<String> {
        Some(self.text.raw().as_object()?.get("statusMessage")?.as_str()?.into_owned())
    }
}

/// A task upstream that somebody waits for; dropped before its end, it is called off.
struct Running {
    upstream: Arc<Upstream>,
    id: String,
    cx: Context,
    over: bool,
}

impl Running {
    fn of(upstream: &Arc<Upstream>, created: Object<'_>, cx: &Context) -> Result<Running, Fault> {
        let id = created.get("taskId").and_then(Raw::as_str);
        let id = id.ok_or_else(|| garbled(created.text().as_bytes()))?.into_owned();
        Ok(Running { upstream: upstream.clone(), id, cx: cx.clone(), over: false })
    }

    async fn request(
        &self,
        method: &str,
        more: Option<(&'static str, Json)>,
        relay: Option<&Relay>,
    ) -> Result<Json, Fault> {
        let mut params = Params::ours().with_text("taskId", &self.id);
        params.follow_tasks();
        let params = more.into_iter().fold(params, |params, (name, value)| params.with(name, value));
        let ask = Ask { relay, ..Ask::of(method, &params) };
        self.upstream.request(&self.cx, &ask).await
    }

    /// How the task is. An upstream that cannot be reached for a while may still have it.
    async fn look(&self) -> Result<Account, Fault> {
        let mut failures = 0;
        loop {
            match self.request("tasks/get", None, None).await {
                Ok(text) => {
                    let account = Account::of(text.clone()).ok_or_else(|| garbled(text.text().as_bytes()))?;
                    if account.state != State::Over {
                        self.cx.tell_status(account.message());
                    }
                    return Ok(account);
                }
                Err(fault) if passes(&fault) && failures < MOST_FAILURES => {
                    failures += 1;
                    tokio::time::sleep(USUAL_LOOK * failures).await;
                }
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Has the client answer what the upstream asks. Gives back the end of the task, should that come first.
    async fn answer(
        &mut self,
        questions: &[(String, Question)],
    ) -> Result<Option<Result<Json, Fault>>, Fault> {
        if questions.is_empty() {
            tokio::time::sleep(FIRST_LOOK).await;
            return Ok(None);
        }
        let named: Vec<(&str, Question)> =
            questions.iter().map(|(key, question)| (key.as_str(), question.clone())).collect();
        let (cx, asking) = (self.cx.clone(), self.until_over());
        let answers = tokio::select! {
            answers = cx.ask(&named) => answers?,
            ended = asking => return ended.map(|account| Some(self.end(&account.text))),
        };
        let responses = questions.iter().filter_map(|(key, _)| Some((key.as_str(), answers.raw(key)?.raw())));
        self.request("tasks/update", Some(("inputResponses", Json::object(responses))), None).await?;
        Ok(None)
    }

    async fn until_over(&self) -> Result<Account, Fault> {
        loop {
            let account = self.look().await?;
            if account.state == State::Over {
                return Ok(account);
            }
            tokio::time::sleep(account.look.max(USUAL_LOOK)).await;
        }
    }

    /// What it came to.
    fn end(&mut self, account: &Json) -> Result<Json, Fault> {
        self.over = true;
        let object = account.raw().as_object().or_fault(&reason::SERVER_BUG)?;
        if let Some(result) = object.get("result").filter(|result| result.as_object().is_some()) {
            return Ok(result.to_json());
        }
        let status = object.get("status").and_then(Raw::as_str).unwrap_or_default();
        match (&*status, object.get("error").and_then(Said::error)) {
            ("failed", Some(error)) => error.result(),
            ("cancelled", _) if self.cx.is_task() => Err(Fault::new(&reason::SERVER_CANCELLED)),
            ("cancelled", _) => {
                Err(Fault::new(&reason::GATEWAY_UPSTREAM_ERROR).capture("task", account.text()))
            }
            _ => Err(garbled(account.text().as_bytes())),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let (upstream, id, cx) = (self.upstream.clone(), std::mem::take(&mut self.id), self.cx.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let task = Running { upstream, id, cx, over: true };
            runtime.spawn(async move { task.request("tasks/cancel", None, None).await.map(|_| ()) });
        }
    }
}

/// Whether trying again may help.
fn passes(fault: &Fault) -> bool {
    matches!(fault.reason().kind, Kind::Unavailable | Kind::Timeout)
}

/// What the upstream asks and did not ask before.
fn questions(account: &Json, asked: &mut BTreeSet<String>) -> Vec<(String, Question)> {
    let wanted = account.raw().as_object().and_then(|object| object.get("inputRequests"));
    let all = wanted.and_then(Raw::as_object).map(read_questions).unwrap_or_default();
    all.into_iter().filter(|(key, _)| asked.insert(key.clone())).collect()
}

/// Questions of the modern era, by their keys.
pub(crate) fn read_questions(wanted: Object<'_>) -> Vec<(String, Question)> {
    wanted
        .iter()
        .filter_map(|(key, raw)| {
            let object = raw.as_object()?;
            let method = object.get("method")?.as_str()?;
            let params = object.get("params").map_or_else(Json::empty_object, Raw::to_json);
            Some((key.into_owned(), Question::relayed(&method, params)?))
        })
        .collect()
}
