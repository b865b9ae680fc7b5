//! Sessions and streams that began on another node, and messages between nodes about them.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_fault::{Effect, Fault, reason};
use failwell_pipeline::{
    Frame, NodeEvent, NodeMessage, Pipeline, Requester, Session, SessionLookup, Stream, StreamEvent,
    StreamOpening, StreamRecord, Track,
};
use failwell_rpc::Caller;
use failwell_rpc::{Dialect, Incoming, Json, Limits, Message, ReplyTo, read};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio_util::sync::CancellationToken;

use super::{SessionEntry, SessionOrigin};
use crate::http::router::{Mount, Mounts};

/// Interval of reads of a stream of another node.
const LOOK: Duration = Duration::from_millis(100);
/// Interval of checks whether that node is alive.
const ALIVE: Duration = Duration::from_secs(1);
/// Maximum outage of the shared state before a followed stream is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// Finds a session of this caller that began on any node.
pub(in crate::http) async fn find(
    mount: &Arc<Mount>,
    id: &str,
    caller: &Caller,
) -> Result<Arc<SessionEntry>, Fault> {
    let lost = || Fault::new(&reason::HTTP_SESSION_LOST);
    let shared = match mount.pipeline.state().find_session(&mount.pipeline.session_key(id)).await? {
        SessionLookup::NotShared => return mount.sessions.find(id, caller),
        SessionLookup::Found(shared) if shared.caller == caller.to_string() => shared,
        SessionLookup::Found(_) => return Err(lost()),
        SessionLookup::NotFound => {
            mount.sessions.peek(id).into_iter().for_each(|entry| mount.sessions.end(&entry));
            return Err(lost());
        }
    };
    if let Ok(entry) = mount.sessions.find(id, caller) {
        return Ok(entry);
    }
    let session = Session::recalled(id.to_owned(), caller.clone(), &shared)?;
    let (entry, adopted) = mount.sessions.adopt(session)?;
    if adopted == SessionOrigin::Now {
        mount.pipeline.forward_changes(&entry.session);
        watch_too(mount, &entry, shared.watched);
    }
    Ok(entry)
}

fn watch_too(mount: &Arc<Mount>, entry: &Arc<SessionEntry>, uris: Vec<String>) {
    if uris.is_empty() {
        return;
    }
    let (pipeline, session) = (mount.pipeline.clone(), entry.session.clone());
    tokio::spawn(async move { pipeline.watch_too(&session, uris).await });
}

/// Ends a session on all nodes.
pub(in crate::http) async fn end(pipeline: &Pipeline, session: &Session) -> Result<(), Fault> {
    let of = pipeline.session_key(&session.id);
    pipeline.state().end_session(&of).await?;
    pipeline.state().tell(NodeMessage { of, event: NodeEvent::Ended }).await
}

/// Forwards a message to the node that it concerns.
pub(in crate::http) async fn pass_on(pipeline: &Pipeline, session: &Session, message: &str) {
    let message =
        NodeMessage { of: pipeline.session_key(&session.id), event: NodeEvent::Message(message.to_owned()) };
    let _ = pipeline.state().tell(message).await;
}

/// Copies a stream to the shared state, so that its reader can resume on any node. The opening is stored
/// before any frame is sent.
pub(in crate::http) async fn write_down(
    pipeline: &Arc<Pipeline>,
    session: &Session,
    number: u64,
    stream: &Stream,
    asked: Vec<String>,
) {
    let Some(node) = pipeline.state().node().map(str::to_owned) else { return };
    let at = Track { of: pipeline.session_key(&session.id), number };
    let opened = StreamEvent::Opened(StreamOpening { node, asked });
    let mut frames = stream.copied();
    if pipeline.state().write_stream(&at, opened).await.is_err() {
        return;
    }
    let state = pipeline.state().clone();
    tokio::spawn(async move {
        let mut shared = StoredStream::default();
        while let Some(frame) = frames.recv().await {
            let oldest = shared.with(&frame);
            let _ = state.write_stream(&at, StreamEvent::Frame { frame, oldest }).await;
        }
        let _ = state.write_stream(&at, StreamEvent::Ended).await;
    });
}

/// The bounds of a stored stream: the same as those of a local one.
#[derive(Default)]
struct StoredStream {
    sizes: VecDeque<(u64, usize)>,
    bytes: usize,
}

impl StoredStream {
    const LONGEST: usize = 256;
    const LARGEST: usize = 16 * 1024 * 1024;

    /// Counts a frame and returns the number of the oldest frame to keep.
    fn with(&mut self, frame: &Frame) -> u64 {
        self.sizes.push_back((frame.number, frame.bytes.len()));
        self.bytes += frame.bytes.len();
        while self.sizes.len() > Self::LONGEST || (self.bytes > Self::LARGEST && self.sizes.len() > 1) {
            let Some((_, size)) = self.sizes.pop_front() else { break };
            self.bytes -= size;
        }
        self.sizes.front().map_or(0, |(number, _)| *number)
    }
}

/// Continues a stream that another node writes.
pub(in crate::http) async fn take_up(
    mount: &Arc<Mount>,
    entry: &Arc<SessionEntry>,
    number: u64,
    after: u64,
) -> Option<(Arc<Stream>, CancellationToken)> {
    let at = Track { of: mount.pipeline.session_key(&entry.session.id), number };
    mount.pipeline.state().read_stream(&at, after).await.ok().flatten()?;
    let stream = Arc::new(Stream::behind(after));
    let reader = entry.keep_as(number, &stream);
    let following =
        FollowedStream { pipeline: mount.pipeline.clone(), session: entry.session.clone(), at, after };
    let line = stream.clone();
    tokio::spawn(async move {
        following.run(&line).await;
        line.finish();
    });
    Some((stream, reader))
}

/// A stream of another node that this node follows.
struct FollowedStream {
    pipeline: Arc<Pipeline>,
    session: Arc<Session>,
    at: Track,
    after: u64,
}

impl FollowedStream {
    /// Forwards frames until the stream ends. If its node is lost, this node answers its requests.
    async fn run(mut self, line: &Stream) {
        let (mut last_frame, mut asked_at) = (Instant::now(), Instant::now());
        while !self.session.ended.is_cancelled() && last_frame.elapsed() < PATIENCE {
            if let Ok(written) = self.pipeline.state().read_stream(&self.at, self.after).await {
                last_frame = Instant::now();
                let Some(written) = written else { return };
                let is_over = written.is_over;
                let node = written.opened.node.clone();
                self.pass(written.frames, line);
                if is_over {
                    return;
                }
                if asked_at.elapsed() > ALIVE {
                    asked_at = Instant::now();
                    if self.pipeline.state().is_alive(&node).await.is_ok_and(|alive| !alive) {
                        return self.answer_for(line).await;
                    }
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn pass(&mut self, frames: Vec<Frame>, line: &Stream) {
        for frame in frames {
            self.after = self.after.max(frame.number);
            line.push_as(frame);
        }
    }

    /// Forwards the last frames of a lost node, and answers each request that it left open.
    async fn answer_for(mut self, line: &Stream) {
        let Ok(Some(whole)) = self.pipeline.state().read_stream(&self.at, 0).await else { return };
        let open = unanswered(&whole);
        let after = self.after;
        self.pass(whole.frames.into_iter().filter(|frame| frame.number > after).collect(), line);
        for id in open {
            let Some(id) = Json::read(&id, &Limits::default()).ok().and_then(|id| id.raw().as_id()) else {
                continue;
            };
            let fault = Fault::new(&reason::SERVER_NODE_LOST).with_effect(Effect::Unknown);
            let to = ReplyTo::request(id, Dialect::Mcp(self.session.revision()));
            let from = Requester::Caller(&self.session.caller);
            if let Some(reply) = self.pipeline.refuse(fault, to, &self.session.id, from).await {
                let frame = Frame { number: self.after + 1, bytes: reply.body.into() };
                let event = StreamEvent::Frame { frame: frame.clone(), oldest: 0 };
                let _ = self.pipeline.state().write_stream(&self.at, event).await;
                self.pass(vec![frame], line);
            }
        }
        let _ = self.pipeline.state().write_stream(&self.at, StreamEvent::Ended).await;
    }
}

/// The ids of requests without a response in the frames.
fn unanswered(written: &StreamRecord) -> BTreeSet<String> {
    let mut open: BTreeSet<String> = written.opened.asked.iter().cloned().collect();
    for frame in &written.frames {
        let messages = match read(&frame.bytes, &Limits::default()) {
            Incoming::One(message) => vec![message],
            Incoming::Batch(messages) => messages,
        };
        for message in messages.into_iter().flatten() {
            if let Message::Response(response) = message {
                open.remove(response.id.text());
            }
        }
    }
    open
}

/// Handles messages of other nodes until the channel closes.
pub(in crate::http) async fn receive_node_messages(mounts: Arc<Mounts>, mut messages: Receiver<NodeMessage>) {
    loop {
        match messages.recv().await {
            Ok(message) => handle_node_message(&mounts, message).await,
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

async fn handle_node_message(mounts: &Mounts, message: NodeMessage) {
    let Some(mount) = mounts.named(&message.of.pipeline) else { return };
    let Some(entry) = mount.sessions.peek(&message.of.session) else { return };
    match message.event {
        NodeEvent::Ended => mount.sessions.end(&entry),
        NodeEvent::Changed => {
            if let Ok(SessionLookup::Found(shared)) = mount.pipeline.state().find_session(&message.of).await {
                let new = entry.session.refresh(&shared);
                watch_too(&mount, &entry, new);
            }
        }
        NodeEvent::Message(message) => match read(message.as_bytes(), &Limits::default()) {
            Incoming::One(Ok(Message::Notification(notification))) => {
                mount.pipeline.apply_notification(&notification, &entry.session).await;
            }
            Incoming::One(Ok(Message::Response(response))) => {
                mount.pipeline.handle_response(&response, &entry.session).await;
            }
            _ => {}
        },
    }
}
