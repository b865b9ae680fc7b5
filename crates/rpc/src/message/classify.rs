//! Classifies an envelope as a message, or reports why it is invalid.

use super::body::{Body, Notification, Request, Response};
use super::{About, Message, Misread};
use crate::id::Id;
use crate::raw::{Kind, Raw};
use crate::scan::{Envelope, Slot};
use bytestring::ByteString;
use failwell_fault::{Fault, reason};

pub(super) fn message<'a>(
    envelope: &Envelope<'a>,
    letter: Option<&'a ByteString>,
) -> Result<Message<'a>, Misread> {
    let (id, about) = (envelope.id(), about(envelope));
    if let Some(defect) = envelope.soft_defect() {
        return Err(Misread::of_defect(defect, id, about));
    }
    let checked = version(envelope).and_then(|()| match about {
        About::Call => call(envelope, id.clone(), letter),
        About::Answer => answer(envelope, id.clone(), letter),
        About::Unknown => Err(bad_shape("method")),
    });
    checked.map_err(|fault| Misread::new(fault, id, about))
}

fn about(envelope: &Envelope<'_>) -> About {
    let has = |slot| envelope.span(slot).is_some();
    if has(Slot::Method) {
        About::Call
    } else if has(Slot::Result) || has(Slot::Error) {
        About::Answer
    } else {
        About::Unknown
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
    letter: Option<&'a ByteString>,
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
    let (params, body) = (params(envelope)?, Body::new(envelope, letter));
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
    letter: Option<&'a ByteString>,
) -> Result<Message<'a>, Fault> {
    let id = id.ok_or_else(|| Fault::new(&reason::RPC_BAD_ID))?;
    let outcome = match (envelope.get(Slot::Result), envelope.get(Slot::Error)) {
        (Some(result), None) => Ok(result),
        (None, Some(error)) if error.kind() == Kind::Object => Err(error),
        (None, _) => return Err(bad_shape("error")),
        (Some(_), Some(_)) => return Err(bad_shape("result")),
    };
    Ok(Message::Response(Response { id, body: outcome, message: Body::new(envelope, letter) }))
}

fn bad_shape(member: &'static str) -> Fault {
    Fault::new(&reason::RPC_BAD_SHAPE).fact("member", member)
}
