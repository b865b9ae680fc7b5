//! An upstream reached over HTTP+SSE, the transport of 2024-11-05: one stream of events from it for everything it
//! says, and an address to post to, which it names at the beginning of that stream.
//! <https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse>

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use failwell_fault::{Effect, Fact, Fault, reason};
use failwell_rpc::{Incoming, Limits, Message, read};
use failwell_server::{Event, Next};
use failwell_transport::{ContentKind, Events, HeadLines, Heard, Unheard, Verb};
use http::header::{ACCEPT, CONTENT_TYPE};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::door::{Door, Unsaid};
use crate::http::faults;
use crate::line::{Connection, Down, Line, garbled};
use crate::notice::pass_on;
use crate::settings::UpstreamSettings;
use crate::tally::Tally;
use crate::token::Tokens;

/// How long the upstream may take to say where to post to.
const ENDPOINT: Duration = Duration::from_secs(10);
/// The longest such address.
const LONGEST_ENDPOINT: usize = 8 * 1024;
/// How long it may take to accept a message.
const DELIVERY: Duration = Duration::from_secs(10);
/// The most messages that are being posted.
const MOST_POSTS: usize = 64;
/// The most bytes of what it says about a message.
const LARGEST_RECEIPT: usize = 64 * 1024;

/// Whether a server that answered so may be one of this transport: it knows no `POST` at its address.
pub(crate) fn may_be_spoken_after(fault: &Fault) -> bool {
    matches!(fault.get("status"), Some(Fact::Unsigned(400 | 404 | 405)))
}

/// Opens the stream and waits for the address. The connection ends when `stop` is set.
pub(crate) async fn start(
    settings: &UpstreamSettings,
    tokens: Option<Arc<Tokens>>,
    tally: Arc<Tally>,
    stop: CancellationToken,
    changed: impl Fn(Event) + Send + 'static,
) -> Result<Arc<Line>, Fault> {
    let door = Door::of(settings, tokens)?;
    let headers = HeadLines::new().with(ACCEPT.as_str(), "text/event-stream");
    let heard = door.say(Verb::Get, headers, Bytes::new()).await.map_err(|why| unsaid(why).0)?;
    let mut events = match (heard.status(), heard.content()) {
        (200, ContentKind::Events) => heard.events(settings.largest_message),
        (401 | 403, _) => return Err(faults::refused(heard).await),
        (429, _) => return Err(faults::busy(heard).await),
        (status, _) => return Err(faults::bad_status(status, None, &heard.excerpt(4_096).await)),
    };
    let endpoint = endpoint(&mut events).await?;
    // Whoever could send us anywhere would get our credentials and our callers' arguments.
    let posts = door.beside(&endpoint).ok_or_else(|| {
        garbled(endpoint.as_bytes()).note("endpoint", "the address to post to is on another server")
    })?;
    let (line, notices) = Line::new(tally);
    tokio::spawn(pass_on(notices, changed));
    tokio::spawn(converse(line.clone(), events, Arc::new(posts), stop));
    Ok(line)
}

async fn endpoint(events: &mut Events) -> Result<String, Fault> {
    let none = |why: &'static str| garbled(b"").note("endpoint", why);
    let named = tokio::time::timeout(ENDPOINT, events.next_named("endpoint")).await;
    let named = named.map_err(|_| none("it does not say where to post to"))?;
    let named = named.map_err(|why| unsaid(Unsaid::Unheard(why)).0)?;
    let named = named.ok_or_else(|| none("the stream ended before it said where to post to"))?;
    let text = std::str::from_utf8(&named).ok().map(str::trim).filter(|text| text.len() <= LONGEST_ENDPOINT);
    text.map(str::to_owned).ok_or_else(|| none("the address to post to cannot be read"))
}

/// Carries messages both ways until the stream ends or we do.
async fn converse(line: Arc<Line>, mut events: Events, posts: Arc<Door>, stop: CancellationToken) {
    let down = tokio::select! {
        () = stop.cancelled() => Down::Stopped,
        () = hear(&line, &mut events) => Down::Lost,
        () = post_all(&line, &posts) => Down::Lost,
    };
    line.go_down(&down);
}

async fn hear(line: &Arc<Line>, events: &mut Events) {
    while let Ok(Some(message)) = events.next().await {
        line.take(&message);
    }
}

/// Posts message after message. Requests do not wait for each other; notices keep their place, since the first of
/// them must come before every request but one.
async fn post_all(line: &Arc<Line>, posts: &Arc<Door>) {
    let mut running = JoinSet::new();
    let mut last = 0;
    loop {
        let frame = match line.outgoing().next(last).await {
            Next::End => return,
            Next::Pause(_) => continue,
            Next::Frame(frame) => frame,
        };
        last = frame.number;
        while running.len() >= MOST_POSTS {
            running.join_next().await;
        }
        while running.try_join_next().is_some() {}
        let number = match read(&frame.bytes, &Limits::default()) {
            Incoming::One(Ok(Message::Request(request))) => request.id.as_u64(),
            Incoming::One(Ok(Message::Notification(_))) => {
                post(line, posts, frame.bytes, None).await;
                continue;
            }
            _ => None,
        };
        let (line, posts) = (line.clone(), posts.clone());
        running.spawn(async move { post(&line, &posts, frame.bytes, number).await });
    }
}

/// Posts one message. When the upstream does not take a request, whoever waits for its answer learns why.
async fn post(line: &Line, posts: &Door, message: Bytes, number: Option<u64>) {
    let headers = HeadLines::new()
        .with(CONTENT_TYPE.as_str(), "application/json")
        .with(ACCEPT.as_str(), "application/json");
    // The answer comes on the stream, so one who is slow to accept a message may still answer it in time.
    let Ok(said) = tokio::time::timeout(DELIVERY, posts.say(Verb::Post, headers, message)).await else {
        return;
    };
    let (fault, connection) = match said {
        Ok(heard) if (200..300).contains(&heard.status()) => {
            // Read to its end, so that the connection can be used again.
            let _ = tokio::time::timeout(DELIVERY, heard.whole(LARGEST_RECEIPT)).await;
            return;
        }
        Ok(heard) => refused(heard).await,
        Err(why) => unsaid(why),
    };
    match (number, connection) {
        (Some(number), connection) => line.fail(number, fault, connection),
        (None, Connection::Gone) => line.go_down(&Down::Lost),
        (None, Connection::Good) => {}
    }
}

/// A message the upstream did not take.
async fn refused(heard: Heard) -> (Fault, Connection) {
    match heard.status() {
        401 | 403 => (faults::refused(heard).await, Connection::Good),
        429 => (faults::busy(heard).await, Connection::Good),
        // Whoever does not know the session did not do what was asked.
        404 | 410 => (faults::refused(heard).await, Connection::Gone),
        status => {
            let wait = faults::retry_after(&heard);
            (faults::bad_status(status, wait, &heard.excerpt(4_096).await), Connection::Good)
        }
    }
}

fn unsaid(why: Unsaid) -> (Fault, Connection) {
    let down = Fault::new(&reason::GATEWAY_UPSTREAM_DOWN);
    match why {
        Unsaid::NoToken(fault) => (fault, Connection::Good),
        Unsaid::Unheard(why @ Unheard::NotSent(_)) => (down.because(why), Connection::Gone),
        Unsaid::Unheard(why) => (down.with_effect(Effect::Unknown).because(why), Connection::Good),
    }
}
