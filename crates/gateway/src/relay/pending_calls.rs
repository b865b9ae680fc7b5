//! A modern client with a session-era upstream. When the upstream asks something during a call, the call is suspended
//! and the client gets an `input_required` result. Its repeated request resumes the call with the answer. Questions
//! asked together are sent together.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_fault::{Fault, OrFault, reason};
use failwell_pipeline::{SharedState, fault_of_other_node, new_id};
use failwell_rpc::Caller;
use failwell_rpc::Json;
use failwell_toolbox::{Context, Question};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::upstream::{ClientQuestion, ClientRelay, ParsedResult, RequestError};

const PATIENCE: Duration = Duration::from_secs(300);
const MOST: usize = 1_000;
const MOST_QUESTIONS: usize = 16;
/// Collects questions that are asked together.
const GATHERING: Duration = Duration::from_millis(25);
/// The key of the call's name in the sealed state.
const NAME: &str = "~parked";

/// Suspended calls, by the name in the state that their clients carry.
pub(crate) struct PendingCalls {
    table: Mutex<HashMap<String, PendingCall>>,
    state: Arc<dyn SharedState>,
}

struct PendingCall {
    caller: Caller,
    since: Instant,
    call: RunningCall,
}

/// A call that outlives the requests that start and resume it. Dropping it cancels the call.
struct RunningCall {
    work: JoinHandle<Result<ParsedResult, RequestError>>,
    asked: mpsc::Receiver<ClientQuestion>,
    /// Unanswered questions, by key.
    open: Vec<(String, ClientQuestion)>,
    questions: usize,
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl PendingCalls {
    pub(crate) fn new(state: Arc<dyn SharedState>) -> PendingCalls {
        PendingCalls { table: Mutex::default(), state }
    }

    /// Starts a call, or resumes the one that the client has answers for.
    pub(crate) async fn call<W>(
        &self,
        cx: &Context,
        start: impl FnOnce(ClientRelay) -> W,
    ) -> Result<ParsedResult, RequestError>
    where
        W: Future<Output = Result<ParsedResult, RequestError>> + Send + 'static,
    {
        let call = match self.resume(cx).await? {
            Some(call) => call,
            None => {
                let (asking, asked) = mpsc::channel(MOST_QUESTIONS);
                let work = tokio::spawn(start(ClientRelay::suspending(cx, asking)));
                RunningCall { work, asked, open: Vec::new(), questions: 0 }
            }
        };
        self.drive(call, cx).await
    }

    /// Finds the call named by the client's state, and hands it the answers.
    async fn resume(&self, cx: &Context) -> Result<Option<RunningCall>, Fault> {
        let Some((_, name)) = cx.round_state(NAME).into_iter().next() else { return Ok(None) };
        let name = name.raw().as_str().unwrap_or_default();
        let brought = cx.round_state("");
        let Some(mut call) = self.take(&name, &brought, cx)? else {
            return Err(self.missing_call(&name).await);
        };
        for (key, asked) in std::mem::take(&mut call.open) {
            match brought.iter().find(|(brought, _)| *brought == key) {
                Some((_, answer)) => drop(asked.answer.send(answer.clone())),
                None => call.open.push((key, asked)),
            }
        }
        Ok(Some(call))
    }

    /// Takes the caller's own call. An invalid answer leaves the call suspended.
    fn take(
        &self,
        name: &str,
        brought: &[(String, Json)],
        cx: &Context,
    ) -> Result<Option<RunningCall>, Fault> {
        let mut table = self.table.lock();
        let mine = table.get(name).filter(|pending| pending.caller == cx.client().caller);
        let Some(pending) = mine else { return Ok(None) };
        for (key, asked) in &pending.call.open {
            if let Some((_, answer)) = brought.iter().find(|(brought, _)| brought == key) {
                asked.question.check(key, answer.raw())?;
            }
        }
        Ok(table.remove(name).map(|pending| pending.call))
    }

    /// The fault for a call that is not on this node: it is on another node, its node is gone, or it is finished.
    async fn missing_call(&self, name: &str) -> Fault {
        let elsewhere = fault_of_other_node(&*self.state, name).await;
        elsewhere.unwrap_or_else(|| Fault::new(&reason::MCP_BAD_STATE))
    }

    async fn drive(&self, mut call: RunningCall, cx: &Context) -> Result<ParsedResult, RequestError> {
        if call.open.is_empty() {
            tokio::select! {
                biased;
                Some(asked) = call.asked.recv() => call.gather(asked).await,
                done = &mut call.work => return done.or_fault(&reason::SERVER_BUG)?,
            }
        }
        let questions: Vec<(String, Question)> =
            call.open.iter().map(|(key, asked)| (key.clone(), asked.question.clone())).collect();
        let name = self.suspend(call, &cx.client().caller)?;
        cx.remember(NAME, Json::of(&name).or_fault(&reason::SERVER_BUG)?);
        let named: Vec<(&str, Question)> =
            questions.iter().map(|(key, q)| (key.as_str(), q.clone())).collect();
        // Fails with the questions in the fault, which the pipeline sends to the client.
        cx.ask(&named).await?;
        let twice = Fault::new(&reason::SERVER_BUG).note("parking", "the questions were answered twice");
        Err(twice.into())
    }

    fn suspend(&self, call: RunningCall, caller: &Caller) -> Result<String, Fault> {
        let name = new_id(self.state.node())?;
        let mut table = self.table.lock();
        table.retain(|_, pending| pending.since.elapsed() < PATIENCE);
        if table.len() >= MOST {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST));
        }
        table.insert(name.clone(), PendingCall { caller: caller.clone(), since: Instant::now(), call });
        Ok(name)
    }
}

impl RunningCall {
    /// Collects a question and those that follow at once.
    async fn gather(&mut self, first: ClientQuestion) {
        let mut next = Some(first);
        while let Some(asked) = next {
            self.questions += 1;
            // Keys are unique within a call, so that answers cannot be mixed up.
            let key = format!("{}-{}", asked.question.method().replace('/', "-"), self.questions);
            self.open.push((key, asked));
            if self.open.len() >= MOST_QUESTIONS {
                return;
            }
            next = tokio::time::timeout(GATHERING, self.asked.recv()).await.ok().flatten();
        }
    }
}
