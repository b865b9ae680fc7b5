//! Where a reply goes to.

use failwell_fault::Ref;
use failwell_rpc::{Asked, Face, Id, ReplyTo, Wants};

/// A caller who waits for an answer, under a reference that does not change.
pub(crate) fn caller(face: Face, asked: Asked, id: Option<Id>) -> ReplyTo {
    ReplyTo { id, wants: Wants::Answer, face, asked, reference: Ref::fixed(0x0123_4567_89ab_cdef) }
}
