//! Authentication of callers: the contract, and a server that asks for no credentials.

use std::fmt::Debug;

use failwell_fault::Fault;
use failwell_rpc::Caller;
use failwell_toolbox::PortFuture;
use http::header::HeaderValue;

use crate::http::request::{Credential, RequestHead};

/// Checks the credentials of callers.
pub trait Authenticate: Debug + Send + Sync {
    /// Authenticates the caller of a request by the key or token it presents.
    fn admit<'a>(&'a self, presented: Option<Credential<'a>>) -> Authentication<'a>;
    /// Whether callers need no credentials.
    fn is_open(&self) -> bool;
    /// Whether the configuration has credentials of this caller.
    fn knows(&self, caller: &Caller) -> bool;
    /// The `WWW-Authenticate` header of a refusal.
    fn challenge(&self, refusal: &Fault, head: &RequestHead<'_>) -> Option<HeaderValue>;
    /// The protected resource metadata (RFC 9728); `None` if tokens are not accepted.
    fn metadata(&self, head: &RequestHead<'_>) -> Option<String>;
}

/// The result of an authentication.
pub enum Authentication<'a> {
    /// It is known.
    Now(Result<Caller, Fault>),
    /// A store or an issuer has to be asked.
    Pending(PortFuture<'a, Result<Caller, Fault>>),
}

/// Every caller is anonymous.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) struct AllowAll;

impl Authenticate for AllowAll {
    fn admit<'a>(&'a self, _: Option<Credential<'a>>) -> Authentication<'a> {
        Authentication::Now(Ok(Caller::anonymous()))
    }

    fn is_open(&self) -> bool {
        true
    }

    fn knows(&self, _: &Caller) -> bool {
        false
    }

    fn challenge(&self, _: &Fault, _: &RequestHead<'_>) -> Option<HeaderValue> {
        None
    }

    fn metadata(&self, _: &RequestHead<'_>) -> Option<String> {
        None
    }
}
