//! Work that continues after the response to its request: the tasks extension of the modern era.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use failwell_fault::{Echo, Fault, OrFault, reason};
use failwell_render::Moment;
use failwell_rpc::Caller;
use failwell_rpc::{Json, Object};
use serde::Serialize;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::session::hub::Hub;
use crate::session::nodes::new_id;
use failwell_toolbox::Event;
use failwell_toolbox::{Answers, Question};
use parking_lot::Mutex;

/// The lifetime of a task, from its creation.
const LIFETIME: Duration = Duration::from_secs(600);
/// The poll interval for clients.
const POLL: Duration = Duration::from_millis(200);
/// The maximum number of concurrent tasks.
const MOST: usize = 1_000;
/// The maximum number of concurrent tasks of a named caller.
const MOST_PER_CALLER: usize = 100;

#[derive(Debug)]
pub(crate) struct Tasks {
    table: Mutex<HashMap<Arc<str>, Arc<Task>>>,
    hub: Hub,
    /// Names this node in the ids of its tasks; `None` for a single node.
    node: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Task {
    id: Arc<str>,
    caller: Caller,
    created: Moment,
    expires: Instant,
    state: Mutex<TaskState>,
    changed: Notify,
    hub: Hub,
    /// The server of the task's result, if guard settings exist per server.
    server: OnceLock<String>,
    pub(crate) cancel: CancellationToken,
}

#[derive(Debug)]
struct TaskState {
    status: Status,
    updated: Moment,
    message: Option<String>,
    open: BTreeMap<String, Question>,
    given: BTreeMap<String, Json>,
    asked: u64,
}

#[derive(Debug)]
enum Status {
    Working,
    Completed(Json),
    Failed(Json),
    Cancelled,
}

impl Tasks {
    pub(crate) fn new(hub: Hub, node: Option<&str>) -> Tasks {
        Tasks { table: Mutex::default(), hub, node: node.map(str::to_owned) }
    }

    pub(crate) fn create(&self, caller: &Caller) -> Result<Arc<Task>, Fault> {
        let mut table = self.table.lock();
        let now = Instant::now();
        table.retain(|_, task| task.expires > now || !task.is_over());
        if table.len() >= MOST {
            return Err(Fault::new(&reason::MCP_TOO_MANY_TASKS).fact("limit", MOST));
        }
        let own = || table.values().filter(|task| task.caller == *caller).count();
        if *caller != Caller::anonymous() && table.len() >= MOST_PER_CALLER && own() >= MOST_PER_CALLER {
            return Err(Fault::new(&reason::MCP_TOO_MANY_TASKS).fact("limit", MOST_PER_CALLER));
        }
        let id = new_id(self.node.as_deref())?;
        let task = Arc::new(Task::new(id, caller, now, self.hub.clone()));
        table.insert(task.id.clone(), task.clone());
        Ok(task)
    }

    /// Looks up a task of this caller. Another caller's task returns the fault of an unknown task.
    pub(crate) fn find(&self, id: &str, caller: &Caller) -> Result<Arc<Task>, Fault> {
        let found = self.table.lock().get(id).cloned();
        found
            .filter(|task| task.caller == *caller && (task.expires > Instant::now() || !task.is_over()))
            .ok_or_else(|| Fault::new(&reason::MCP_UNKNOWN_TASK).fact("taskId", Echo::of_caller(id)))
    }

    /// The server of the result of this caller's task.
    pub(crate) fn server_of(&self, id: &str, caller: &Caller) -> Option<String> {
        self.find(id, caller).ok().and_then(|task| task.server.get().cloned())
    }
}

impl Task {
    fn new(id: String, caller: &Caller, now: Instant, hub: Hub) -> Task {
        let created = Moment::now();
        let state = TaskState {
            status: Status::Working,
            updated: created,
            message: None,
            open: BTreeMap::new(),
            given: BTreeMap::new(),
            asked: 0,
        };
        Task {
            id: id.into(),
            caller: caller.clone(),
            created,
            expires: now + LIFETIME,
            state: Mutex::new(state),
            changed: Notify::new(),
            hub,
            server: OnceLock::new(),
            cancel: CancellationToken::new(),
        }
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    pub(crate) fn server(&self) -> Option<&str> {
        self.server.get().map(String::as_str).filter(|server| !server.is_empty())
    }

    /// Sets the server of the task's result.
    pub(crate) fn comes_from(&self, server: String) {
        let _ = self.server.set(server);
    }

    fn is_over(&self) -> bool {
        !matches!(self.state.lock().status, Status::Working)
    }

    /// The members that every description of the task has.
    pub(crate) fn base(&self) -> Result<Json, Fault> {
        Json::of(&self.summary(&self.state.lock())).or_fault(&reason::SERVER_BUG)
    }

    /// The full description: the result, or the open questions.
    pub(crate) fn account(&self) -> Result<Json, Fault> {
        let state = self.state.lock();
        let mut account = self.summary(&state);
        match &state.status {
            Status::Completed(result) => account.result = Some(result),
            Status::Failed(error) => account.error = Some(error),
            Status::Working if !state.open.is_empty() => {
                let open = state.open.iter().map(|(key, q)| (key.as_str(), q.as_input_request()));
                account.input_requests = Some(open.collect());
            }
            Status::Working | Status::Cancelled => {}
        }
        Json::of(&account).or_fault(&reason::SERVER_BUG)
    }

    fn summary<'a>(&'a self, state: &'a TaskState) -> Account<'a> {
        Account {
            task_id: &self.id,
            status: state.status_name(),
            status_message: state.message.as_deref(),
            created_at: self.created.to_string(),
            last_updated_at: state.updated.to_string(),
            ttl_ms: LIFETIME.as_millis(),
            poll_interval_ms: POLL.as_millis(),
            result: None,
            error: None,
            input_requests: None,
        }
    }

    /// Waits for the client to answer through `tasks/update`.
    pub(crate) async fn ask(&self, questions: &[(&str, Question)]) -> Result<Answers, Fault> {
        let keys = self.open_questions(questions);
        loop {
            let changed = self.changed.notified();
            if let Some(answers) = self.take_answers(&keys) {
                return Ok(answers);
            }
            changed.await;
        }
    }

    /// Keys must be unique during the task's lifetime, so each gets a number.
    fn open_questions(&self, questions: &[(&str, Question)]) -> Vec<(String, String)> {
        let mut state = self.state.lock();
        let mut keys = Vec::new();
        for (name, question) in questions {
            state.asked += 1;
            let key = format!("{name}-{}", state.asked);
            state.open.insert(key.clone(), question.clone());
            keys.push(((*name).to_owned(), key));
        }
        drop(state);
        self.touch(None);
        keys
    }

    fn take_answers(&self, keys: &[(String, String)]) -> Option<Answers> {
        let state = self.state.lock();
        let answer = |(name, key): &(String, String)| Some((name.clone(), state.given.get(key)?.clone()));
        keys.iter().map(answer).collect()
    }

    /// Applies the client's answers. Answers to unknown questions are ignored.
    pub(crate) fn update(&self, responses: Object<'_>) -> Result<(), Fault> {
        let mut state = self.state.lock();
        for (key, answer) in responses.iter() {
            if let Some(question) = state.open.get(key.as_ref()) {
                question.check(&key, answer)?;
                state.open.remove(key.as_ref());
                state.given.insert(key.into_owned(), answer.to_json());
            }
        }
        drop(state);
        self.touch(None);
        self.changed.notify_waiters();
        Ok(())
    }

    /// Ends the task. The first end counts.
    pub(crate) fn finish(&self, end: End) {
        let mut state = self.state.lock();
        if matches!(state.status, Status::Working) {
            state.open.clear();
            state.status = match end {
                End::Completed(result) => Status::Completed(result),
                End::Failed(error) => Status::Failed(error),
                End::Cancelled => Status::Cancelled,
            };
        }
        drop(state);
        self.touch(None);
    }

    /// Sets the status message, and notifies listeners if the message is new.
    pub(crate) fn tell(&self, message: String) {
        let is_current = self.state.lock().message.as_ref() == Some(&message);
        if !is_current {
            self.touch(Some(message));
        }
    }

    /// Records progress and notifies listeners.
    pub(crate) fn touch(&self, message: Option<String>) {
        let mut state = self.state.lock();
        state.updated = Moment::now();
        if message.is_some() {
            state.message = message;
        }
        drop(state);
        self.hub.announce(Event::TaskChanged(self.id.clone()));
    }
}

/// A task in the protocol's form.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Account<'a> {
    task_id: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_message: Option<&'a str>,
    created_at: String,
    last_updated_at: String,
    ttl_ms: u128,
    poll_interval_ms: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_requests: Option<BTreeMap<&'a str, Json>>,
}

pub(crate) enum End {
    Completed(Json),
    Failed(Json),
    Cancelled,
}

impl TaskState {
    fn status_name(&self) -> &'static str {
        match self.status {
            Status::Working if !self.open.is_empty() => "input_required",
            Status::Working => "working",
            Status::Completed(_) => "completed",
            Status::Failed(_) => "failed",
            Status::Cancelled => "cancelled",
        }
    }
}

#[cfg(test)]
mod tests {
    use failwell_rpc::Caller;

    use super::{MOST_PER_CALLER, Tasks};
    use crate::session::hub::Hub;

    #[test]
    fn a_named_caller_has_a_share() {
        let tasks = Tasks::new(Hub::new(), None);
        let (ann, bob) = (Caller::keyholder("ann"), Caller::keyholder("bob"));
        for _ in 0..MOST_PER_CALLER {
            tasks.create(&ann).expect("room");
        }
        let refused = tasks.create(&ann).expect_err("her share is used up");
        assert_eq!(refused.reason().id, "mcp/TOO_MANY_TASKS");
        tasks.create(&bob).expect("bob has his own");
        tasks.create(&Caller::anonymous()).expect("room");
    }
}
