//! Stdio: one message per line on standard input and output.

mod lines;
mod refuse;
mod salvage;
mod standard_io;
mod unreadable_lines;
mod writer;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use failwell_pipeline::{
    FrameRetention, IncomingMessage, IncomingRequest, Pipeline, RequestEra, STDIO, Session, SharedIds,
    claims_modern,
};
use failwell_render::Reply;
use failwell_rpc::Caller;
use failwell_rpc::{Dialect, Incoming, Limits, Message, MessageBuf, MessageKind, Request, UnreadableMessage};
use failwell_toolbox::Trace;
use futures_util::FutureExt;
use futures_util::future::join_all;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use self::lines::{InputLine, Lines};
pub use self::refuse::refuse_stdio;
pub use self::salvage::id_in_start;
pub use self::standard_io::standard;
use self::unreadable_lines::{UnreadableLines, Verdict};
pub use self::writer::write_lines;
use crate::shutdown::{FLUSH, ShutdownReport, settle};

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

/// Serves one connection until its input ends or `stop` is set. Then answers the accepted requests.
pub async fn serve_stdio(
    pipeline: Arc<Pipeline>,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
    settings: StdioSettings,
    stop: CancellationToken,
) -> Result<ShutdownReport, Fault> {
    let session = Session::new(STDIO.to_owned(), Caller::anonymous(), FrameRetention::Nothing);
    pipeline.forward_changes(&session);
    let mut writer = tokio::spawn(write_lines(session.outbound.clone(), output));
    let connection = Connection {
        pipeline: pipeline.clone(),
        session: session.clone(),
        unreadable_lines: Arc::new(Mutex::new(UnreadableLines::new())),
        is_flooded: Arc::default(),
    };
    let running = TaskTracker::new();
    let mut lines = Lines::new(input, settings.largest_line);
    let mut is_read = true;
    loop {
        let line = tokio::select! {
            line = connection.next_line(&mut lines) => line,
            () = stop.cancelled() => None,
            _ = &mut writer => {
                is_read = false;
                None
            }
        };
        let Some(line) = line else { break };
        connection.take(line, settings.largest_line, &running);
        if connection.is_flooded.swap(false, Ordering::Relaxed) {
            let _ = tokio::time::timeout(unreadable_lines::PAUSE, stop.cancelled()).await;
        }
    }
    pipeline.refuse_requests();
    running.close();
    let report = connection.shut_down(lines, &settings, &running, &stop).await;
    session.end();
    // The writer has its own deadlines; a shutdown has a shorter one.
    let is_written = tokio::select! {
        biased;
        _ = &mut writer, if is_read => true,
        () = std::future::ready(()), if !is_read => false,
        () = async { stop.cancelled().await; tokio::time::sleep(FLUSH).await } => false,
    };
    writer.abort();
    Ok(ShutdownReport { undelivered: report.undelivered.max(usize::from(!is_written)), ..report })
}

/// State shared by all lines of a connection.
#[derive(Clone)]
struct Connection {
    pipeline: Arc<Pipeline>,
    session: Arc<Session>,
    unreadable_lines: Arc<Mutex<UnreadableLines>>,
    /// Set by a request that is answered although there are too many unreadable lines.
    is_flooded: Arc<AtomicBool>,
}

impl Connection {
    /// Reads a line. A client that does not read its responses is not asked for more requests.
    async fn next_line(&self, lines: &mut Lines<impl AsyncRead + Unpin>) -> Option<InputLine> {
        self.session.outbound.wait_for_space().await;
        lines.next().await
    }

    /// Lets running requests finish, refuses new ones, and ends the rest after the grace period.
    async fn shut_down(
        &self,
        mut lines: Lines<impl AsyncRead + Unpin>,
        settings: &StdioSettings,
        running: &TaskTracker,
        stop: &CancellationToken,
    ) -> ShutdownReport {
        let count = self.pipeline.running();
        let until = tokio::time::Instant::now() + settings.drain;
        let mut is_open = true;
        loop {
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(until) => break,
                // Lines that were sent before the client knew are answered too.
                line = self.next_line(&mut lines), if is_open => match line {
                    Some(line) => self.take(line, settings.largest_line, running),
                    None => {
                        // Without input, questions to the client cannot be answered any more.
                        self.session.close_questions();
                        is_open = false;
                    }
                },
                () = self.settled(running, settings, stop) => break,
            }
        }
        self.pipeline.end_running();
        let _ = tokio::time::timeout(FLUSH, running.wait()).await;
        settle(FLUSH, || self.pipeline.running() == 0).await;
        ShutdownReport { running: count, ended: self.pipeline.ended(), undelivered: running.len() }
    }

    /// Waits for the responses, and at a stop for tasks too. A client that closed its end cannot read the
    /// results of its tasks.
    async fn settled(&self, running: &TaskTracker, settings: &StdioSettings, stop: &CancellationToken) {
        running.wait().await;
        if stop.is_cancelled() {
            settle(settings.drain, || self.pipeline.running() == 0).await;
        }
    }

    /// Polls each line once, in order. A request is registered before the next line can cancel it, and a
    /// handshake completes before the next line relies on it. Work that is still pending continues as a task.
    fn take(&self, line: InputLine, limit: usize, running: &TaskTracker) {
        let connection = self.clone();
        let mut exchange = Box::pin(async move {
            match line {
                InputLine::Whole(bytes) => connection.exchange(bytes).await,
                InputLine::TooLong(start) => connection.refuse_long(&start, limit).await,
            }
        });
        if (&mut exchange).now_or_never().is_none() {
            running.spawn(exchange);
        }
    }

    fn dialect(&self) -> Dialect {
        Dialect::Mcp(self.session.revision())
    }

    async fn refuse_unreadable(&self, unreadable: UnreadableMessage) -> Option<Reply> {
        let Session { id, caller, .. } = &*self.session;
        self.pipeline.refuse_unreadable(unreadable, self.dialect(), id, Some(caller)).await
    }

    async fn refuse_long(&self, start: &[u8], limit: usize) {
        let fault = Fault::new(&reason::RPC_LINE_TOO_LONG).fact("limit", limit);
        self.complain(UnreadableMessage { fault, id: id_in_start(start), about: MessageKind::Unknown }).await;
    }

    /// Answers an unreadable line. If there are too many, those with an id are slowed down, and the others get
    /// no response: two programs that misunderstand each other must not exchange errors without end.
    async fn complain(&self, mut unreadable: UnreadableMessage) {
        if unreadable.about != MessageKind::Answer {
            let verdict = self.unreadable_lines.lock().judge();
            if verdict == Verdict::FirstTooMany {
                self.pipeline.journal().note_warning(unreadable_lines::NOTICE, "stdio");
            }
            match (verdict, &unreadable.id) {
                (Verdict::Answer, _) => {}
                (_, Some(_)) => self.is_flooded.store(true, Ordering::Relaxed),
                // An invalid response gets no response, and neither does this line.
                (_, None) => unreadable.about = MessageKind::Answer,
            }
        }
        if let Some(reply) = self.refuse_unreadable(unreadable).await {
            let _ = self.session.outbound.push(reply.body).await;
        }
    }

    fn reset(&self) {
        self.unreadable_lines.lock().reset();
    }

    /// Handles one line and writes all its replies to the connection.
    async fn exchange(&self, bytes: Bytes) {
        let body = match MessageBuf::scan(bytes, &Limits::default()).read() {
            Incoming::One(Err(unreadable)) => {
                return self.complain(unreadable).await;
            }
            Incoming::One(message) => self.one(message).await.map(|reply| reply.body),
            Incoming::Batch(messages) if self.session.revision().allows_batch() => {
                let replies = join_all(messages.into_iter().map(|message| self.one(message))).await;
                join_bodies(replies)
            }
            Incoming::Batch(_) => {
                let fault = Fault::new(&reason::RPC_BATCH_NOT_ALLOWED);
                return self
                    .complain(UnreadableMessage { fault, id: None, about: MessageKind::Unknown })
                    .await;
            }
        };
        if let Some(body) = body {
            let _ = self.session.outbound.push(body).await;
        }
    }

    async fn one(&self, message: Result<Message<'_>, UnreadableMessage>) -> Option<Reply> {
        match message {
            Ok(Message::Request(request)) => {
                self.reset();
                let trace = self.pipeline.join_trace(&request, None);
                self.pipeline.handle(incoming(&self.session, request, trace)).await
            }
            Ok(Message::Notification(notification)) => {
                self.reset();
                self.pipeline.handle_notification(&notification, &self.session).await;
                None
            }
            Ok(Message::Response(response)) => {
                self.pipeline.handle_response(&response, &self.session).await;
                None
            }
            Err(unreadable) => self.refuse_unreadable(unreadable).await,
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
