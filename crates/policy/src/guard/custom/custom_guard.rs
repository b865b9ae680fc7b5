use std::fmt::Debug;
use std::pin::Pin;

use failwell_fault::Fault;

use super::request::GuardRequest;
use super::verdict::CustomVerdict;

/// A pending verdict. Dropping the future abandons the request.
pub type VerdictFuture<'a> = Pin<Box<dyn Future<Output = Result<CustomVerdict, Fault>> + Send + 'a>>;

/// Runs a custom guard, in any runtime. An error says why there is no verdict; the pipeline decides whether
/// the message passes without one.
pub trait CustomGuard: Debug + Send + Sync {
    /// Asks for the verdict on one message.
    fn judge<'a>(&'a self, question: GuardRequest<'a>) -> VerdictFuture<'a>;
}
