//! JSON-RPC messages in scanned bytes.

mod body;
mod classify;
mod message_buf;
mod misread;

pub use body::{Notification, Request, Response};
pub use message_buf::MessageBuf;
pub use misread::{About, Misread};

use crate::scan::{Defect, Limits, Scan, scan};
use bytestring::ByteString;
use failwell_fault::{Fault, reason};

/// The content of received bytes.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the large variant is the ordinary one and lives on the stack")]
pub enum Incoming<'a> {
    /// One message, or one error for all of the bytes.
    One(Result<Message<'a>, Misread>),
    /// A batch with a result for each message. The revision decides whether batches are allowed.
    Batch(Vec<Result<Message<'a>, Misread>>),
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

/// Scans bytes and classifies the message. The result borrows from the bytes.
pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Incoming<'a> {
    sort(scan(bytes, limits), None)
}

/// Classifies scanned text. `letter` is the shared buffer that contains it, if there is one.
fn sort<'a>(scanned: Result<Scan<'a>, Defect>, letter: Option<&'a ByteString>) -> Incoming<'a> {
    match scanned {
        Err(defect) => Incoming::One(Err(Misread::of_defect(defect, None, About::Unknown))),
        Ok(Scan::One(envelope)) => Incoming::One(classify::message(&envelope, letter)),
        Ok(Scan::Batch(envelopes)) if envelopes.is_empty() => {
            Incoming::One(Err(Misread::new(Fault::new(&reason::RPC_EMPTY_BATCH), None, About::Unknown)))
        }
        Ok(Scan::Batch(envelopes)) => {
            Incoming::Batch(envelopes.iter().map(|envelope| classify::message(envelope, letter)).collect())
        }
    }
}
