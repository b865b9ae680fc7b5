//! A modern client in front of an upstream of the session era: when the upstream asks something in the middle of a
//! call, the call is parked, the client gets the question as an `input_required` result, and its repeated request
//! wakes the parked call with the answer. What is asked at once is put to the client at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use failwell_fault::{Effect, Fault, OrFault, Retry, reason};
use failwell_policy::Caller;
use failwell_rpc::Json;
use failwell_server::{Context, Question, SharedState};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::relay::Relay;

/// How long a client may take to answer.
const PATIENCE: Duration = Duration::from_secs(300);
/// The most calls that are parked.
const MOST: usize = 1_000;
/// The most questions of one call that wait.
const MOST_QUESTIONS: usize = 16;
/// How long to wait for what else is asked at the same time.
const GATHERING: Duration = Duration::from_millis(25);
/// Under which the sealed state names the parked call.
const NAME: &str = "~parked";

/// A question in the middle of a call, and where its answer goes.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    pub(crate) answer: oneshot::Sender<Json>,
}

/// Parked calls, by the name in the state their clients carry.
pub(crate) struct Parking {
    table: Mutex<HashMap<String, Parked>>,
    state: Arc<dyn SharedState>,
}

struct Parked {
    caller: Caller,
    since: Instant,
    call: Call,
}

/// A call that goes on beside the requests that started and wake it; dropped, it is called off.
struct Call {
    work: JoinHandle<Result<Json, Fault>>,
    asked: mpsc::Receiver<Asked>,
    /// What waits for an answer, by its key.
    open: Vec<(String, Asked)>,
    questions: usize,
}

impl Drop for Call {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl Parking {
    pub(crate) fn new(state: Arc<dyn SharedState>) -> Parking {
        Parking { table: Mutex::default(), state }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Parked>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a call, or wakes the one the client brings answers for.
    pub(crate) async fn call<W>(&self, cx: &Context, start: impl FnOnce(Relay) -> W) -> Result<Json, Fault>
    where
        W: Future<Output = Result<Json, Fault>> + Send + 'static,
    {
        let call = match self.wake(cx).await? {
            Some(call) => call,
            None => {
                let (asking, asked) = mpsc::channel(MOST_QUESTIONS);
                let work = tokio::spawn(start(Relay::parking(cx, asking)));
                Call { work, asked, open: Vec::new(), questions: 0 }
            }
        };
        self.follow(call, cx).await
    }

    /// The call a client's state names, with the answers it brings handed over.
    async fn wake(&self, cx: &Context) -> Result<Option<Call>, Fault> {
        let Some((_, name)) = cx.brought(NAME).into_iter().next() else { return Ok(None) };
        let name = name.raw().as_str().unwrap_or_default();
        let brought = cx.brought("");
        let Some(mut call) = self.take(&name, &brought, cx)? else { return Err(self.not_here(&name).await) };
        for (key, asked) in std::mem::take(&mut call.open) {
            match brought.iter().find(|(brought, _)| *brought == key) {
                Some((_, answer)) => drop(asked.answer.send(answer.clone())),
                None => call.open.push((key, asked)),
            }
        }
        Ok(Some(call))
    }

    /// The caller's own call, unless an answer does not fit: that changes nothing, and the call stays where it is.
    fn take(&self, name: &str, brought: &[(String, Json)], cx: &Context) -> Result<Option<Call>, Fault> {
        let mut table = self.lock();
        let mine = table.get(name).filter(|parked| parked.caller == cx.client().caller);
        let Some(parked) = mine else { return Ok(None) };
        for (key, asked) in &parked.call.open {
            if let Some((_, answer)) = brought.iter().find(|(brought, _)| brought == key) {
                asked.question.accept(key, answer.raw())?;
            }
        }
        Ok(table.remove(name).map(|parked| parked.call))
    }

    /// Why a call that was parked is not here: it waits on another node, its node is gone, or it is over.
    async fn not_here(&self, name: &str) -> Fault {
        let node = name.split_once('.').map(|(node, _)| node);
        let Some(node) = node.filter(|node| self.state.node().is_some_and(|own| own != *node)) else {
            return Fault::new(&reason::MCP_BAD_STATE);
        };
        match self.state.is_alive(node).await {
            Ok(true) => Fault::new(&reason::GATEWAY_ELSEWHERE)
                .retry_as(Retry::After(Duration::from_secs(1)))
                .with_effect(Effect::None),
            Ok(false) => Fault::new(&reason::SERVER_NODE_LOST).with_effect(Effect::Unknown),
            Err(fault) => fault,
        }
    }

    async fn follow(&self, mut call: Call, cx: &Context) -> Result<Json, Fault> {
        if call.open.is_empty() {
            tokio::select! {
                biased;
                Some(asked) = call.asked.recv() => call.gather(asked).await,
                done = &mut call.work => return done.or_fault(&reason::SERVER_BUG)?,
            }
        }
        let questions: Vec<(String, Question)> =
            call.open.iter().map(|(key, asked)| (key.clone(), asked.question.clone())).collect();
        let name = self.park(call, &cx.client().caller)?;
        cx.remember(NAME, Json::of(&name).or_fault(&reason::SERVER_BUG)?);
        let named: Vec<(&str, Question)> =
            questions.iter().map(|(key, q)| (key.as_str(), q.clone())).collect();
        // Fails with the questions in it, which the walk hands to the client.
        cx.ask(&named).await?;
        Err(Fault::new(&reason::SERVER_BUG).note("parking", "the questions were answered twice"))
    }

    fn park(&self, call: Call, caller: &Caller) -> Result<String, Fault> {
        let mut random = [0u8; 18];
        getrandom::fill(&mut random).or_fault(&reason::SERVER_BUG)?;
        let random = URL_SAFE_NO_PAD.encode(random);
        let name = match self.state.node() {
            Some(node) => format!("{node}.{random}"),
            None => random,
        };
        let mut table = self.lock();
        table.retain(|_, parked| parked.since.elapsed() < PATIENCE);
        if table.len() >= MOST {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST));
        }
        table.insert(name.clone(), Parked { caller: caller.clone(), since: Instant::now(), call });
        Ok(name)
    }
}

impl Call {
    /// Takes a question, and those that come with it.
    async fn gather(&mut self, first: Asked) {
        let mut next = Some(first);
        while let Some(asked) = next {
            self.questions += 1;
            // No key is used twice in one call, so that an answer is never taken for another.
            let key = format!("{}-{}", asked.question.method().replace('/', "-"), self.questions);
            self.open.push((key, asked));
            if self.open.len() >= MOST_QUESTIONS {
                return;
            }
            next = tokio::time::timeout(GATHERING, self.asked.recv()).await.ok().flatten();
        }
    }
}
