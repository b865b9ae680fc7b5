//! Stdio: one message per line on standard input and output.

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
use failwell_pipeline::{
    IncomingMessage, IncomingRequest, Keep, Pipeline, RequestEra, STDIO, Session, SharedIds, claims_modern,
};
use failwell_render::Reply;
use failwell_rpc::Caller;
use failwell_rpc::{Dialect, Incoming, Limits, Message, MessageBuf, Misread, ReplyTo, Request};
use failwell_toolbox::Trace;
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

/// The limits of a stdio connection.
#[derive(Debug, Clone)]
pub struct StdioSettings {
    /// Maximum length of a line in bytes.
    pub largest_line: usize,
    /// Time for running requests after the end of input.
    pub drain: Duration,
}

impl Default for StdioSettings {
    fn default() -> Self {
        StdioSettings { largest_line: 16 * 1024 * 1024, drain: Duration::from_secs(10) }
    }
}

/// Serves one connection until its input ends or `stop` is set. Then waits for the accepted requests.
pub async fn serve_stdio(
    pipeline: Arc<Pipeline>,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
    settings: StdioSettings,
    stop: CancellationToken,
) -> Result<(), Fault> {
    let session = Session::new(STDIO.to_owned(), Caller::anonymous(), Keep::Nothing);
    pipeline.keep_told(&session);
    let writer = tokio::spawn(write_lines(session.outbound.clone(), output));
    let connection = Connection {
        pipeline: pipeline.clone(),
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
    // After the end of input, questions to the client cannot be answered any more; running requests can.
    pipeline.close_doors();
    session.close_questions();
    running.close();
    let _ = tokio::time::timeout(settings.drain, running.wait()).await;
    session.end();
    // The writer has its own deadlines, so this wait ends.
    let _ = writer.await;
    Ok(())
}

/// State shared by all lines of a connection.
#[derive(Clone)]
struct Connection {
    pipeline: Arc<Pipeline>,
    session: Arc<Session>,
    storm: Arc<Mutex<Storm>>,
}

impl Connection {
    /// Polls each line once, in order. A request is registered before the next line can cancel it, and a
    /// handshake completes before the next line relies on it. Work that is still pending continues as a task.
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

    fn dialect(&self) -> Dialect {
        Dialect::Mcp(self.session.revision())
    }

    async fn misread(&self, misread: Misread) -> Option<Reply> {
        let Session { id, caller, .. } = &*self.session;
        self.pipeline.misread(misread, self.dialect(), id, Some(caller)).await
    }

    async fn refuse_long(&self, start: &[u8], limit: usize) {
        let fault = Fault::new(&reason::RPC_LINE_TOO_LONG).fact("limit", limit);
        let to = ReplyTo::misread(id_in_start(start), self.dialect());
        self.complain(self.pipeline.refuse(fault, to, &self.session.id).await).await;
    }

    /// Answers an unreadable line, unless there are too many. Two programs that misunderstand each other must
    /// not exchange errors without end.
    async fn complain(&self, reply: Option<Reply>) {
        let Some(reply) = reply else { return };
        let verdict = self.storm.lock().unwrap_or_else(PoisonError::into_inner).judge();
        match verdict {
            Verdict::Answer => {
                let _ = self.session.outbound.push(reply.body).await;
            }
            Verdict::StopAnswering => {
                self.pipeline.journal().write(storm::NOTICE.to_owned());
            }
            Verdict::Silence => {}
        }
    }

    fn calm(&self) {
        self.storm.lock().unwrap_or_else(PoisonError::into_inner).calm();
    }

    /// Handles one line and writes all its replies to the connection.
    async fn exchange(&self, bytes: Bytes) {
        let body = match MessageBuf::new(bytes).read(&Limits::default()) {
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
                let to = ReplyTo::misread(None, self.dialect());
                return self.complain(self.pipeline.refuse(fault, to, &self.session.id).await).await;
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
                let trace = self.pipeline.join_trace(&request, None);
                self.pipeline.handle(incoming(&self.session, request, trace)).await
            }
            Ok(Message::Notification(notification)) => {
                self.calm();
                self.pipeline.handle_notification(&notification, &self.session).await;
                None
            }
            Ok(Message::Response(response)) => {
                self.pipeline.handle_response(&response, &self.session).await;
                None
            }
            Err(misread) => self.misread(misread).await,
        }
    }
}

/// Joins the replies of a batch into one array; `None` if there are none.
pub(crate) fn join_bodies(replies: Vec<Option<Reply>>) -> Option<Vec<u8>> {
    let bodies: Vec<Vec<u8>> = replies.into_iter().flatten().map(|reply| reply.body).collect();
    (!bodies.is_empty()).then(|| [b"[", bodies.join(&b","[..]).as_slice(), b"]"].concat())
}

fn incoming<'a>(
    session: &'a Arc<Session>,
    request: Request<'a>,
    trace: Option<Trace>,
) -> IncomingRequest<'a> {
    let era = if claims_modern(&request) { RequestEra::Modern(None) } else { RequestEra::Session };
    IncomingRequest {
        message: IncomingMessage::Mcp(request, era),
        caller: &session.caller,
        session: Some(session),
        connection: &session.id,
        ids: SharedIds::Refused,
        outlet: session.outbound.clone(),
        cancel: session.ended.child_token(),
        trace,
    }
}
