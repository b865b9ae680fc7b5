//! A connection over pipes.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::exchange::Exchange;
use super::message::Message;
use super::wire::child::{Child, ChildLine};
use super::wire::http::SendPace;
use super::wire::transcript::Transcript;
use super::{LivenessCheck, Patience, Transmission};
use crate::revision::Revision;

/// Enough of what came back to judge it; a flood is cut.
const GOT_CAP: usize = 1024 * 1024;
const IMPURE_CAP: usize = 8;

/// Lines on stdout that are no JSON-RPC, kept across connections.
pub(crate) type StdoutNoise = Arc<Mutex<Vec<Vec<u8>>>>;

/// A connection to a child process over stdio.
pub(crate) struct StdioConnection {
    pub(crate) child: Child,
    pub(crate) revision: Revision,
    pub(crate) wait: Duration,
    tape: Transcript,
    impure: StdoutNoise,
}

/// When to stop reading.
struct ListenLimit<'a> {
    id: Option<&'a str>,
    deadline: Instant,
}

impl StdioConnection {
    pub(crate) fn new(
        child: Child,
        revision: Revision,
        wait: Duration,
        tape: Transcript,
        impure: StdoutNoise,
    ) -> Self {
        Self { child, revision, wait, tape, impure }
    }

    pub(crate) async fn write_line(&mut self, body: &[u8]) {
        self.child.write(&[body, b"\n"].concat(), self.wait).await;
    }

    /// Sends a line and listens until it is answered or the patience ends.
    pub(crate) async fn exchange(&mut self, shot: &Transmission) -> Exchange {
        let mut exchange = Exchange::silent(self.revision, shot.body.clone());
        exchange.id.clone_from(&shot.id);
        let line = [shot.body.as_slice(), b"\n"].concat();
        let written = match shot.pace {
            SendPace::Dribble => self.child.dribble(&line, self.wait).await,
            _ => self.child.write(&line, self.wait * 2).await,
        };
        if !written {
            exchange.trouble = Some("the server stopped reading its input".to_owned());
        }
        let wait = match shot.patience {
            Patience::Settle => Duration::from_millis(400),
            Patience::Normal => Duration::from_millis(1000).min(self.wait),
            Patience::Full => self.wait,
        };
        let until = ListenLimit { id: shot.id.as_deref(), deadline: Instant::now() + wait };
        self.listen(&mut exchange, until).await;
        exchange
    }

    /// Listens until a message answers `id`, then a little longer for a second answer.
    async fn listen(&mut self, exchange: &mut Exchange, until: ListenLimit<'_>) {
        let mut deadline = until.deadline;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.child.line(left).await {
                ChildLine::TimedOut => return,
                ChildLine::Closed => {
                    exchange.trouble = Some("the server closed its output".to_owned());
                    return;
                }
                ChildLine::Received(line) => {
                    let answered = self.take(exchange, &line, until.id).await;
                    if answered {
                        deadline = deadline.min(Instant::now() + Duration::from_millis(40));
                    }
                }
            }
        }
    }

    /// Files one line; true when it answers the request.
    async fn take(&mut self, exchange: &mut Exchange, line: &[u8], id: Option<&str>) -> bool {
        self.tape.record(line);
        if exchange.got.len() < GOT_CAP {
            exchange.got.extend_from_slice(line);
            exchange.got.push(b'\n');
        }
        let Some(messages) = self.read(line) else { return false };
        let mut answered = false;
        for message in messages {
            if message.is_request() {
                self.decline(&message).await;
            }
            answered |=
                message.is_answer() && (message.has_no_id() || id.is_some_and(|id| message.has_id(id)));
            exchange.messages.push(message);
        }
        answered
    }

    fn read(&self, line: &[u8]) -> Option<Vec<Message>> {
        let found = Message::read(line);
        if found.is_none() && !line.trim_ascii().is_empty() {
            let mut impure = self.impure.lock();
            if impure.len() < IMPURE_CAP {
                impure.push(line.get(..500).unwrap_or(line).to_vec());
            }
        }
        found
    }

    /// Answers a request of the server, so that it does not wait for us.
    async fn decline(&mut self, request: &Message) {
        let id = request.id_text().unwrap_or("null");
        let body = if request.method() == Some("ping") {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
        } else {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"not supported"}}}}"#)
        };
        self.write_line(body.as_bytes()).await;
    }

    /// Asks for a sign of life; answers to earlier requests are kept apart.
    pub(crate) async fn pulse(&mut self, body: String, id: &str, linger: Duration) -> LivenessCheck {
        let wait = self.wait * 2;
        let mut exchange = Exchange::silent(self.revision, Vec::new());
        if !self.child.write(&[body.as_bytes(), b"\n"].concat(), wait).await {
            return LivenessCheck { trouble: Some(self.cause_of_death().await), late: Vec::new() };
        }
        let mut late = Vec::new();
        let mut deadline = Instant::now() + wait;
        let mut alive = false;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let ChildLine::Received(line) = self.child.line(left).await else { break };
            exchange.messages.clear();
            self.take(&mut exchange, &line, None).await;
            for message in exchange.messages.drain(..) {
                if message.is_answer() && message.has_id(id) {
                    alive = true;
                    deadline = deadline.min(Instant::now() + linger);
                } else {
                    late.push((line.clone(), message));
                }
            }
        }
        LivenessCheck { trouble: if alive { None } else { Some(self.cause_of_death().await) }, late }
    }

    async fn cause_of_death(&mut self) -> String {
        match self.child.obituary().await {
            Some(words) => format!("the server died ({words})"),
            None => "the server no longer answers".to_owned(),
        }
    }
}
