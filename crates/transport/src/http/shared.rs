//! Sessions and streams that began on another node, and what nodes say to each other about them.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use failwell_fault::{Effect, Fault, reason};
use failwell_policy::Caller;
use failwell_rpc::{Face, Incoming, Json, Limits, Message, ReplyTo, read};
use failwell_server::{Found, Frame, Happened, House, Letter, Opened, Session, Stream, Track, Word, Written};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio_util::sync::CancellationToken;

use super::doors::Doors;
use super::router::Door;
use super::sessions::{Adopted, Seat};

/// How often a stream of another node is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How often it is asked whether that node is still there.
const ALIVE: Duration = Duration::from_secs(1);
/// How long the shared state may be away before a stream of another node is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// A caller's own session, wherever it began.
pub(super) async fn find(door: &Arc<Door>, id: &str, caller: &Caller) -> Result<Arc<Seat>, Fault> {
    let lost = || Fault::new(&reason::HTTP_SESSION_LOST);
    let kept = match door.house.state().find_session(&door.house.place_of(id)).await? {
        Found::OnlyHere => return door.sessions.find(id, caller),
        Found::Kept(kept) if kept.caller == caller.to_string() => kept,
        Found::Kept(_) => return Err(lost()),
        Found::Nowhere => {
            door.sessions.peek(id).into_iter().for_each(|seat| door.sessions.end(&seat));
            return Err(lost());
        }
    };
    if let Ok(seat) = door.sessions.find(id, caller) {
        return Ok(seat);
    }
    let session = Session::recalled(id.to_owned(), caller.clone(), &kept)?;
    let (seat, adopted) = door.sessions.adopt(session)?;
    if adopted == Adopted::Now {
        door.house.keep_told(&seat.session);
        watch_too(door, &seat, kept.watched);
    }
    Ok(seat)
}

fn watch_too(door: &Arc<Door>, seat: &Arc<Seat>, uris: Vec<String>) {
    if uris.is_empty() {
        return;
    }
    let (house, session) = (door.house.clone(), seat.session.clone());
    tokio::spawn(async move { house.watch_too(&session, uris).await });
}

/// Ends a session everywhere.
pub(super) async fn end(house: &House, session: &Session) -> Result<(), Fault> {
    let of = house.place_of(&session.id);
    house.state().end_session(&of).await?;
    house.state().tell(Letter { of, word: Word::Ended }).await
}

/// Hands a message to whichever node it is about.
pub(super) async fn pass_on(house: &House, session: &Session, message: &str) {
    let letter = Letter { of: house.place_of(&session.id), word: Word::Said(message.to_owned()) };
    let _ = house.state().tell(letter).await;
}

/// Writes a stream down as it happens, so that its reader can come back to any node. Its beginning is written down
/// before anything of it is sent.
pub(super) async fn write_down(
    house: &Arc<House>,
    session: &Session,
    number: u64,
    stream: &Stream,
    body: &Bytes,
) {
    let Some(node) = house.state().node().map(str::to_owned) else { return };
    let at = Track { of: house.place_of(&session.id), number };
    let opened = Happened::Opened(Opened { node, asked: asked(body) });
    let mut frames = stream.copied();
    if house.state().write_stream(&at, opened).await.is_err() {
        return;
    }
    let state = house.state().clone();
    tokio::spawn(async move {
        let mut kept = Kept::default();
        while let Some(frame) = frames.recv().await {
            let oldest = kept.with(&frame);
            let _ = state.write_stream(&at, Happened::Said { frame, oldest }).await;
        }
        let _ = state.write_stream(&at, Happened::Ended).await;
    });
}

/// What is kept of one stream: no more than a node keeps itself.
#[derive(Default)]
struct Kept {
    sizes: VecDeque<(u64, usize)>,
    bytes: usize,
}

impl Kept {
    const LONGEST: usize = 256;
    const LARGEST: usize = 16 * 1024 * 1024;

    /// Another frame; the number of the oldest that is kept with it.
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

/// The ids of the requests in a body.
fn asked(body: &Bytes) -> Vec<String> {
    let messages = match read(body, &Limits::default()) {
        Incoming::One(message) => vec![message],
        Incoming::Batch(messages) => messages,
    };
    let id = |message| match message {
        Ok(Message::Request(request)) => Some(request.id.text().to_owned()),
        _ => None,
    };
    messages.into_iter().filter_map(id).collect()
}

/// A stream that is written by another node, read on from here.
pub(super) async fn take_up(
    door: &Arc<Door>,
    seat: &Arc<Seat>,
    number: u64,
    after: u64,
) -> Option<(Arc<Stream>, CancellationToken)> {
    let at = Track { of: door.house.place_of(&seat.session.id), number };
    door.house.state().read_stream(&at, after).await.ok().flatten()?;
    let stream = Arc::new(Stream::behind(after));
    let reader = seat.keep_as(number, &stream);
    let following = Following { house: door.house.clone(), session: seat.session.clone(), at, after };
    let line = stream.clone();
    tokio::spawn(async move {
        following.run(&line).await;
        line.finish();
    });
    Some((stream, reader))
}

/// A stream of another node that is followed here.
struct Following {
    house: Arc<House>,
    session: Arc<Session>,
    at: Track,
    after: u64,
}

impl Following {
    /// Passes frames on until the stream is over. When its node is gone, its requests are answered in its place.
    async fn run(mut self, line: &Stream) {
        let (mut heard, mut asked_at) = (Instant::now(), Instant::now());
        while !self.session.ended.is_cancelled() && heard.elapsed() < PATIENCE {
            if let Ok(written) = self.house.state().read_stream(&self.at, self.after).await {
                heard = Instant::now();
                let Some(written) = written else { return };
                let is_over = written.is_over;
                let node = written.opened.node.clone();
                self.pass(written.frames, line);
                if is_over {
                    return;
                }
                if asked_at.elapsed() > ALIVE {
                    asked_at = Instant::now();
                    if self.house.state().is_alive(&node).await.is_ok_and(|alive| !alive) {
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

    /// The last words of a node that is gone, and an answer to each request it left without one.
    async fn answer_for(mut self, line: &Stream) {
        let Ok(Some(whole)) = self.house.state().read_stream(&self.at, 0).await else { return };
        let open = unanswered(&whole);
        let after = self.after;
        self.pass(whole.frames.into_iter().filter(|frame| frame.number > after).collect(), line);
        for id in open {
            let Some(id) = Json::read(&id, &Limits::default()).ok().and_then(|id| id.raw().as_id()) else {
                continue;
            };
            let fault = Fault::new(&reason::SERVER_NODE_LOST).with_effect(Effect::Unknown);
            let to = ReplyTo::request(id, Face::Mcp(self.session.revision()));
            if let Some(reply) = self.house.refuse(fault, to, &self.session.id).await {
                let frame = Frame { number: self.after + 1, bytes: reply.body.into() };
                let said = Happened::Said { frame: frame.clone(), oldest: 0 };
                let _ = self.house.state().write_stream(&self.at, said).await;
                self.pass(vec![frame], line);
            }
        }
        let _ = self.house.state().write_stream(&self.at, Happened::Ended).await;
    }
}

/// The ids of requests no frame answers.
fn unanswered(written: &Written) -> BTreeSet<String> {
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

/// Does what other nodes say, until there are none.
pub(super) async fn hear_others(doors: Arc<Doors>, mut letters: Receiver<Letter>) {
    loop {
        match letters.recv().await {
            Ok(letter) => heed(&doors, letter).await,
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

async fn heed(doors: &Doors, letter: Letter) {
    let Some(door) = doors.named(&letter.of.house) else { return };
    let Some(seat) = door.sessions.peek(&letter.of.session) else { return };
    match letter.word {
        Word::Ended => door.sessions.end(&seat),
        Word::Changed => {
            if let Ok(Found::Kept(kept)) = door.house.state().find_session(&letter.of).await {
                let new = seat.session.refresh(&kept);
                watch_too(&door, &seat, new);
            }
        }
        Word::Said(message) => match read(message.as_bytes(), &Limits::default()) {
            Incoming::One(Ok(Message::Notification(notification))) => {
                door.house.obey(&notification, &seat.session).await;
            }
            Incoming::One(Ok(Message::Response(response))) => {
                door.house.hear(&response, &seat.session).await;
            }
            _ => {}
        },
    }
}
