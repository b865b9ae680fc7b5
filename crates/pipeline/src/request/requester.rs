//! The sender of a message that is refused before any stage.

use std::net::IpAddr;

use failwell_rpc::Caller;

/// The origin of a refused message. Only a refusal of an identified caller always gets a record of its own.
#[derive(Debug, Clone, Copy)]
pub enum Requester<'a> {
    Caller(&'a Caller),
    /// Not identified. The address decides together with the reason which of many refusals are recorded.
    Address(IpAddr),
}

impl<'a> Requester<'a> {
    /// Caller and address for the record.
    pub(crate) fn into_parts(self) -> (Option<&'a Caller>, Option<IpAddr>) {
        match self {
            Requester::Caller(caller) => (Some(caller), None),
            Requester::Address(address) => (None, Some(address)),
        }
    }
}
