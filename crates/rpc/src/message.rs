//! JSON-RPC messages in scanned bytes.

mod body;
mod unreadable;

pub use body::{Notification, Request, Response};
pub use unreadable::{MessageKind, UnreadableMessage};

use self::body::Body;
use crate::id::Id;
use crate::raw::{Kind, Raw};
use crate::scan::{Defect, Envelope, Limits, Places, Scan, Slot, scan_text};
use bytes::Bytes;
use bytestring::ByteString;
use failwell_fault::{Fault, reason};

/// The content of received bytes.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the large variant is the ordinary one and lives on the stack")]
pub enum Incoming<'a> {
    /// One message, or one error for all of the bytes.
    One(Result<Message<'a>, UnreadableMessage>),
    /// A batch with a result for each message. The revision decides whether batches are allowed.
    Batch(Vec<Result<Message<'a>, UnreadableMessage>>),
}

#[derive(Debug)]
pub enum Message<'a> {
    /// Expects a response.
    Request(Request<'a>),
    /// Expects no response.
    Notification(Notification<'a>),
    /// A response to one of our requests.
    Response(Response<'a>),
}

/// A receive buffer after its only scan. Owned values share it without a copy: see [`Request::keep`].
#[derive(Clone, Debug)]
pub struct MessageBuf {
    text: ByteString,
    scanned: Result<Scan<Places>, Defect>,
}

impl MessageBuf {
    /// Scans bytes, which need not be UTF-8.
    pub fn scan(bytes: Bytes, limits: &Limits) -> Self {
        match ByteString::try_from(bytes) {
            Ok(text) => Self { scanned: scan_text(&text, limits), text },
            Err(error) => Self { scanned: Err(Defect::not_utf8(error)), text: ByteString::new() },
        }
    }

    /// The message. Reading it again does not scan it again.
    pub fn read(&self) -> Incoming<'_> {
        sort(&self.scanned, &self.text, Some(&self.text))
    }
}

/// Scans bytes and classifies the message. The result borrows from the bytes.
pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Incoming<'a> {
    match std::str::from_utf8(bytes) {
        Ok(text) => sort(&scan_text(text, limits), text, None),
        Err(error) => sort(&Err(Defect::not_utf8(error)), "", None),
    }
}

/// Classifies scanned text. `buffer` is the shared buffer that contains it, if there is one.
fn sort<'a>(
    scanned: &Result<Scan<Places>, Defect>,
    text: &'a str,
    buffer: Option<&'a ByteString>,
) -> Incoming<'a> {
    match scanned {
        Err(defect) => Incoming::One(Err(UnreadableMessage::of_defect(*defect, None, MessageKind::Unknown))),
        Ok(Scan::One(places)) => Incoming::One(classify(&places.within(text), buffer)),
        Ok(Scan::Batch(each)) if each.is_empty() => Incoming::One(Err(UnreadableMessage::new(
            Fault::new(&reason::RPC_EMPTY_BATCH),
            None,
            MessageKind::Unknown,
        ))),
        Ok(Scan::Batch(each)) => {
            Incoming::Batch(each.iter().map(|places| classify(&places.within(text), buffer)).collect())
        }
    }
}

/// Classifies an envelope as a message, or reports why it is invalid.
fn classify<'a>(
    envelope: &Envelope<'a>,
    buffer: Option<&'a ByteString>,
) -> Result<Message<'a>, UnreadableMessage> {
    let (id, about) = (envelope.id(), about(envelope));
    if let Some(defect) = envelope.soft_defect() {
        return Err(UnreadableMessage::of_defect(defect, id, about));
    }
    let checked = version(envelope).and_then(|()| match about {
        MessageKind::Call => call(envelope, id.clone(), buffer),
        MessageKind::Answer => answer(envelope, id.clone(), buffer),
        MessageKind::Unknown => Err(bad_shape("method")),
    });
    checked.map_err(|fault| UnreadableMessage::new(fault, id, about))
}

fn about(envelope: &Envelope<'_>) -> MessageKind {
    let has = |slot| envelope.span(slot).is_some();
    if has(Slot::Method) {
        MessageKind::Call
    } else if has(Slot::Result) || has(Slot::Error) {
        MessageKind::Answer
    } else {
        MessageKind::Unknown
    }
}

fn version(envelope: &Envelope<'_>) -> Result<(), Fault> {
    if envelope.raw().kind() != Kind::Object {
        return Err(bad_shape("message"));
    }
    let stated = envelope.get(Slot::Version).and_then(Raw::as_str);
    if stated.as_deref() == Some("2.0") { Ok(()) } else { Err(bad_shape("jsonrpc")) }
}

fn call<'a>(
    envelope: &Envelope<'a>,
    id: Option<Id>,
    buffer: Option<&'a ByteString>,
) -> Result<Message<'a>, Fault> {
    if envelope.span(Slot::Id).is_some() && id.is_none() {
        return Err(Fault::new(&reason::RPC_BAD_ID));
    }
    for surplus in [Slot::Result, Slot::Error] {
        if envelope.span(surplus).is_some() {
            return Err(bad_shape(if surplus == Slot::Result { "result" } else { "error" }));
        }
    }
    let method = envelope.get(Slot::Method).and_then(Raw::as_str).ok_or_else(|| bad_shape("method"))?;
    let (params, body) = (params(envelope)?, Body::new(envelope, buffer));
    Ok(match id {
        Some(id) => Message::Request(Request { id, method, params, body }),
        None => Message::Notification(Notification { method, params, body }),
    })
}

/// An array is accepted here: JSON-RPC allows it, and the method reports that its params are wrong.
fn params<'a>(envelope: &Envelope<'a>) -> Result<Option<Raw<'a>>, Fault> {
    match envelope.get(Slot::Params) {
        Some(raw) if !matches!(raw.kind(), Kind::Object | Kind::Array) => Err(bad_shape("params")),
        params => Ok(params),
    }
}

fn answer<'a>(
    envelope: &Envelope<'a>,
    id: Option<Id>,
    buffer: Option<&'a ByteString>,
) -> Result<Message<'a>, Fault> {
    let id = id.ok_or_else(|| Fault::new(&reason::RPC_BAD_ID))?;
    let outcome = match (envelope.get(Slot::Result), envelope.get(Slot::Error)) {
        (Some(result), None) => Ok(result),
        (None, Some(error)) if error.kind() == Kind::Object => Err(error),
        (None, _) => return Err(bad_shape("error")),
        (Some(_), Some(_)) => return Err(bad_shape("result")),
    };
    Ok(Message::Response(Response { id, body: outcome, message: Body::new(envelope, buffer) }))
}

fn bad_shape(member: &'static str) -> Fault {
    Fault::new(&reason::RPC_BAD_SHAPE).fact("member", member)
}

#[cfg(test)]
mod tests {
    use super::{Incoming, Message, MessageBuf};
    use crate::scan::{Limits, scans_of_this_thread};
    use bytes::Bytes;

    #[test]
    fn an_owned_value_shares_the_buffer_and_outlives_it() {
        let bytes = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":{"b":"c"}}}"#);
        let buffer = MessageBuf::scan(bytes.clone(), &Limits::default());
        let Incoming::One(Ok(Message::Request(request))) = buffer.read() else { panic!("a request") };
        let kept = request.keep(request.param("a").expect("a member"));
        drop(buffer);
        assert_eq!(kept.text(), r#"{"b":"c"}"#);
        assert!(bytes.as_ptr_range().contains(&kept.text().as_ptr()));
    }

    #[test]
    fn a_message_is_scanned_once_however_often_it_is_read() {
        let bytes = Bytes::from_static(br#"[{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0"}]"#);
        let before = scans_of_this_thread();
        let letter = MessageBuf::scan(bytes, &Limits::default());
        for _ in 0..3 {
            let Incoming::Batch(messages) = letter.read() else { panic!("a batch") };
            assert!(matches!(messages.as_slice(), [Ok(Message::Request(_)), Err(_)]));
        }
        assert_eq!(scans_of_this_thread() - before, 1);
    }

    #[test]
    fn bytes_that_are_not_utf8_get_the_same_fault_as_in_read() {
        let bytes = Bytes::from_static(b"{\"jsonrpc\":\"\xff\"}");
        let buffer = MessageBuf::scan(bytes.clone(), &Limits::default());
        let Incoming::One(Err(unreadable)) = buffer.read() else { panic!("a refusal") };
        let Incoming::One(Err(plainly)) = super::read(&bytes, &Limits::default()) else {
            panic!("a refusal")
        };
        assert_eq!(unreadable.fault.reason().id, plainly.fault.reason().id);
        assert_eq!(unreadable.fault.to_string(), plainly.fault.to_string());
    }
}
