//! The route of a question to the client, per era.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, OrFault, reason};
use failwell_rpc::{Json, Object};
use futures_util::future::try_join_all;

use crate::controls::guards::ContentGuards;
use crate::session::Session;
use crate::session::stream::Stream;
use failwell_toolbox::{Answers, Question};
use parking_lot::Mutex;

/// The maximum time for a person or a model to answer in a session.
const PATIENCE: Duration = Duration::from_secs(300);

/// The stream to a client, the guards, and the server whose guard settings apply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuestionOutlet<'a> {
    pub(crate) outlet: &'a Stream,
    pub(crate) guards: &'a Arc<dyn ContentGuards>,
    pub(crate) server: &'a str,
}

/// The route to the client.
#[derive(Debug)]
pub(crate) enum QuestionRoute {
    /// A session client gets a request from us.
    Session(Arc<Session>),
    /// A session client whose handshake is in progress is asked after it.
    Initializing(Arc<Session>),
    /// A modern client repeats its request with the answers.
    Rounds(Rounds),
    /// Clients of `/rpc` and REST cannot be asked.
    Unavailable,
}

/// The answers of a modern client, and its open questions.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    round_state: BTreeMap<String, Json>,
    state: Mutex<RoundState>,
}

#[derive(Debug, Default)]
struct RoundState {
    settled: BTreeMap<String, Json>,
    open: BTreeMap<String, Json>,
}

impl QuestionRoute {
    pub(crate) async fn ask(
        &self,
        questions: &[(&str, Question)],
        way: QuestionOutlet<'_>,
    ) -> Result<Answers, Fault> {
        match self {
            QuestionRoute::Session(session) => ask_session(session, questions, way).await,
            QuestionRoute::Initializing(session) => {
                session.introduced().await?;
                ask_session(session, questions, way).await
            }
            QuestionRoute::Rounds(rounds) => rounds.ask(questions),
            QuestionRoute::Unavailable => Err(Fault::new(&reason::MCP_CLIENT_REFUSED)),
        }
    }

    /// The open questions of a modern client, and its answers so far.
    pub(crate) fn open_round(&self) -> Option<(BTreeMap<String, Json>, BTreeMap<String, Json>)> {
        let QuestionRoute::Rounds(rounds) = self else { return None };
        let state = rounds.state.lock();
        (!state.open.is_empty()).then(|| (state.open.clone(), state.settled.clone()))
    }
}

impl Rounds {
    pub(crate) fn new(earlier: BTreeMap<String, Json>, responses: Option<Object<'_>>) -> Rounds {
        let mut round_state = earlier;
        for (key, answer) in responses.into_iter().flat_map(|object| object.iter()) {
            round_state.insert(key.into_owned(), answer.to_json());
        }
        Rounds { round_state, state: Mutex::default() }
    }

    /// The round state under keys with this prefix, including answers to questions that were not asked yet.
    pub(crate) fn round_state(&self, begins: &str) -> Vec<(String, Json)> {
        let found = self.round_state.iter().filter(|(key, _)| key.starts_with(begins));
        found.map(|(key, answer)| (key.clone(), answer.clone())).collect()
    }

    /// Stores a sealed value for the next round.
    pub(crate) fn remember(&self, key: &str, value: Json) {
        let mut state = self.state.lock();
        state.settled.insert(key.to_owned(), value);
    }

    fn ask(&self, questions: &[(&str, Question)]) -> Result<Answers, Fault> {
        let mut state = self.state.lock();
        let mut answers = Vec::new();
        for (key, question) in questions {
            match self.round_state.get(*key) {
                Some(answer) => {
                    question.check(key, answer.raw())?;
                    state.settled.insert((*key).to_owned(), answer.clone());
                    answers.push(((*key).to_owned(), answer.clone()));
                }
                None => {
                    state.open.insert((*key).to_owned(), question.as_input_request());
                }
            }
        }
        if state.open.is_empty() {
            Ok(answers.into_iter().collect())
        } else {
            Err(Fault::new(&reason::MCP_INPUT_NEEDED))
        }
    }
}

async fn ask_session(
    session: &Arc<Session>,
    questions: &[(&str, Question)],
    way: QuestionOutlet<'_>,
) -> Result<Answers, Fault> {
    let asked = questions.iter().map(|(key, question)| ask_one(session, key, question, way));
    Ok(try_join_all(asked).await?.into_iter().collect())
}

async fn ask_one(
    session: &Arc<Session>,
    key: &str,
    question: &Question,
    way: QuestionOutlet<'_>,
) -> Result<(String, Json), Fault> {
    let (id, answer) = session.open_question(question.follower())?;
    let frame = way.guards.outgoing(way.server, question.as_request(id)).await?;
    way.outlet.push(frame).await?;
    let answer = tokio::time::timeout(PATIENCE, answer).await;
    let answer = answer.or_fault(&reason::MCP_CLIENT_REFUSED)?.or_fault(&reason::MCP_CLIENT_REFUSED)?;
    let answer = answer.map_err(|()| Fault::new(&reason::MCP_CLIENT_REFUSED))?;
    question.check(key, answer.raw())?;
    Ok((key.to_owned(), answer))
}
