//! Response bodies: complete, or a stream of events.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use failwell_pipeline::{Stream, StreamRead};
use failwell_render::Reply;
use failwell_rpc::Revision;
use futures_util::stream::unfold;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use http_body::Frame;
use http_body_util::{Either, Full, StreamBody};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::sessions::Reader;

/// A body that is sent in pieces.
pub type EventBody = Pin<Box<dyn futures_util::Stream<Item = Result<Frame<Bytes>, Infallible>> + Send>>;

pub type Body = Either<Full<Bytes>, StreamBody<EventBody>>;

/// Interval of comments on an idle stream, so that proxies keep it open and lost readers are detected.
const HEARTBEAT: Duration = Duration::from_secs(15);

pub fn whole(status: u16, content_type: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::new(body.into())));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

pub fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::new(Bytes::new())));
    *response.status_mut() = status;
    response
}

pub fn rendered(reply: Reply) -> Response<Body> {
    let mut response = whole(reply.status, reply.content_type, reply.body);
    for (name, value) in reply.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    response
}

pub fn stream(events: EventBody) -> Response<Body> {
    let mut response = Response::new(Either::Right(StreamBody::new(events)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// One reader of an event stream.
pub(super) struct EventReader {
    pub(super) stream: Arc<Stream>,
    /// The last frame that the client has.
    pub(super) after: u64,
    /// The stream's number in its session. With a number, frames have ids for resumption.
    pub(super) number: Option<u64>,
    /// The client's revision supports an empty first event.
    pub(super) primed: bool,
    /// Cancelled when another reader takes over, or the session ends.
    pub(super) replaced: CancellationToken,
    /// Dropped with the body: signals that the client is gone.
    #[expect(dead_code, reason = "held for its drop")]
    pub(super) disconnect: DisconnectGuard,
}

/// The effect of a client's disconnection.
#[expect(dead_code, reason = "held for its drop")]
pub(super) enum DisconnectGuard {
    /// The request is cancelled.
    Caller(DropGuard),
    /// The session may become idle.
    Session(Reader),
}

impl EventReader {
    /// Returns true if the revision has an empty first event, which gives the client an id to resume from.
    pub(super) fn is_primed_in(revision: Revision) -> bool {
        revision >= Revision::V2025_11_25
    }

    pub(super) fn response(self) -> Response<Body> {
        let first = self.first_event();
        let state = State { reading: Detach(self), first, over: false };
        stream(Box::pin(unfold(state, |mut state| async move {
            let text = state.next_event().await?;
            Some((Ok(Frame::data(Bytes::from(text))), state))
        })))
    }

    fn first_event(&self) -> Option<String> {
        let number = self.number.filter(|_| self.primed)?;
        Some(format!("id: {number}-{}\nretry: 500\ndata:\n\n", self.after))
    }

    fn event(&self, frame: &failwell_pipeline::Frame) -> String {
        let text = String::from_utf8_lossy(&frame.bytes);
        match self.number {
            Some(number) => format!("id: {number}-{}\nevent: message\ndata: {text}\n\n", frame.number),
            None => format!("event: message\ndata: {text}\n\n"),
        }
    }
}

/// Detaches the reader from the stream when it is dropped.
struct Detach(EventReader);

impl Drop for Detach {
    fn drop(&mut self) {
        if !self.0.replaced.is_cancelled() {
            self.0.stream.detach();
        }
    }
}

struct State {
    reading: Detach,
    first: Option<String>,
    over: bool,
}

impl State {
    async fn next_event(&mut self) -> Option<String> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        if self.over {
            return None;
        }
        let reading = &mut self.reading.0;
        let next = tokio::select! {
            biased;
            next = reading.stream.next(reading.after) => next,
            () = reading.replaced.cancelled() => StreamRead::End,
            () = tokio::time::sleep(HEARTBEAT) => return Some(": alive\n\n".to_owned()),
        };
        match next {
            StreamRead::Frame(frame) => {
                reading.after = frame.number;
                Some(reading.event(&frame))
            }
            StreamRead::Pause(retry) => {
                self.over = true;
                let number = reading.number.unwrap_or(0);
                Some(format!("id: {number}-{}\nretry: {}\ndata:\n\n", reading.after, retry.as_millis()))
            }
            StreamRead::End => None,
        }
    }
}
