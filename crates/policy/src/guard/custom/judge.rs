use std::fmt::Debug;
use std::pin::Pin;

use failwell_fault::Fault;

use super::opinion::Opinion;
use super::question::Question;

/// A verdict on its way. Dropped, nobody waits for it any more.
pub type Judging<'a> = Pin<Box<dyn Future<Output = Result<Opinion, Fault>> + Send + 'a>>;

/// Whoever answers for a custom guard, wherever it runs. A failure says why there is no verdict; what follows from that
/// is not for it to decide.
pub trait Judge: Debug + Send + Sync {
    /// What it says of one message.
    fn judge<'a>(&'a self, question: Question<'a>) -> Judging<'a>;
}
