//! One message per line on standard input, one per line on standard output.

mod lines;
mod salvage;
mod storm;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use failwell_policy::Caller;
use failwell_render::Reply;
use failwell_rpc::{Face, Incoming, Limits, Message, Misread, ReplyTo, Request, read};
use failwell_server::{Arrival, House, Keep, Session, SharedIds, Spoken, claims_modern};
use futures_util::FutureExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::lines::{Line, Lines};
use self::storm::Storm;

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
    let session = Session::new("stdio".to_owned(), Caller::anonymous(), Keep::Nothing);
    house.keep_told(&session);
    let writer = tokio::spawn(writer::write_lines(session.outbound.clone(), output));
    let mut connection =
        Connection { house: house.clone(), session: session.clone(), running: TaskTracker::new(), storm: Storm::new() };
    let mut lines = Lines::new(input, settings.largest_line);
    loop {
        let line = tokio::select! {
            line = lines.next() => line,
            () = stop.cancelled() => None,
        };
        let Some(line) = line else { break };
        connection.take(line, settings.largest_line).await;
    }
    connection.drain(settings.drain).await;
    session.end();
    // The writer has its own deadlines, so this ends.
    let _ = writer.await;
    Ok(())
}

struct Connection {
    house: Arc<House>,
    session: Arc<Session>,
    running: TaskTracker,
    storm: Storm,
}

impl Connection {
    async fn take(&mut self, line: Line, limit: usize) {
        match line {
            Line::Whole(bytes) => self.take_message(bytes).await,
            Line::TooLong(start) => {
                let fault = Fault::new(&reason::RPC_LINE_TOO_LONG).fact("limit", limit);
                let to = ReplyTo::misread(salvage::id(&start), self.face());
                let reply = self.house.refuse(fault, to, &self.session.id);
                self.complain(reply).await;
            }
        }
    }

    fn face(&self) -> Face {
        Face::Mcp(self.session.revision())
    }

    async fn take_message(&mut self, bytes: Bytes) {
        if let Incoming::One(Err(_)) = read(&bytes, &Limits::default()) {
            let Incoming::One(Err(misread)) = read(&bytes, &Limits::default()) else { return };
            return self.misread(misread).await;
        }
        let exchange = exchange(self.house.clone(), self.session.clone(), bytes);
        let mut exchange = Box::pin(exchange);
        // The first step is taken here, in order: a request is registered before the next line can cancel it,
        // and a handshake is over before the next line relies on it.
        match (&mut exchange).now_or_never() {
            Some(()) => {}
            None => {
                self.running.spawn(exchange);
            }
        }
    }

    async fn misread(&mut self, misread: Misread) {
        let reply = self.house.misread(misread, self.face(), &self.session.id);
        self.complain(reply).await;
    }

    /// Answers what could not be read, unless it has become a storm: two programs that misunderstand each
    /// other must not shout at each other for ever.
    async fn complain(&mut self, reply: Option<Reply>) {
        let Some(reply) = reply else { return };
        if self.storm.may_answer() {
            let _ = self.session.outbound.push(reply.body).await;
        } else if self.storm.just_began() {
            self.house.journal().write(
                "{\"level\":\"warn\",\"message\":\"too many unreadable lines; not answering them for a while\",\
                 \"service\":\"stdio\"}"
                    .to_owned(),
            );
        }
    }

    /// No more input: questions can no longer be answered, everything else is.
    async fn drain(&self, patience: Duration) {
        self.house.close_doors();
        self.session.close_questions();
        self.running.close();
        if tokio::time::timeout(patience, self.running.wait()).await.is_err() {
            self.session.ended.cancel();
        }
    }
}

/// One line from start to end: everything it calls for is written to the connection.
async fn exchange(house: Arc<House>, session: Arc<Session>, bytes: Bytes) {
    let body = match read(&bytes, &Limits::default()) {
        Incoming::One(message) => one(&house, &session, message).await.map(|reply| reply.body),
        Incoming::Batch(messages) if session.revision().allows_batch() => {
            let replies = messages.into_iter().map(|message| one(&house, &session, message));
            let replies = futures_util::future::join_all(replies).await;
            let bodies: Vec<Vec<u8>> = replies.into_iter().flatten().map(|reply| reply.body).collect();
            (!bodies.is_empty()).then(|| [b"[", bodies.join(&b","[..]).as_slice(), b"]"].concat())
        }
        Incoming::Batch(_) => {
            let fault = Fault::new(&reason::RPC_BATCH_NOT_ALLOWED);
            let to = ReplyTo::misread(None, Face::Mcp(session.revision()));
            house.refuse(fault, to, &session.id).map(|reply| reply.body)
        }
    };
    if let Some(body) = body {
        let _ = session.outbound.push(body).await;
    }
}

async fn one(
    house: &Arc<House>,
    session: &Arc<Session>,
    message: Result<Message<'_>, Misread>,
) -> Option<Reply> {
    match message {
        Ok(Message::Request(request)) => house.walk(arrival(session, request)).await,
        Ok(Message::Notification(notification)) => {
            house.heed(&notification, Some(session));
            None
        }
        Ok(Message::Response(response)) => {
            house.hear(&response, session);
            None
        }
        Err(misread) => house.misread(misread, Face::Mcp(session.revision()), &session.id),
    }
}

fn arrival<'a>(session: &'a Arc<Session>, request: Request<'a>) -> Arrival<'a> {
    let spoken = if claims_modern(&request) { Spoken::Modern(None) } else { Spoken::Session };
    Arrival {
        request,
        spoken,
        caller: &session.caller,
        session: Some(session),
        ids: SharedIds::Refused,
        outlet: session.outbound.clone(),
        cancel: session.ended.child_token(),
    }
}
