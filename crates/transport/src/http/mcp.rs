//! `/mcp`: streamable HTTP, both eras.

use std::sync::Arc;

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use failwell_policy::Caller;
use failwell_render::Reply;
use failwell_rpc::{Face, Incoming, Letter, Limits, Message, Misread, ReplyTo, Request, Revision, read};
use failwell_server::{
    Arrival, Carried, Concern, House, Keep, Session, SharedIds, Spoken, Stream, Trace, claims_modern,
};
use futures_util::future::join_all;
use http::{Response, StatusCode};
use tokio_util::sync::CancellationToken;

use super::body::{Body, Presence, Reading, empty};
use super::persist::Persist;
use super::request::Head;
use super::router::Door;
use super::sessions::Seat;
use super::shared;
use crate::stdio::join_bodies;

/// The dialect of requests without a session.
const MODERN: Face = Face::Mcp(Revision::LATEST);

/// The trace the HTTP request is part of, for messages that do not speak of one themselves.
type FromHeader = Option<Arc<Carried>>;

/// What a body is, before anybody works on it.
enum Sort {
    Modern,
    Initialize,
    Session,
    Batch,
    Unreadable(Misread),
}

/// `POST`: a message, or in 2025-03-26 several.
pub(super) async fn post(door: &Arc<Door>, head: &Head<'_>, bytes: Bytes, caller: Caller) -> Response<Body> {
    let prefers_events = head.prefers_events();
    let carried = door.house.carried(|name| head.get(name)).map(Arc::new);
    // The common case needs no sorting: whatever the body turns out to be, one document answers it.
    if head.claims_modern() && head.session_id().is_none() && !prefers_events {
        return modern(door, head, carried, bytes, caller).await;
    }
    match sort(&bytes, head) {
        Sort::Unreadable(misread) => {
            let face = unread_face(head, door, &caller);
            door.reply(door.house.misread(misread, face, head.connection, Some(&caller)).await)
        }
        Sort::Modern => modern(door, head, carried, bytes, caller).await,
        // Rare and large, so kept apart: what every request is made of stays small.
        Sort::Initialize if head.session_id().is_none() => {
            let on = head.connection.clone();
            // A client that hangs up meanwhile leaves a record all the same.
            let begun = Persist::new(initialize(door.clone(), on, bytes, caller, carried), None).await;
            door.reply(begun)
        }
        sorted @ (Sort::Session | Sort::Initialize | Sort::Batch) => match find(door, head, &caller).await {
            Ok(seat) if matches!(sorted, Sort::Batch) && !seat.session.revision().allows_batch() => {
                let face = Face::Mcp(seat.session.revision());
                door.reply(door.house.misread(no_batch(), face, &seat.session.id, Some(&caller)).await)
            }
            Ok(seat) => in_session(door, &seat, (bytes, carried), caller, prefers_events).await,
            Err(fault) => {
                door.reply(refuse_with_id(&door.house, fault, &bytes, head.face(), head.connection).await)
            }
        },
    }
}

/// The body decides, the header only where the body is silent.
fn sort(bytes: &Bytes, head: &Head<'_>) -> Sort {
    match read(bytes, &Limits::default()) {
        Incoming::One(Err(misread)) => Sort::Unreadable(misread),
        Incoming::Batch(_) if head.claims_modern() => Sort::Unreadable(no_batch()),
        Incoming::Batch(_) => Sort::Batch,
        Incoming::One(Ok(Message::Request(request))) => {
            if claims_modern(&request) || head.claims_modern() {
                Sort::Modern
            } else if request.method == "initialize" {
                Sort::Initialize
            } else {
                Sort::Session
            }
        }
        Incoming::One(Ok(_)) if head.claims_modern() && head.session_id().is_none() => Sort::Modern,
        Incoming::One(Ok(_)) => Sort::Session,
    }
}

fn no_batch() -> Misread {
    let fault = Fault::new(&reason::RPC_BATCH_NOT_ALLOWED);
    Misread { fault, id: None, about: failwell_rpc::About::Unknown }
}

/// The dialect for bytes nobody could read: the session's, where there is one.
pub(super) fn unread_face(head: &Head<'_>, door: &Door, caller: &Caller) -> Face {
    let seat = head.session_id().and_then(|id| door.sessions.find(id, caller).ok());
    seat.map_or(head.face(), |seat| Face::Mcp(seat.session.revision()))
}

async fn find(door: &Arc<Door>, head: &Head<'_>, caller: &Caller) -> Result<Arc<Seat>, Fault> {
    let id = head.session_id().ok_or_else(|| Fault::new(&reason::HTTP_SESSION_REQUIRED))?;
    if door.house.state().node().is_none() {
        return door.sessions.find(id, caller);
    }
    Box::pin(shared::find(door, id, caller)).await
}

/// A refusal that still echoes the id, which was readable.
async fn refuse_with_id(house: &House, fault: Fault, bytes: &Bytes, face: Face, on: &str) -> Option<Reply> {
    let id = match read(bytes, &Limits::default()) {
        Incoming::One(Ok(Message::Request(request))) => Some(request.id),
        _ => None,
    };
    house.refuse(fault, ReplyTo::misread(id, face), on).await
}

/// A stateless request. When its client hangs up, it is called off.
async fn modern(
    door: &Arc<Door>,
    head: &Head<'_>,
    carried: FromHeader,
    bytes: Bytes,
    caller: Caller,
) -> Response<Body> {
    let (house, headers, on) = (door.house.clone(), head.mcp_headers(), head.connection.clone());
    let prefers_events = head.prefers_events();
    let (outlet, cancel) = (Arc::new(Stream::new(Keep::Nothing)), CancellationToken::new());
    let (line, called_off) = (outlet.clone(), cancel.clone());
    let work = async move {
        let letter = Letter::new(bytes);
        let request = match letter.read(&Limits::default()) {
            Incoming::One(Ok(Message::Request(request))) => request,
            // Rare, so kept apart: what every request is made of stays small.
            other => return Box::pin(no_request(&house, other, &caller, &on)).await,
        };
        let trace = house.join_trace(&request, carried.as_deref());
        let (spoken, on) = (Spoken::Modern(Some(&headers)), On::Connection(&on));
        house.walk(&arrival((request, trace), spoken, &caller, on, line, called_off)).await
    };
    let work = Persist::reusing(work, Some(cancel.clone()));
    match first(work, &outlet, prefers_events).await {
        First::Reply(reply) => door.reply(reply),
        First::Events(work) => {
            see_to_its_end(work, &outlet);
            let reading = Reading {
                stream: outlet,
                after: 0,
                number: None,
                primed: false,
                replaced: CancellationToken::new(),
                presence: Presence::Caller(cancel.drop_guard()),
            };
            reading.response()
        }
    }
}

/// What a client without a session may send, but is not worked on.
async fn no_request(
    house: &Arc<House>,
    incoming: Incoming<'_>,
    caller: &Caller,
    on: &Arc<str>,
) -> Option<Reply> {
    match incoming {
        Incoming::One(Ok(Message::Notification(notification))) => {
            house.overhear(&notification, MODERN, caller, on).await;
            None
        }
        Incoming::One(Ok(Message::Response(response))) => {
            let fault = Fault::new(&reason::RPC_BAD_SHAPE).fact("member", "result");
            house.refuse(fault, ReplyTo::misread(Some(response.id), MODERN), on).await
        }
        Incoming::One(Err(misread)) => house.misread(misread, MODERN, on, Some(caller)).await,
        Incoming::One(Ok(Message::Request(_))) | Incoming::Batch(_) => {
            house.misread(no_batch(), MODERN, on, Some(caller)).await
        }
    }
}

/// The first request of a session: only when the handshake worked is there a session.
async fn initialize(
    door: Arc<Door>,
    on: Arc<str>,
    bytes: Bytes,
    caller: Caller,
    carried: FromHeader,
) -> Option<Reply> {
    let (caller, carried) = (&caller, carried.as_deref());
    let face = Face::Mcp(Revision::LATEST_SESSION);
    let seat = match door.sessions.prepare(caller).and_then(|seat| door.sessions.seat(&seat).map(|()| seat)) {
        Ok(seat) => seat,
        Err(fault) => return refuse_with_id(&door.house, fault, &bytes, face, &on).await,
    };
    let outlet = Arc::new(Stream::new(Keep::Nothing));
    let reply = session_body(&door.house, &seat.session, caller, (&bytes, carried), &outlet).await;
    let mut reply = match reply {
        Answer::One(reply) => reply,
        Answer::Many(_) => None,
    };
    if seat.session.client().is_none() {
        door.sessions.end(&seat);
        return reply;
    }
    if let Err(fault) = door.house.keep_session(&seat.session).await {
        door.sessions.end(&seat);
        return refuse_with_id(&door.house, fault, &bytes, face, &on).await;
    }
    door.house.keep_told(&seat.session);
    if let Some(reply) = &mut reply {
        reply.headers.push(("mcp-session-id", seat.session.id.clone()));
    }
    reply
}

/// A message within a session. When its client hangs up, the work goes on: the client may come back.
async fn in_session(
    door: &Arc<Door>,
    seat: &Arc<Seat>,
    (bytes, carried): (Bytes, FromHeader),
    caller: Caller,
    prefers_events: bool,
) -> Response<Body> {
    let (house, session) = (door.house.clone(), seat.session.clone());
    let outlet = Arc::new(Stream::new(Keep::Recent));
    let (line, asked) = (outlet.clone(), bytes.clone());
    let work = Persist::reusing(
        async move {
            match session_body(&house, &session, &caller, (&bytes, carried.as_deref()), &line).await {
                Answer::One(reply) => reply,
                Answer::Many(body) => body.map(|body| Reply {
                    status: 200,
                    content_type: "application/json",
                    headers: Vec::new(),
                    body,
                }),
            }
        },
        None,
    );
    match first(work, &outlet, prefers_events).await {
        First::Reply(reply) => door.reply(reply),
        First::Events(work) => {
            see_to_its_end(work, &outlet);
            let (number, replaced) = seat.keep(&outlet);
            if door.house.state().node().is_some() {
                Box::pin(shared::write_down(&door.house, &seat.session, number, &outlet, &asked)).await;
            }
            let primed = Reading::is_primed_in(seat.session.revision());
            let presence = Presence::Session(seat.reader());
            Reading { stream: outlet, after: 0, number: Some(number), primed, replaced, presence }.response()
        }
    }
}

enum Answer {
    One(Option<Reply>),
    Many(Option<Vec<u8>>),
}

async fn session_body(
    house: &Arc<House>,
    session: &Arc<Session>,
    caller: &Caller,
    (bytes, carried): (&Bytes, Option<&Carried>),
    outlet: &Arc<Stream>,
) -> Answer {
    let one = |message| session_message(house, session, caller, (message, carried), outlet);
    match Letter::new(bytes.clone()).read(&Limits::default()) {
        Incoming::One(message) => Answer::One(one(message).await),
        Incoming::Batch(messages) => {
            let each = messages.into_iter().map(one);
            Answer::Many(join_bodies(join_all(each).await))
        }
    }
}

async fn session_message(
    house: &Arc<House>,
    session: &Arc<Session>,
    caller: &Caller,
    (message, carried): (Result<Message<'_>, Misread>, Option<&Carried>),
    outlet: &Arc<Stream>,
) -> Option<Reply> {
    match message {
        Ok(Message::Request(request)) => {
            let cancel = session.ended.child_token();
            let line = outlet.clone();
            let trace = house.join_trace(&request, carried);
            let on = On::Session(session);
            house.walk(&arrival((request, trace), Spoken::Session, caller, on, line, cancel)).await
        }
        Ok(Message::Notification(notification)) => {
            if house.heed(&notification, session).await == Concern::Others {
                shared::pass_on(house, session, notification.text()).await;
            }
            None
        }
        Ok(Message::Response(response)) => {
            if house.hear(&response, session).await == Concern::Others {
                shared::pass_on(house, session, response.text()).await;
            }
            None
        }
        Err(misread) => {
            let face = Face::Mcp(session.revision());
            house.misread(misread, face, &session.id, Some(caller)).await
        }
    }
}

fn arrival<'a>(
    (request, trace): (Request<'a>, Option<Trace>),
    spoken: Spoken<'a>,
    caller: &'a Caller,
    on: On<'a>,
    outlet: Arc<Stream>,
    cancel: CancellationToken,
) -> Arrival<'a> {
    let (session, connection) = match on {
        On::Session(session) => (Some(session), session.id.as_str()),
        On::Connection(connection) => (None, connection),
    };
    Arrival { request, spoken, caller, session, connection, ids: SharedIds::Allowed, outlet, cancel, trace }
}

/// What a request belongs to.
#[derive(Clone, Copy)]
enum On<'a> {
    Session(&'a Arc<Session>),
    Connection(&'a str),
}

/// What comes first: the answer, or something to tell before it.
enum First {
    Reply(Option<Reply>),
    Events(Persist<Option<Reply>>),
}

async fn first(mut work: Persist<Option<Reply>>, outlet: &Stream, prefers_events: bool) -> First {
    if prefers_events {
        return First::Events(work);
    }
    tokio::select! {
        biased;
        // What was told before the answer is told, however quickly the answer came.
        reply = &mut work => {
            work.leave();
            match outlet.has_something() {
                true => First::Events(Persist::new(std::future::ready(reply), None)),
                false => First::Reply(reply),
            }
        }
        () = outlet.stirred() => First::Events(work),
    }
}

/// The answer becomes the last event.
fn see_to_its_end(work: Persist<Option<Reply>>, outlet: &Arc<Stream>) {
    let Some(work) = work.take() else { return };
    let outlet = outlet.clone();
    tokio::spawn(async move {
        if let Some(reply) = work.await {
            let _ = outlet.push(reply.body).await;
        }
        outlet.finish();
    });
}

/// `GET`: what belongs to no request, or what a lost stream still had to say.
pub(super) async fn resume(door: &Arc<Door>, head: &Head<'_>, caller: &Caller) -> Response<Body> {
    let seat = match find(door, head, caller).await {
        Ok(seat) => seat,
        Err(fault) => return door.refuse(fault, head).await,
    };
    let (number, after) = match head.get("last-event-id").and_then(read_event_id) {
        Some((number, after)) => (number, Some(after)),
        None => (0, None),
    };
    let found = match seat.take_over(number) {
        Some(found) => Some(found),
        None => shared::take_up(door, &seat, number, after.unwrap_or(0)).await,
    };
    let Some((stream, replaced)) = found else {
        return door.refuse(Fault::new(&reason::HTTP_SESSION_LOST), head).await;
    };
    let after = match after {
        // Notices of another node are not kept here; what they may have said is said again.
        Some(after) if number == 0 && after > stream.written() => {
            let position = stream.position();
            door.house.tell_missed(&seat.session).await;
            position
        }
        after => after.unwrap_or_else(|| stream.position()),
    };
    let presence = Presence::Session(seat.reader());
    Reading { stream, after, number: Some(number), primed: false, replaced, presence }.response()
}

fn read_event_id(id: &str) -> Option<(u64, u64)> {
    let (number, after) = id.split_once('-')?;
    Some((number.parse().ok()?, after.parse().ok()?))
}

/// `DELETE`: the session is over.
pub(super) async fn end(door: &Arc<Door>, head: &Head<'_>, caller: &Caller) -> Response<Body> {
    let found = find(door, head, caller).await;
    let ended = match found {
        Ok(seat) => shared::end(&door.house, &seat.session).await.map(|()| seat),
        Err(fault) => Err(fault),
    };
    match ended {
        Ok(seat) => {
            door.sessions.end(&seat);
            empty(StatusCode::NO_CONTENT)
        }
        Err(fault) => door.refuse(fault, head).await,
    }
}

#[cfg(test)]
mod tests {
    use super::{First, Keep, Persist, Stream, first, read_event_id};

    #[tokio::test]
    async fn an_answer_that_comes_at_once_does_not_swallow_what_was_told_before() {
        let outlet = Stream::new(Keep::Nothing);
        let quiet = first(Persist::new(async { None }, None), &outlet, false).await;
        assert!(matches!(quiet, First::Reply(None)));
        outlet.push("a notice").await.expect("room");
        let told = first(Persist::new(async { None }, None), &outlet, false).await;
        assert!(matches!(told, First::Events(_)));
    }

    #[test]
    fn event_ids_are_two_numbers() {
        assert_eq!(read_event_id("3-17"), Some((3, 17)));
        for odd in ["", "3", "3-", "-3", "a-b", "99999999999999999999-1"] {
            assert_eq!(read_event_id(odd), None, "{odd}");
        }
    }
}
