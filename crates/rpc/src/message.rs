//! Messages: what scanned bytes mean in JSON-RPC.

mod body;
mod classify;
mod letter;
mod misread;

pub use body::{Notification, Request, Response};
pub use letter::Letter;
pub use misread::{About, Misread};

use crate::scan::{Defect, Limits, Scan, scan};
use bytestring::ByteString;
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
    sort(scan(bytes, limits), None)
}

/// What scanned text means, and the letter it is part of where there is one.
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
