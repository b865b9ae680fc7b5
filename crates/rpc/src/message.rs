//! Messages: what scanned bytes mean in JSON-RPC.

mod body;
mod classify;
mod misread;

pub use body::{Notification, Request, Response};
pub use misread::{About, Misread};

use crate::scan::{Limits, Scan, scan};
use failwell_fault::{Fault, reason};

/// What arrived.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the large variant is the ordinary one and lives on the stack")]
pub enum Incoming<'a> {
    /// One message, or one refusal for all of the bytes.
    One(Result<Message<'a>, Misread>),
    /// A batch, with a verdict for each of its messages. Whether batches are allowed is the revision's matter.
    Batch(Vec<Result<Message<'a>, Misread>>),
}

/// One message.
#[derive(Debug)]
pub enum Message<'a> {
    /// Waits for an answer.
    Request(Request<'a>),
    /// Waits for nothing.
    Notification(Notification<'a>),
    /// Answers a request of ours.
    Response(Response<'a>),
}

/// Scans bytes and says what they mean. Everything returned borrows from them.
pub fn read<'a>(bytes: &'a [u8], limits: &Limits) -> Incoming<'a> {
    match scan(bytes, limits) {
        Err(defect) => Incoming::One(Err(Misread::of_defect(defect, None, About::Unknown))),
        Ok(Scan::One(envelope)) => Incoming::One(classify::message(&envelope)),
        Ok(Scan::Batch(envelopes)) if envelopes.is_empty() => {
            Incoming::One(Err(Misread::new(Fault::new(&reason::RPC_EMPTY_BATCH), None, About::Unknown)))
        }
        Ok(Scan::Batch(envelopes)) => Incoming::Batch(envelopes.iter().map(classify::message).collect()),
    }
}
