//! `/mcp`: streamable HTTP, in both eras.

use std::sync::Arc;

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use failwell_pipeline::{
    ConcernedNode, FrameRetention, IncomingMessage, IncomingRequest, Pipeline, RequestEra, Requester,
    Session, SharedIds, Stream, claims_modern,
};
use failwell_render::Reply;
use failwell_rpc::Caller;
use failwell_rpc::RemoteContext;
use failwell_rpc::{
    Dialect, Incoming, Limits, Message, MessageBuf, ReplyTo, Request, Revision, UnreadableMessage,
};
use failwell_toolbox::Trace;
use futures_util::future::join_all;
use http::{Response, StatusCode};
use tokio_util::sync::CancellationToken;

use crate::http::body::{Body, DisconnectGuard, EventReader, empty};
use crate::http::request::RequestHead;
use crate::http::router::Mount;
use crate::http::sessions::{SessionEntry, shared};
use crate::in_place::Persist;
use crate::stdio::join_bodies;

/// The dialect of requests without a session.
const MODERN: Dialect = Dialect::Mcp(Revision::LATEST);

/// The trace context of the HTTP headers, for messages without their own.
type FromHeader = Option<Arc<RemoteContext>>;

/// The way of a message. Its own fields decide; the header applies only if they say nothing.
enum MessageEra {
    Modern,
    /// For a session, or to begin one.
    Session,
    /// The header claims the modern era, but the body has no single message.
    Unreadable(UnreadableMessage),
}

/// `POST`: one message, or a batch in 2025-03-26. The body is scanned here, and nowhere else.
pub(in crate::http) async fn post(
    mount: &Arc<Mount>,
    head: &RequestHead<'_>,
    bytes: Bytes,
    caller: Caller,
) -> Response<Body> {
    let prefers_events = head.prefers_events();
    let carried = mount.pipeline.carried(|name| head.get(name)).map(Arc::new);
    let message = MessageBuf::scan(bytes, &Limits::default());
    // The common case needs no classification: `modern` handles every kind of body.
    if head.claims_modern() && head.session_id().is_none() && !prefers_events {
        return modern(mount, head, carried, message, caller).await;
    }
    match era(&message, head) {
        MessageEra::Unreadable(unreadable) => {
            let dialect = unread_dialect(head, mount, &caller);
            mount.reply(
                mount.pipeline.refuse_unreadable(unreadable, dialect, head.connection, Some(&caller)).await,
            )
        }
        MessageEra::Modern => modern(mount, head, carried, message, caller).await,
        MessageEra::Session if head.session_id().is_none() => {
            let on = head.connection.clone();
            // A record is written even if the client disconnects.
            let begin = begin_session(mount.clone(), (on, head.dialect()), message, caller, carried);
            mount.reply(Persist::new(begin, None).await)
        }
        MessageEra::Session => match find(mount, head, &caller).await {
            Ok(entry) => in_session(mount, &entry, (message, carried), caller, prefers_events).await,
            Err(fault) => mount.reply(refuse_with_id(mount, fault, &message, head, &caller).await),
        },
    }
}

fn era(message: &MessageBuf, head: &RequestHead<'_>) -> MessageEra {
    match message.read() {
        Incoming::One(Ok(Message::Request(request))) if claims_modern(&request) => MessageEra::Modern,
        _ if !head.claims_modern() => MessageEra::Session,
        Incoming::One(Ok(Message::Request(_))) => MessageEra::Modern,
        Incoming::One(Ok(_)) if head.session_id().is_none() => MessageEra::Modern,
        Incoming::One(Ok(_)) => MessageEra::Session,
        Incoming::One(Err(unreadable)) => MessageEra::Unreadable(unreadable),
        Incoming::Batch(_) => MessageEra::Unreadable(no_batch()),
    }
}

async fn refuse_batch(pipeline: &Pipeline, session: &Session, caller: &Caller) -> Option<Reply> {
    let dialect = Dialect::Mcp(session.revision());
    pipeline.refuse_unreadable(no_batch(), dialect, &session.id, Some(caller)).await
}

fn no_batch() -> UnreadableMessage {
    let fault = Fault::new(&reason::RPC_BATCH_NOT_ALLOWED);
    UnreadableMessage { fault, id: None, about: failwell_rpc::MessageKind::Unknown }
}

/// The dialect for an unreadable body: that of the session, if there is one.
pub(in crate::http) fn unread_dialect(head: &RequestHead<'_>, mount: &Mount, caller: &Caller) -> Dialect {
    let entry = head.session_id().and_then(|id| mount.sessions.find(id, caller).ok());
    entry.map_or(head.dialect(), |entry| Dialect::Mcp(entry.session.revision()))
}

async fn find(
    mount: &Arc<Mount>,
    head: &RequestHead<'_>,
    caller: &Caller,
) -> Result<Arc<SessionEntry>, Fault> {
    let id = head.session_id().ok_or_else(|| Fault::new(&reason::HTTP_SESSION_REQUIRED))?;
    if mount.pipeline.state().node().is_none() {
        return mount.sessions.find(id, caller);
    }
    Box::pin(shared::find(mount, id, caller)).await
}

/// Refuses a request and echoes its id.
async fn refuse_with_id(
    mount: &Mount,
    fault: Fault,
    message: &MessageBuf,
    head: &RequestHead<'_>,
    caller: &Caller,
) -> Option<Reply> {
    let id = match message.read() {
        Incoming::One(Ok(Message::Request(request))) => Some(request.id),
        _ => None,
    };
    let to = ReplyTo::unreadable(id, head.dialect());
    mount.pipeline.refuse(fault, to, head.connection, Requester::Caller(caller)).await
}

/// Handles a request without a session. It is cancelled when the client disconnects.
async fn modern(
    mount: &Arc<Mount>,
    head: &RequestHead<'_>,
    carried: FromHeader,
    buffer: MessageBuf,
    caller: Caller,
) -> Response<Body> {
    let (pipeline, headers, on) = (mount.pipeline.clone(), head.mcp_headers(), head.connection.clone());
    let prefers_events = head.prefers_events();
    let (outlet, cancel) = (Arc::new(Stream::new(FrameRetention::Nothing)), CancellationToken::new());
    let (line, called_off) = (outlet.clone(), cancel.clone());
    let work = async move {
        let request = match buffer.read() {
            Incoming::One(Ok(Message::Request(request))) => request,
            // Rarely taken, so it is boxed: the future of every request stays small.
            other => return Box::pin(no_request(&pipeline, other, &caller, &on)).await,
        };
        let trace = pipeline.join_trace(&request, carried.as_deref());
        let message = IncomingMessage::Mcp(request, RequestEra::Modern(Some(&headers)));
        pipeline
            .handle(incoming((message, trace), &caller, RequestOwner::Connection(&on), line, called_off))
            .await
    };
    let work = Persist::reusing(work, Some(cancel.clone()));
    match first(work, &outlet, prefers_events).await {
        FirstMessage::Reply(reply) => mount.reply(reply),
        FirstMessage::EventBody(work) => {
            see_to_its_end(work, &outlet);
            let reading = EventReader {
                stream: outlet,
                after: 0,
                number: None,
                primed: false,
                replaced: CancellationToken::new(),
                disconnect: DisconnectGuard::Caller(cancel.drop_guard()),
            };
            reading.response()
        }
    }
}

/// Handles messages without a session that are not requests.
async fn no_request(
    pipeline: &Arc<Pipeline>,
    incoming: Incoming<'_>,
    caller: &Caller,
    on: &Arc<str>,
) -> Option<Reply> {
    match incoming {
        Incoming::One(Ok(Message::Notification(notification))) => {
            pipeline.ignore_notification(&notification, MODERN, caller, on).await;
            None
        }
        Incoming::One(Ok(Message::Response(response))) => {
            let fault = Fault::new(&reason::RPC_BAD_SHAPE).fact("member", "result");
            let to = ReplyTo::unreadable(Some(response.id), MODERN);
            pipeline.refuse(fault, to, on, Requester::Caller(caller)).await
        }
        Incoming::One(Err(unreadable)) => {
            pipeline.refuse_unreadable(unreadable, MODERN, on, Some(caller)).await
        }
        Incoming::One(Ok(Message::Request(_))) | Incoming::Batch(_) => {
            pipeline.refuse_unreadable(no_batch(), MODERN, on, Some(caller)).await
        }
    }
}

/// Handles a body outside of any session: it begins one, or gets an error.
async fn begin_session(
    mount: Arc<Mount>,
    (on, dialect): (Arc<str>, Dialect),
    buffer: MessageBuf,
    caller: Caller,
    carried: FromHeader,
) -> Option<Reply> {
    let id = match buffer.read() {
        Incoming::One(Err(unreadable)) => {
            return mount.pipeline.refuse_unreadable(unreadable, dialect, &on, Some(&caller)).await;
        }
        Incoming::One(Ok(Message::Request(request))) if request.method == "initialize" => {
            return initialize(&mount, &on, request, &caller, carried.as_deref()).await;
        }
        Incoming::One(Ok(Message::Request(request))) => Some(request.id),
        Incoming::One(Ok(_)) | Incoming::Batch(_) => None,
    };
    let fault = Fault::new(&reason::HTTP_SESSION_REQUIRED);
    let to = ReplyTo::unreadable(id, dialect);
    mount.pipeline.refuse(fault, to, &on, Requester::Caller(&caller)).await
}

/// Handles the first request of a session. The session exists only after a successful handshake.
async fn initialize(
    mount: &Arc<Mount>,
    on: &Arc<str>,
    request: Request<'_>,
    caller: &Caller,
    carried: Option<&RemoteContext>,
) -> Option<Reply> {
    let to = ReplyTo::unreadable(Some(request.id.clone()), Dialect::Mcp(Revision::LATEST_SESSION));
    let entry =
        match mount.sessions.prepare(caller).and_then(|entry| mount.sessions.entry(&entry).map(|()| entry)) {
            Ok(entry) => entry,
            Err(fault) => return mount.pipeline.refuse(fault, to, on, Requester::Caller(caller)).await,
        };
    let outlet = Arc::new(Stream::new(FrameRetention::Nothing));
    let message = Ok(Message::Request(request));
    let mut reply =
        session_message(&mount.pipeline, &entry.session, caller, (message, carried), &outlet).await;
    if entry.session.client().is_none() {
        mount.sessions.end(&entry);
        return reply;
    }
    if let Err(fault) = mount.pipeline.keep_session(&entry.session).await {
        mount.sessions.end(&entry);
        return mount.pipeline.refuse(fault, to, on, Requester::Caller(caller)).await;
    }
    mount.pipeline.forward_changes(&entry.session);
    if let Some(reply) = &mut reply {
        reply.headers.push(("mcp-session-id", entry.session.id.clone()));
    }
    reply
}

/// Handles a message within a session. The work continues when the client disconnects, because the client may
/// resume.
async fn in_session(
    mount: &Arc<Mount>,
    entry: &Arc<SessionEntry>,
    (buffer, carried): (MessageBuf, FromHeader),
    caller: Caller,
    prefers_events: bool,
) -> Response<Body> {
    let (pipeline, session) = (mount.pipeline.clone(), entry.session.clone());
    // A body that is refused as a whole gets a JSON document in any case.
    let prefers_events = prefers_events && is_taken(&buffer, &session);
    // Other nodes answer these requests if this one is lost.
    let asked = pipeline.state().node().map(|_| requested_ids(&buffer));
    let outlet = Arc::new(Stream::new(FrameRetention::Recent));
    let line = outlet.clone();
    let work = Persist::reusing(
        async move {
            match session_body(&pipeline, &session, &caller, (&buffer, carried.as_deref()), &line).await {
                SessionAnswer::One(reply) => reply,
                SessionAnswer::Many(body) => body.map(|body| Reply {
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
        FirstMessage::Reply(reply) => mount.reply(reply),
        FirstMessage::EventBody(work) => {
            see_to_its_end(work, &outlet);
            let (number, replaced) = entry.keep(&outlet);
            if let Some(asked) = asked {
                Box::pin(shared::write_down(&mount.pipeline, &entry.session, number, &outlet, asked)).await;
            }
            let primed = EventReader::is_primed_in(entry.session.revision());
            let disconnect = DisconnectGuard::Session(entry.reader());
            EventReader { stream: outlet, after: 0, number: Some(number), primed, replaced, disconnect }
                .response()
        }
    }
}

/// Whether a session handles the messages of a body.
fn is_taken(buffer: &MessageBuf, session: &Session) -> bool {
    match buffer.read() {
        Incoming::One(message) => message.is_ok(),
        Incoming::Batch(_) => session.revision().allows_batch(),
    }
}

/// The ids of the requests in a body.
fn requested_ids(buffer: &MessageBuf) -> Vec<String> {
    let messages = match buffer.read() {
        Incoming::One(message) => vec![message],
        Incoming::Batch(messages) => messages,
    };
    let id = |message| match message {
        Ok(Message::Request(request)) => Some(request.id.text().to_owned()),
        _ => None,
    };
    messages.into_iter().filter_map(id).collect()
}

enum SessionAnswer {
    One(Option<Reply>),
    Many(Option<Vec<u8>>),
}

async fn session_body(
    pipeline: &Arc<Pipeline>,
    session: &Arc<Session>,
    caller: &Caller,
    (buffer, carried): (&MessageBuf, Option<&RemoteContext>),
    outlet: &Arc<Stream>,
) -> SessionAnswer {
    let one = |message| session_message(pipeline, session, caller, (message, carried), outlet);
    match buffer.read() {
        Incoming::One(message) => SessionAnswer::One(one(message).await),
        Incoming::Batch(_) if !session.revision().allows_batch() => {
            SessionAnswer::One(refuse_batch(pipeline, session, caller).await)
        }
        Incoming::Batch(messages) => {
            let each = messages.into_iter().map(one);
            SessionAnswer::Many(join_bodies(join_all(each).await))
        }
    }
}

async fn session_message(
    pipeline: &Arc<Pipeline>,
    session: &Arc<Session>,
    caller: &Caller,
    (message, carried): (Result<Message<'_>, UnreadableMessage>, Option<&RemoteContext>),
    outlet: &Arc<Stream>,
) -> Option<Reply> {
    match message {
        Ok(Message::Request(request)) => {
            let cancel = session.ended.child_token();
            let line = outlet.clone();
            let trace = pipeline.join_trace(&request, carried);
            let message = IncomingMessage::Mcp(request, RequestEra::Session);
            pipeline
                .handle(incoming((message, trace), caller, RequestOwner::Session(session), line, cancel))
                .await
        }
        Ok(Message::Notification(notification)) => {
            if pipeline.handle_notification(&notification, session).await == ConcernedNode::OtherNode {
                shared::pass_on(pipeline, session, notification.text()).await;
            }
            None
        }
        Ok(Message::Response(response)) => {
            if pipeline.handle_response(&response, session).await == ConcernedNode::OtherNode {
                shared::pass_on(pipeline, session, response.text()).await;
            }
            None
        }
        Err(unreadable) => {
            let dialect = Dialect::Mcp(session.revision());
            pipeline.refuse_unreadable(unreadable, dialect, &session.id, Some(caller)).await
        }
    }
}

fn incoming<'a>(
    (message, trace): (IncomingMessage<'a>, Option<Trace>),
    caller: &'a Caller,
    on: RequestOwner<'a>,
    outlet: Arc<Stream>,
    cancel: CancellationToken,
) -> IncomingRequest<'a> {
    let (session, connection) = match on {
        RequestOwner::Session(session) => (Some(session), session.id.as_str()),
        RequestOwner::Connection(connection) => (None, connection),
    };
    let ids = SharedIds::Allowed;
    IncomingRequest { message, caller, session, connection, ids, outlet, cancel, trace }
}

/// The session or connection that a request belongs to.
#[derive(Clone, Copy)]
enum RequestOwner<'a> {
    Session(&'a Arc<Session>),
    Connection(&'a str),
}

/// The first output of a request: its reply, or an event before it.
enum FirstMessage {
    Reply(Option<Reply>),
    EventBody(Persist<Option<Reply>>),
}

async fn first(mut work: Persist<Option<Reply>>, outlet: &Stream, prefers_events: bool) -> FirstMessage {
    if prefers_events {
        return FirstMessage::EventBody(work);
    }
    tokio::select! {
        biased;
        // Events that were sent before the reply are delivered, even if the reply is ready at once.
        reply = &mut work => {
            work.leave();
            match outlet.has_something() {
                true => FirstMessage::EventBody(Persist::new(std::future::ready(reply), None)),
                false => FirstMessage::Reply(reply),
            }
        }
        () = outlet.wait_readable() => FirstMessage::EventBody(work),
    }
}

/// Sends the reply as the last event of the stream.
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

/// `GET`: events that belong to no request, or the rest of an interrupted stream.
pub(in crate::http) async fn resume(
    mount: &Arc<Mount>,
    head: &RequestHead<'_>,
    caller: &Caller,
) -> Response<Body> {
    let entry = match find(mount, head, caller).await {
        Ok(entry) => entry,
        Err(fault) => return mount.refuse(fault, head, Some(caller)).await,
    };
    let (number, after) = match head.get("last-event-id").and_then(read_event_id) {
        Some((number, after)) => (number, Some(after)),
        None => (0, None),
    };
    let found = match entry.take_over(number) {
        Some(found) => Some(found),
        None => shared::take_up(mount, &entry, number, after.unwrap_or(0)).await,
    };
    let Some((stream, replaced)) = found else {
        return mount.refuse(Fault::new(&reason::HTTP_SESSION_LOST), head, Some(caller)).await;
    };
    let after = match after {
        // This node does not have the notifications of another node, so it repeats those that may be missing.
        Some(after) if number == 0 && after > stream.written() => {
            let position = stream.position();
            mount.pipeline.tell_missed(&entry.session).await;
            position
        }
        after => after.unwrap_or_else(|| stream.position()),
    };
    let disconnect = DisconnectGuard::Session(entry.reader());
    EventReader { stream, after, number: Some(number), primed: false, replaced, disconnect }.response()
}

fn read_event_id(id: &str) -> Option<(u64, u64)> {
    let (number, after) = id.split_once('-')?;
    Some((number.parse().ok()?, after.parse().ok()?))
}

/// `DELETE`: ends the session.
pub(in crate::http) async fn end(
    mount: &Arc<Mount>,
    head: &RequestHead<'_>,
    caller: &Caller,
) -> Response<Body> {
    let found = find(mount, head, caller).await;
    let ended = match found {
        Ok(entry) => shared::end(&mount.pipeline, &entry.session).await.map(|()| entry),
        Err(fault) => Err(fault),
    };
    match ended {
        Ok(entry) => {
            mount.sessions.end(&entry);
            empty(StatusCode::NO_CONTENT)
        }
        Err(fault) => mount.refuse(fault, head, Some(caller)).await,
    }
}

#[cfg(test)]
mod tests {
    use super::{FirstMessage, FrameRetention, Persist, Stream, first, read_event_id};

    #[tokio::test]
    async fn an_immediate_answer_does_not_lose_earlier_notifications() {
        let outlet = Stream::new(FrameRetention::Nothing);
        let quiet = first(Persist::new(async { None }, None), &outlet, false).await;
        assert!(matches!(quiet, FirstMessage::Reply(None)));
        outlet.push("a notice").await.expect("room");
        let reply = first(Persist::new(async { None }, None), &outlet, false).await;
        assert!(matches!(reply, FirstMessage::EventBody(_)));
    }

    #[test]
    fn event_ids_are_two_numbers() {
        assert_eq!(read_event_id("3-17"), Some((3, 17)));
        for odd in ["", "3", "3-", "-3", "a-b", "99999999999999999999-1"] {
            assert_eq!(read_event_id(odd), None, "{odd}");
        }
    }
}
