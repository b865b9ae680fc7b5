//! Checks that take several steps.

mod calls;
mod http;
mod streams;

use crate::exchange::Exchange;
use crate::lab::Lab;
use crate::verdict::Verdict;

/// The steps to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    OldBatch,
    DuplicateInFlight,
    NearMiss,
    PlantSecret,
    CancelBefore,
    CancelAfter,
    CancelDuring,
    InitializeTwice,
    ExitOnEof,
    Pipelined,
    Disconnect,
    ShortBody,
    Purity,
    ForeignHost,
    UnknownSession,
    MissingSession,
    DeletedSession,
    VersionHeader,
    ModernGet,
    ModernDelete,
}

/// A verdict and the bytes that prove it.
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    pub(crate) sent: Vec<u8>,
    pub(crate) got: Vec<u8>,
}

impl Outcome {
    pub(crate) fn new(verdict: Verdict, sent: &[u8], got: &[u8]) -> Self {
        Self { verdict, sent: sent.to_vec(), got: got.to_vec() }
    }

    pub(crate) fn of(verdict: Verdict, exchange: &Exchange) -> Self {
        Self::new(verdict, &exchange.sent, &exchange.got)
    }

    pub(crate) fn not_applicable(why: &str) -> Self {
        Self::new(Verdict::not_applicable(why), b"", b"")
    }
}

/// Takes the steps; the error says why the server could not be reached.
pub(crate) async fn perform(special: Special, lab: &mut Lab) -> Result<Outcome, String> {
    match special {
        Special::OldBatch => streams::old_batch(lab).await,
        Special::DuplicateInFlight => streams::duplicate_in_flight(lab).await,
        Special::NearMiss => calls::near_miss(lab).await,
        Special::PlantSecret => calls::plant_secret(lab).await,
        Special::CancelBefore => calls::cancel_before(lab).await,
        Special::CancelAfter => calls::cancel_after(lab).await,
        Special::CancelDuring => calls::cancel_during(lab).await,
        Special::InitializeTwice => calls::initialize_twice(lab).await,
        Special::ExitOnEof => streams::exit_on_eof(lab).await,
        Special::Pipelined => streams::pipelined(lab).await,
        Special::Disconnect => streams::disconnect(lab).await,
        Special::ShortBody => http::short_body(lab).await,
        Special::Purity => Ok(streams::purity(lab)),
        Special::ForeignHost => http::foreign_host(lab).await,
        Special::UnknownSession => http::unknown_session(lab).await,
        Special::MissingSession => http::missing_session(lab).await,
        Special::DeletedSession => http::deleted_session(lab).await,
        Special::VersionHeader => http::version_header(lab).await,
        Special::ModernGet => http::gone_verb(lab, "GET").await,
        Special::ModernDelete => http::gone_verb(lab, "DELETE").await,
    }
}
