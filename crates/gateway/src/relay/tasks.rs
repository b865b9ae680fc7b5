//! Follows calls that continue as tasks of an upstream. A client that supports tasks gets a task of the gateway that
//! mirrors it; other clients wait for the result.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use failwell_backoff::Backoff;
use failwell_fault::{Fault, Kind, OrFault, reason};
use failwell_rpc::{Json, Object, Raw};
use failwell_toolbox::{Context, Question, TaskNeed};

use crate::upstream::{
    ClientRelay, ParsedResult, RequestError, RequestParams, Upstream, UpstreamRequest, UpstreamResponse,
    invalid_response,
};

/// The first poll interval; it doubles up to the interval that the upstream states.
const FIRST_POLL: Duration = Duration::from_millis(50);
/// The poll interval of an upstream that states none.
const USUAL_POLL: Duration = Duration::from_secs(1);
const LONGEST_POLL: Duration = Duration::from_secs(10);
/// How many polls in a row may fail.
const MOST_FAILURES: u32 = 8;
/// The delay after a failed poll.
const BACKOFF: Backoff = Backoff::new(USUAL_POLL, Duration::from_secs(5));

/// Follows a modern task and returns the result of the call.
pub(crate) async fn follow_task(
    upstream: &Arc<Upstream>,
    created: Object<'_>,
    cx: &Context,
) -> Result<ParsedResult, RequestError> {
    let mut task = UpstreamTask::new(upstream, created, cx)?;
    cx.become_task(TaskNeed::Preferred).await?;
    let mut asked = BTreeSet::new();
    let mut wait = FIRST_POLL;
    loop {
        tokio::time::sleep(wait).await;
        let report = task.poll().await?;
        match report.state {
            TaskStatus::Working => {}
            TaskStatus::InputRequired => {
                let questions = questions(&report.text, &mut asked);
                if let Some(end) = task.answer(&questions).await? {
                    return end;
                }
                wait = FIRST_POLL;
                continue;
            }
            TaskStatus::Finished => return task.end(&report.text),
        }
        wait = (wait * 2).min(report.poll_interval);
    }
}

/// Follows a session-era task: the result is requested, and questions arrive with it. Without a task in `answer`,
/// that is the result.
pub(crate) async fn follow_session_task(
    upstream: &Arc<Upstream>,
    answer: ParsedResult,
    relay: &ClientRelay,
) -> Result<ParsedResult, RequestError> {
    let created = answer.members.members.get("task").and_then(Raw::as_object);
    let Some(created) = created else { return Ok(answer) };
    let mut task = UpstreamTask::new(upstream, created, &relay.cx)?;
    relay.cx.become_task(TaskNeed::Preferred).await?;
    let mut wait = FIRST_POLL;
    loop {
        tokio::time::sleep(wait).await;
        let report = task.poll().await?;
        if report.state != TaskStatus::Working {
            match task.request("tasks/result", None, Some(relay)).await {
                // The client may still be answering a question.
                Err(RequestError::TimedOut(_)) => {}
                result => {
                    task.finished = true;
                    return result;
                }
            }
        }
        wait = (wait * 2).min(report.poll_interval);
    }
}

/// The status of a task.
struct TaskReport {
    state: TaskStatus,
    poll_interval: Duration,
    text: Json,
}

#[derive(PartialEq, Eq)]
enum TaskStatus {
    Working,
    InputRequired,
    Finished,
}

impl TaskReport {
    fn parse(text: Json) -> Option<TaskReport> {
        let object = text.raw().as_object()?;
        let state = match object.get("status")?.as_str()?.as_ref() {
            "working" => TaskStatus::Working,
            "input_required" => TaskStatus::InputRequired,
            "completed" | "failed" | "cancelled" => TaskStatus::Finished,
            _ => return None,
        };
        let poll_interval = object.get("pollIntervalMs").or_else(|| object.get("pollInterval"));
        let poll_interval = poll_interval.and_then(Raw::as_u64).map(Duration::from_millis);
        let poll_interval = poll_interval.unwrap_or(USUAL_POLL).clamp(FIRST_POLL, LONGEST_POLL);
        Some(TaskReport { state, poll_interval, text })
    }

    fn message(&self) -> Option<String> {
        Some(self.text.raw().as_object()?.get("statusMessage")?.as_str()?.into_owned())
    }
}

/// A task that is being followed. Dropping it before its end cancels it.
struct UpstreamTask {
    upstream: Arc<Upstream>,
    id: String,
    cx: Context,
    finished: bool,
}

impl UpstreamTask {
    fn new(upstream: &Arc<Upstream>, created: Object<'_>, cx: &Context) -> Result<UpstreamTask, Fault> {
        let id = created.get("taskId").and_then(Raw::as_str);
        let id = id.ok_or_else(|| invalid_response(created.text().as_bytes()))?.into_owned();
        Ok(UpstreamTask { upstream: upstream.clone(), id, cx: cx.clone(), finished: false })
    }

    async fn request(
        &self,
        method: &str,
        more: Option<(&'static str, Json)>,
        relay: Option<&ClientRelay>,
    ) -> Result<ParsedResult, RequestError> {
        let mut params = RequestParams::own().with_text("taskId", &self.id);
        params.follow_tasks();
        let params = more.into_iter().fold(params, |params, (name, value)| params.with(name, value));
        let ask = UpstreamRequest { relay, ..UpstreamRequest::new(method, &params) };
        self.upstream.request(&self.cx, &ask).await
    }

    /// Polls the task. An upstream that is briefly unreachable may still have it.
    async fn poll(&self) -> Result<TaskReport, Fault> {
        let mut failures = 0;
        loop {
            match self.request("tasks/get", None, None).await {
                Ok(found) => {
                    let text = found.members.members.to_json();
                    let report = TaskReport::parse(text.clone())
                        .ok_or_else(|| invalid_response(text.text().as_bytes()))?;
                    if report.state != TaskStatus::Finished {
                        self.cx.tell_status(report.message());
                    }
                    return Ok(report);
                }
                Err(error) if is_transient(error.fault()) && failures < MOST_FAILURES => {
                    failures += 1;
                    tokio::time::sleep(BACKOFF.delay(failures)).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Asks the client. Returns the result if the task ends first.
    async fn answer(
        &mut self,
        questions: &[(String, Question)],
    ) -> Result<Option<Result<ParsedResult, RequestError>>, Fault> {
        if questions.is_empty() {
            tokio::time::sleep(FIRST_POLL).await;
            return Ok(None);
        }
        let named: Vec<(&str, Question)> =
            questions.iter().map(|(key, question)| (key.as_str(), question.clone())).collect();
        let (cx, asking) = (self.cx.clone(), self.until_finished());
        let answers = tokio::select! {
            answers = cx.ask(&named) => answers?,
            ended = asking => return ended.map(|report| Some(self.end(&report.text))),
        };
        let responses = questions.iter().filter_map(|(key, _)| Some((key.as_str(), answers.raw(key)?.raw())));
        self.request("tasks/update", Some(("inputResponses", Json::object(responses))), None).await?;
        Ok(None)
    }

    async fn until_finished(&self) -> Result<TaskReport, Fault> {
        loop {
            let report = self.poll().await?;
            if report.state == TaskStatus::Finished {
                return Ok(report);
            }
            tokio::time::sleep(report.poll_interval.max(USUAL_POLL)).await;
        }
    }

    fn end(&mut self, report: &Json) -> Result<ParsedResult, RequestError> {
        self.finished = true;
        let object = report.raw().as_object().or_fault(&reason::SERVER_BUG)?;
        if let Some(result) = object.get("result").filter(|result| result.as_object().is_some()) {
            return Ok(ParsedResult::parse("tools/call", result.to_json()));
        }
        let status = object.get("status").and_then(Raw::as_str).unwrap_or_default();
        match (&*status, object.get("error").and_then(UpstreamResponse::error)) {
            ("failed", Some(error)) => error.result().map(|result| ParsedResult::parse("tools/call", result)),
            ("cancelled", _) if self.cx.is_task() => Err(Fault::new(&reason::SERVER_CANCELLED).into()),
            ("cancelled", _) => {
                Err(Fault::new(&reason::GATEWAY_UPSTREAM_ERROR).capture("task", report.text()).into())
            }
            _ => Err(invalid_response(report.text().as_bytes()).into()),
        }
    }
}

impl Drop for UpstreamTask {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        let (upstream, id, cx) = (self.upstream.clone(), std::mem::take(&mut self.id), self.cx.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let task = UpstreamTask { upstream, id, cx, finished: true };
            runtime.spawn(async move { task.request("tasks/cancel", None, None).await.map(|_| ()) });
        }
    }
}

fn is_transient(fault: &Fault) -> bool {
    matches!(fault.reason().kind, Kind::Unavailable | Kind::Timeout)
}

/// The questions that were not asked before.
fn questions(report: &Json, asked: &mut BTreeSet<String>) -> Vec<(String, Question)> {
    let wanted = report.raw().as_object().and_then(|object| object.get("inputRequests"));
    let all = wanted.and_then(Raw::as_object).map(read_questions).unwrap_or_default();
    all.into_iter().filter(|(key, _)| asked.insert(key.clone())).collect()
}

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
