//! How a question reaches the client, era by era.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use failwell_fault::{Fault, OrFault, reason};
use failwell_rpc::{Json, Object};
use futures_util::future::try_join_all;

use crate::guarding::Porter;
use crate::question::{Answers, Question};
use crate::session::Session;
use crate::stream::Stream;

/// How long a person or a model may take to answer in a session.
const PATIENCE: Duration = Duration::from_secs(300);

/// The line to a client, and who stands at it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way<'a> {
    pub(crate) outlet: &'a Stream,
    pub(crate) porter: &'a Porter,
    pub(crate) server: &'a str,
}

/// The way to the client.
#[derive(Debug)]
pub(crate) enum Asking {
    /// A session client is asked with a request of ours.
    Session(Arc<Session>),
    /// A session client that introduces itself just now: it is asked once that is over.
    Introducing(Arc<Session>),
    /// A modern client repeats its request with the answers.
    Rounds(Rounds),
    /// The plain faces have nobody to ask.
    Nobody,
}

/// The answers a modern client brought along, and the questions it still has to answer.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    brought: BTreeMap<String, Json>,
    state: Mutex<RoundState>,
}

#[derive(Debug, Default)]
struct RoundState {
    settled: BTreeMap<String, Json>,
    open: BTreeMap<String, Json>,
}

impl Asking {
    pub(crate) async fn ask(&self, questions: &[(&str, Question)], way: Way<'_>) -> Result<Answers, Fault> {
        match self {
            Asking::Session(session) => ask_session(session, questions, way).await,
            Asking::Introducing(session) => {
                session.introduced().await?;
                ask_session(session, questions, way).await
            }
            Asking::Rounds(rounds) => rounds.ask(questions),
            Asking::Nobody => Err(Fault::new(&reason::MCP_CLIENT_REFUSED)),
        }
    }

    /// What a modern client must still answer, and what it has answered so far.
    pub(crate) fn open_round(&self) -> Option<(BTreeMap<String, Json>, BTreeMap<String, Json>)> {
        let Asking::Rounds(rounds) = self else { return None };
        let state = rounds.state.lock().unwrap_or_else(PoisonError::into_inner);
        (!state.open.is_empty()).then(|| (state.open.clone(), state.settled.clone()))
    }
}

impl Rounds {
    pub(crate) fn new(earlier: BTreeMap<String, Json>, responses: Option<Object<'_>>) -> Rounds {
        let mut brought = earlier;
        for (key, answer) in responses.into_iter().flat_map(|object| object.iter()) {
            brought.insert(key.into_owned(), answer.to_json());
        }
        Rounds { brought, state: Mutex::default() }
    }

    /// What the client brought under a key, whether it was asked for yet or not.
    pub(crate) fn brought(&self, begins: &str) -> Vec<(String, Json)> {
        let found = self.brought.iter().filter(|(key, _)| key.starts_with(begins));
        found.map(|(key, answer)| (key.clone(), answer.clone())).collect()
    }

    /// Keeps something for the next round, sealed.
    pub(crate) fn remember(&self, key: &str, value: Json) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.settled.insert(key.to_owned(), value);
    }

    fn ask(&self, questions: &[(&str, Question)]) -> Result<Answers, Fault> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut answers = Answers::default();
        for (key, question) in questions {
            match self.brought.get(*key) {
                Some(answer) => {
                    question.check(key, answer.raw())?;
                    state.settled.insert((*key).to_owned(), answer.clone());
                    answers.0.insert((*key).to_owned(), answer.clone());
                }
                None => {
                    state.open.insert((*key).to_owned(), question.as_input_request());
                }
            }
        }
        if state.open.is_empty() { Ok(answers) } else { Err(Fault::new(&reason::MCP_INPUT_NEEDED)) }
    }
}

async fn ask_session(
    session: &Arc<Session>,
    questions: &[(&str, Question)],
    way: Way<'_>,
) -> Result<Answers, Fault> {
    let asked = questions.iter().map(|(key, question)| ask_one(session, key, question, way));
    Ok(Answers(try_join_all(asked).await?.into_iter().collect()))
}

async fn ask_one(
    session: &Arc<Session>,
    key: &str,
    question: &Question,
    way: Way<'_>,
) -> Result<(String, Json), Fault> {
    let (id, answer) = session.open_question(question.follower())?;
    let frame = way.porter.outgoing(way.server, question.as_request(id)).await?;
    way.outlet.push(frame).await?;
    let answer = tokio::time::timeout(PATIENCE, answer).await;
    let answer = answer.or_fault(&reason::MCP_CLIENT_REFUSED)?.or_fault(&reason::MCP_CLIENT_REFUSED)?;
    let answer = answer.map_err(|()| Fault::new(&reason::MCP_CLIENT_REFUSED))?;
    question.check(key, answer.raw())?;
    Ok((key.to_owned(), answer))
}
