//! A server that cannot serve, and says so to whoever asks first.

use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Fault;
use failwell_render::Reply;
use failwell_rpc::{Face, Incoming, Limits, Message, Misread, ReplyTo, Request, Revision, read};
use failwell_server::{Exchange, House, STDIO, claims_modern};
use futures_util::future::join_all;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::lines::{Line, Lines};
use super::storm::{Storm, Verdict};
use super::{StdioSettings, join_bodies, salvage};

/// How long requests are still answered after the first one was: a client may have sent several at once.
const GRACE: Duration = Duration::from_millis(500);
/// How long one answer may take to be written.
const SLOWEST: Duration = Duration::from_secs(30);

/// Answers requests with a fault, the first one whenever it comes, and ends soon after it.
pub async fn refuse_stdio(
    house: Arc<House>,
    input: impl AsyncRead + Unpin + Send,
    mut output: impl AsyncWrite + Unpin + Send,
    fault: impl Fn() -> Fault + Send,
    stop: CancellationToken,
) {
    let mut lines = Lines::new(input, StdioSettings::default().largest_line);
    let refusal = Refusal { house, fault };
    let mut storm = Storm::new();
    let mut end: Option<Instant> = None;
    loop {
        let line = tokio::select! {
            line = lines.next() => line,
            () = stop.cancelled() => None,
            () = async { sleep_until(end.unwrap_or_else(Instant::now)).await }, if end.is_some() => None,
        };
        let Some(line) = line else { return };
        let Answer { body, of } = refusal.answer(line).await;
        if of == Of::Request {
            end.get_or_insert_with(|| Instant::now() + GRACE);
        } else if body.is_some() && storm.judge() != Verdict::Answer {
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
    house: Arc<House>,
    fault: F,
}

struct Answer {
    body: Option<Vec<u8>>,
    of: Of,
}

/// What was answered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Request,
    SomethingElse,
}

impl<F: Fn() -> Fault + Send> Refusal<F> {
    async fn answer(&self, line: Line) -> Answer {
        let bytes = match line {
            Line::Whole(bytes) => bytes,
            Line::TooLong(start) => {
                let to = ReplyTo::misread(salvage::id_in_start(&start), Face::Mcp(Revision::LATEST_SESSION));
                let reply = self.house.refuse((self.fault)(), to, STDIO).await;
                return Answer { body: reply.map(|reply| reply.body), of: Of::Request };
            }
        };
        match read(&bytes, &Limits::default()) {
            Incoming::One(message) => {
                let of =
                    if matches!(message, Ok(Message::Request(_))) { Of::Request } else { Of::SomethingElse };
                Answer { body: self.one(message).await.map(|reply| reply.body), of }
            }
            // No handshake has settled whether batches are allowed, so all of it is refused for the same reason.
            Incoming::Batch(messages) => {
                let replies = join_all(messages.into_iter().map(|message| self.one(message))).await;
                Answer { body: join_bodies(replies), of: Of::Request }
            }
        }
    }

    async fn one(&self, message: Result<Message<'_>, Misread>) -> Option<Reply> {
        match message {
            Ok(Message::Request(request)) => {
                let to = ReplyTo::request(request.id.clone(), Face::Mcp(revision(&request)));
                let refused = Exchange::refused((self.fault)(), to, self.house.begin(), STDIO);
                let (method, text) = (Some(&*request.method), Some(request.text()));
                self.house.close(Exchange { method, request: text, ..refused }).await
            }
            Ok(Message::Notification(_) | Message::Response(_)) => None,
            Err(misread) => {
                let face = Face::Mcp(Revision::LATEST_SESSION);
                self.house.misread(misread, face, STDIO, None).await
            }
        }
    }
}

fn revision(request: &Request<'_>) -> Revision {
    if claims_modern(request) { Revision::V2026_07_28 } else { Revision::LATEST_SESSION }
}
