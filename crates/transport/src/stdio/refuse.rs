//! Answers requests with a fault, for a server that cannot start.

use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Fault;
use failwell_pipeline::{Pipeline, Requester, STDIO, claims_modern};
use failwell_render::Reply;
use failwell_rpc::Caller;
use failwell_rpc::{Dialect, Incoming, Limits, Message, ReplyTo, Request, Revision, UnreadableMessage, read};
use futures_util::future::join_all;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::lines::{InputLine, Lines};
use super::unreadable_lines::{UnreadableLines, Verdict};
use super::{StdioSettings, join_bodies, salvage};

/// Time to answer further requests after the first, because a client may send several at once.
const GRACE: Duration = Duration::from_millis(500);
/// Maximum time to write one response.
const SLOWEST: Duration = Duration::from_secs(30);

/// Answers requests with a fault. Waits for the first request without a limit, and ends shortly after it.
pub async fn refuse_stdio(
    pipeline: Arc<Pipeline>,
    input: impl AsyncRead + Unpin + Send,
    mut output: impl AsyncWrite + Unpin + Send,
    fault: impl Fn() -> Fault + Send,
    stop: CancellationToken,
) {
    let mut lines = Lines::new(input, StdioSettings::default().largest_line);
    let refusal = Refusal { pipeline, fault };
    let mut unreadable_lines = UnreadableLines::new();
    let mut end: Option<Instant> = None;
    loop {
        let line = tokio::select! {
            line = lines.next() => line,
            () = stop.cancelled() => None,
            () = async { sleep_until(end.unwrap_or_else(Instant::now)).await }, if end.is_some() => None,
        };
        let Some(line) = line else { return };
        let RefusalAnswer { body, of } = refusal.answer(line).await;
        if of == AnsweredMessage::Request {
            end.get_or_insert_with(|| Instant::now() + GRACE);
        } else if body.is_some() && unreadable_lines.judge() != Verdict::Answer {
            continue;
        }
        let Some(body) = body else { continue };
        let written = async {
            output.write_all(&[body.as_slice(), b"\n"].concat()).await?;
            output.flush().await
        };
        if !matches!(timeout(SLOWEST, written).await, Ok(Ok(()))) {
            return;
        }
    }
}

struct Refusal<F> {
    pipeline: Arc<Pipeline>,
    fault: F,
}

struct RefusalAnswer {
    body: Option<Vec<u8>>,
    of: AnsweredMessage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AnsweredMessage {
    Request,
    Other,
}

impl<F: Fn() -> Fault + Send> Refusal<F> {
    async fn answer(&self, line: InputLine) -> RefusalAnswer {
        let bytes = match line {
            InputLine::Whole(bytes) => bytes,
            InputLine::TooLong(start) => {
                let to =
                    ReplyTo::unreadable(salvage::id_in_start(&start), Dialect::Mcp(Revision::LATEST_SESSION));
                let local = Caller::anonymous();
                let from = Requester::Caller(&local);
                let reply = self.pipeline.refuse((self.fault)(), to, STDIO, from).await;
                return RefusalAnswer { body: reply.map(|reply| reply.body), of: AnsweredMessage::Request };
            }
        };
        match read(&bytes, &Limits::default()) {
            Incoming::One(message) => {
                let of = match &message {
                    Ok(Message::Request(_)) | Err(UnreadableMessage { id: Some(_), .. }) => {
                        AnsweredMessage::Request
                    }
                    _ => AnsweredMessage::Other,
                };
                RefusalAnswer { body: self.one(message).await.map(|reply| reply.body), of }
            }
            // No handshake has decided whether batches are allowed, so every request of the batch gets the
            // same fault.
            Incoming::Batch(messages) => {
                let replies = join_all(messages.into_iter().map(|message| self.one(message))).await;
                RefusalAnswer { body: join_bodies(replies), of: AnsweredMessage::Request }
            }
        }
    }

    async fn one(&self, message: Result<Message<'_>, UnreadableMessage>) -> Option<Reply> {
        match message {
            Ok(Message::Request(request)) => {
                let to = ReplyTo::request(request.id.clone(), Dialect::Mcp(revision(&request)));
                self.pipeline.refuse_request((self.fault)(), to, &request, STDIO).await
            }
            Ok(Message::Notification(_) | Message::Response(_)) => None,
            Err(unreadable) => {
                let dialect = Dialect::Mcp(Revision::LATEST_SESSION);
                self.pipeline.refuse_unreadable(unreadable, dialect, STDIO, None).await
            }
        }
    }
}

fn revision(request: &Request<'_>) -> Revision {
    if claims_modern(request) { Revision::V2026_07_28 } else { Revision::LATEST_SESSION }
}
