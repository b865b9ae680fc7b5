//! Checks that take several steps.

mod calls;
mod http;
mod streams;

use super::verdict::Verdict;
use crate::connection::exchange::Exchange;
use crate::examine::test_bench::TestBench;

/// A check that needs several steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Procedure {
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
pub(crate) struct ProcedureOutcome {
    pub(crate) verdict: Verdict,
    pub(crate) sent: Vec<u8>,
    pub(crate) got: Vec<u8>,
}

impl ProcedureOutcome {
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
pub(crate) async fn perform(special: Procedure, lab: &mut TestBench) -> Result<ProcedureOutcome, String> {
    match special {
        Procedure::OldBatch => streams::old_batch(lab).await,
        Procedure::DuplicateInFlight => streams::duplicate_in_flight(lab).await,
        Procedure::NearMiss => calls::near_miss(lab).await,
        Procedure::PlantSecret => calls::plant_secret(lab).await,
        Procedure::CancelBefore => calls::cancel_before(lab).await,
        Procedure::CancelAfter => calls::cancel_after(lab).await,
        Procedure::CancelDuring => calls::cancel_during(lab).await,
        Procedure::InitializeTwice => calls::initialize_twice(lab).await,
        Procedure::ExitOnEof => streams::exit_on_eof(lab).await,
        Procedure::Pipelined => streams::pipelined(lab).await,
        Procedure::Disconnect => streams::disconnect(lab).await,
        Procedure::ShortBody => http::short_body(lab).await,
        Procedure::Purity => Ok(streams::purity(lab)),
        Procedure::ForeignHost => http::foreign_host(lab).await,
        Procedure::UnknownSession => http::unknown_session(lab).await,
        Procedure::MissingSession => http::missing_session(lab).await,
        Procedure::DeletedSession => http::deleted_session(lab).await,
        Procedure::VersionHeader => http::version_header(lab).await,
        Procedure::ModernGet => http::gone_verb(lab, "GET").await,
        Procedure::ModernDelete => http::gone_verb(lab, "DELETE").await,
    }
}
