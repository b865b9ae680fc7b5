//! One message per line on standard input, one per line on standard output.

mod ends;
mod lines;
mod refuse;
mod salvage;
mod storm;
mod writer;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use failwell_policy::Caller;
use failwell_render::Reply;
use failwell_rpc::{Face, Incoming, Letter, Limits, Message, Misread, ReplyTo, Request};
use failwell_server::{Arrival, House, Keep, STDIO, Session, SharedIds, Spoken, Trace, claims_modern};
use futures_util::FutureExt;
use futures_util::future::join_all;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use self::ends::standard;
pub use self::lines::{Line, Lines};
pub use self::refuse::refuse_stdio;
pub use self::salvage::id_in_start;
use self::storm::{Storm, Verdict};
pub use self::writer::write_lines;

/// The bounds of a stdio connection.
#[derive(Debug, Clone)]
pub struct StdioSettings {
    /// The longest line that is read.
    pub largest_line: usize,
    /// How long running requests may take after the input ended.
    pub drain: Duration,
}

impl Default for StdioSettings {
    fn default() -> Self {
        StdioSettings { largest_line: 16 * 1024 * 1024, drain: Duration::from_secs(10) }
    }
}

/// Serves one connection until its input ends or `stop` is set; then answers what was accepted.
pub async fn serve_stdio(
    house: Arc<House>,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
    settings: StdioSettings,
    stop: CancellationToken,
) -> Result<(), Fault> {
    let session = Session::new(STDIO.to_owned(), Caller::anonymous(), Keep::Nothing);
    house.keep_told(&session);
    let writer = tokio::spawn(write_lines(session.outbound.clone(), output));
    let connection = Connection {
        house: house.clone(),
        session: session.clone(),
        storm: Arc::new(Mutex::new(Storm::new())),
    };
    let running = TaskTracker::new();
    let mut lines = Lines::new(input, settings.largest_line);
    loop {
        let line = tokio::select! {
            line = lines.next() => line,
            () = stop.cancelled() => None,
        };
        let Some(line) = line else { break };
        connection.take(line, settings.largest_line, &running);
    }
    // No more input: questions can no longer be answered, everything else is.
    house.close_doors();
    session.close_questions();
    running.close();
    let _ = tokio::time::timeout(settings.drain, running.wait()).await;
    session.end();
    // The writer has its own deadlines, so this ends.
    let _ = writer.await;
    Ok(())
}

/// What every line of one connection shares.
#[derive(Clone)]
struct Connection {
    house: Arc<House>,
    session: Arc<Session>,
    storm: Arc<Mutex<Storm>>,
}

impl Connection {
    /// Takes the first step of a line here, in order: a request is registered before the next line can cancel
    /// it, and a handshake is over before the next line relies on it. What takes longer goes on beside.
    fn take(&self, line: Line, limit: usize, running: &TaskTracker) {
        let connection = self.clone();
        let mut exchange = Box::pin(async move {
            match line {
                Line::Whole(bytes) => connection.exchange(bytes).await,
                Line::TooLong(start) => connection.refuse_long(&start, limit).await,
            }
        });
        if (&mut exchange).now_or_never().is_none() {
            running.spawn(exchange);
        }
    }

    fn face(&self) -> Face {
        Face::Mcp(self.session.revision())
    }

    async fn misread(&self, misread: Misread) -> Option<Reply> {
        let Session { id, caller, .. } = &*self.session;
        self.house.misread(misread, self.face(), id, Some(caller)).await
    }

    async fn refuse_long(&self, start: &[u8], limit: usize) {
        let fault = Fault::new(&reason::RPC_LINE_TOO_LONG).fact("limit", limit);
        let to = ReplyTo::misread(id_in_start(start), self.face());
        self.complain(self.house.refuse(fault, to, &self.session.id).await).await;
    }

    /// Answers what could not be read, unless it has become a storm: two programs that misunderstand each
    /// other must not shout at each other for ever.
    async fn complain(&self, reply: Option<Reply>) {
        let Some(reply) = reply else { return };
        let verdict = self.storm.lock().unwrap_or_else(PoisonError::into_inner).judge();
        match verdict {
            Verdict::Answer => {
                let _ = self.session.outbound.push(reply.body).await;
            }
            Verdict::StopAnswering => {
                self.house.journal().write(storm::NOTICE.to_owned());
            }
            Verdict::Silence => {}
        }
    }

    fn calm(&self) {
        self.storm.lock().unwrap_or_else(PoisonError::into_inner).calm();
    }

    /// One line from start to end: everything it calls for is written to the connection.
    async fn exchange(&self, bytes: Bytes) {
        let body = match Letter::new(bytes).read(&Limits::default()) {
            Incoming::One(Err(misread)) => {
                return self.complain(self.misread(misread).await).await;
            }
            Incoming::One(message) => self.one(message).await.map(|reply| reply.body),
            Incoming::Batch(messages) if self.session.revision().allows_batch() => {
                let replies = join_all(messages.into_iter().map(|message| self.one(message))).await;
                join_bodies(replies)
            }
            Incoming::Batch(_) => {
                let fault = Fault::new(&reason::RPC_BATCH_NOT_ALLOWED);
                let to = ReplyTo::misread(None, self.face());
                return self.complain(self.house.refuse(fault, to, &self.session.id).await).await;
            }
        };
        if let Some(body) = body {
            let _ = self.session.outbound.push(body).await;
        }
    }

    async fn one(&self, message: Result<Message<'_>, Misread>) -> Option<Reply> {
        match message {
            Ok(Message::Request(request)) => {
                self.calm();
                let trace = self.house.join_trace(&request, None);
                self.house.walk(&arrival(&self.session, request, trace)).await
            }
            Ok(Message::Notification(notification)) => {
                self.calm();
                self.house.heed(&notification, &self.session).await;
                None
            }
            Ok(Message::Response(response)) => {
                self.house.hear(&response, &self.session).await;
                None
            }
            Err(misread) => self.misread(misread).await,
        }
    }
}

/// The answers of a batch as one array; nothing when there are none.
pub(crate) fn join_bodies(replies: Vec<Option<Reply>>) -> Option<Vec<u8>> {
    let bodies: Vec<Vec<u8>> = replies.into_iter().flatten().map(|reply| reply.body).collect();
    (!bodies.is_empty()).then(|| [b"[", bodies.join(&b","[..]).as_slice(), b"]"].concat())
}

fn arrival<'a>(session: &'a Arc<Session>, request: Request<'a>, trace: Option<Trace>) -> Arrival<'a> {
    let spoken = if claims_modern(&request) { Spoken::Modern(None) } else { Spoken::Session };
    Arrival {
        request,
        spoken,
        caller: &session.caller,
        session: Some(session),
        connection: &session.id,
        ids: SharedIds::Refused,
        outlet: session.outbound.clone(),
        cancel: session.ended.child_token(),
        trace,
    }
}
