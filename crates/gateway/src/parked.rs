//! A modern client in front of an upstream of the session era: when the upstream asks something in the middle of a
//! call, the call is parked, the client gets the question as an `input_required` result, and its repeated request
//! wakes the parked call with the answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use failwell_fault::{Fault, OrFault, reason};
use failwell_policy::Caller;
use failwell_rpc::Json;
use failwell_server::{Context, Question};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::params::Params;
use crate::relay::Relay;
use crate::upstream::{Connection, Upstream};

/// How long a client may take to answer.
const PATIENCE: Duration = Duration::from_secs(300);
/// The most calls that are parked.
const MOST: usize = 1_000;
/// Keys of parked questions begin so.
const KEY: &str = "parked-";

/// A question in the middle of a call, and where its answer goes.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    pub(crate) answer: oneshot::Sender<Json>,
}

/// Parked calls, by the key of the question each waits for.
#[derive(Default)]
pub(crate) struct Parking(Mutex<HashMap<String, Parked>>);

struct Parked {
    caller: Caller,
    since: Instant,
    question: Question,
    answer: oneshot::Sender<Json>,
    call: Call,
}

/// A call that goes on beside the requests that started and wake it; dropped, it is called off.
struct Call {
    work: JoinHandle<Result<Json, Fault>>,
    asked: mpsc::Receiver<Asked>,
}

impl Drop for Call {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl Parking {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Parked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a call, or wakes the one the client brings an answer for.
    pub(crate) async fn call(
        &self,
        upstream: Arc<Upstream>,
        method: &'static str,
        params: Params,
        cx: &Context,
    ) -> Result<Json, Fault> {
        let call = match self.wake(cx)? {
            Some(call) => call,
            None => start(upstream, method, params, cx),
        };
        self.follow(call, cx).await
    }

    fn wake(&self, cx: &Context) -> Result<Option<Call>, Fault> {
        let Some((key, answer)) = cx.brought(KEY).into_iter().next() else { return Ok(None) };
        let parked = {
            let mut table = self.lock();
            let mine = table.get(&key).is_some_and(|parked| parked.caller == cx.client().caller);
            mine.then(|| table.remove(&key)).flatten()
        };
        let parked = parked.ok_or_else(|| Fault::new(&reason::MCP_BAD_STATE))?;
        parked.question.accept(&key, answer.raw())?;
        let _ = parked.answer.send(answer);
        Ok(Some(parked.call))
    }

    async fn follow(&self, mut call: Call, cx: &Context) -> Result<Json, Fault> {
        tokio::select! {
            biased;
            Some(asked) = call.asked.recv() => {
                let key = self.park(call, &asked.question, asked.answer, &cx.client().caller)?;
                // Fails with the question in it, which the walk hands to the client.
                cx.ask(&[(key.as_str(), asked.question)]).await?;
                Err(Fault::new(&reason::SERVER_BUG).note("parking", "the question was answered twice"))
            }
            done = &mut call.work => done.or_fault(&reason::SERVER_BUG)?,
        }
    }

    fn park(
        &self,
        call: Call,
        question: &Question,
        answer: oneshot::Sender<Json>,
        caller: &Caller,
    ) -> Result<String, Fault> {
        let mut random = [0u8; 18];
        getrandom::fill(&mut random).or_fault(&reason::SERVER_BUG)?;
        let key = format!("{KEY}{}", URL_SAFE_NO_PAD.encode(random));
        let mut table = self.lock();
        table.retain(|_, parked| parked.since.elapsed() < PATIENCE);
        if table.len() >= MOST {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST));
        }
        let (caller, question) = (caller.clone(), question.clone());
        table.insert(key.clone(), Parked { caller, since: Instant::now(), question, answer, call });
        Ok(key)
    }
}

fn start(upstream: Arc<Upstream>, method: &'static str, params: Params, cx: &Context) -> Call {
    let (asking, asked) = mpsc::channel(8);
    let relay = Relay::parking(cx, asking);
    let work = tokio::spawn(async move {
        let text = |connection: &Connection, number| params.text(connection, Some(number), &relay.cx);
        Ok(upstream.request(&relay.cx, method, text, Some(&relay)).await?.0)
    });
    Call { work, asked }
}
