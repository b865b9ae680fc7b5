//! Reply addresses for tests.

use failwell_fault::Ref;
use failwell_rpc::{Dialect, ExpectedReply, ExpectedResult, Id, ReplyTo};

/// A caller that expects a response, with a fixed reference.
pub(crate) fn caller(dialect: Dialect, asked: ExpectedResult, id: Option<Id>) -> ReplyTo {
    ReplyTo { id, wants: ExpectedReply::Answer, dialect, asked, reference: Ref::fixed(0x0123_4567_89ab_cdef) }
}
