//! What somebody at the terminal decided, in the ledger.

use std::borrow::Cow;
use std::path::Path;
use std::time::{Duration, SystemTime};

use failwell_audit::{Ended, Record, Transport, Verdict};
use failwell_fault::Ref;
use failwell_rpc::{Face, ReplyTo, RestStyle};
use failwell_server::{Books, Gate};

use super::configured::{self, Misconfigured};
use super::{ledger, serve};
use crate::cli::LedgerPlace;
use crate::complaint::Complaint;
use crate::config::{AuditConfig, Config};

/// Who sits at the terminal, as far as the system says.
pub(super) fn person() -> String {
    #[cfg(unix)]
    let name = format!("terminal:{}", rustix::process::getuid().as_raw());
    #[cfg(not(unix))]
    let name = "terminal".to_owned();
    name
}

/// The ledger of a place, open for what is about to be decided.
pub(super) struct Register {
    books: Books,
    gate: Gate,
    is_critical: bool,
}

/// One decision.
pub(super) struct Decided {
    /// What it was about: `approval` or `pin`.
    pub(super) guard: &'static str,
    /// What was done, as a method.
    pub(super) method: &'static str,
    /// The one word of it.
    pub(super) word: &'static str,
    /// Which tool.
    pub(super) target: String,
    /// What else there is to say.
    pub(super) found: Vec<String>,
}

impl Register {
    /// Opens the ledger of this folder. Where a record is promised, nothing may be decided without one.
    pub(super) fn open(place: &LedgerPlace, folder: &Path) -> Result<Register, Complaint> {
        let config = match place.data_dir {
            Some(_) => Config::default(),
            None => configured::settle_place(place.config.as_deref()).map_err(Misconfigured::report)?,
        };
        // What carries records elsewhere is the server's business: it reads them from the ledger.
        let audit = AuditConfig { otlp: None, postgres: None, ..config.audit };
        let config = Config { data_dir: Some(folder.to_owned()), audit, ..config };
        let gate = Gate::standard().map_err(|fault| serve::unexpected(&fault))?;
        let books = ledger::books(&config, &gate).map_err(|fault| serve::unexpected(&fault))?;
        let is_critical = config.audit.critical;
        let register = Register { books, gate, is_critical };
        if is_critical && !register.works() {
            return Err(Complaint::new(
                "the ledger cannot be written, and no decision may go without a record",
                "look at the folder of the ledger, or set audit.critical = false",
            ));
        }
        Ok(register)
    }

    /// A text without secrets.
    pub(super) fn scrub(&self, text: &str) -> String {
        self.gate.scrub(text)
    }

    /// Writes a decision down.
    pub(super) fn write(&self, decided: Decided) -> Result<Ref, Complaint> {
        let to = ReplyTo { reference: Ref::fresh(), ..ReplyTo::misread(None, Face::Rest(RestStyle::Plain)) };
        let reference = to.reference;
        let verdict = Verdict {
            guard: decided.guard.into(),
            looked_at: "answer",
            decided: decided.word,
            found: decided.found.iter().map(|found| Cow::Owned(self.scrub(found))).collect(),
            after: Duration::ZERO,
            took: Duration::ZERO,
        };
        let Some(ledger) = self.books.ledger() else { return Ok(reference) };
        ledger.note(Box::new(Record {
            to,
            ended: SystemTime::now(),
            took: Duration::ZERO,
            service: "failwell",
            connection: "".into(),
            transport: Transport::Terminal,
            caller: Some(person().into()),
            method: Some(decided.method.into()),
            target: Some(decided.target.into()),
            server: None,
            ended_as: Ended::Well,
            bytes_in: 0,
            bytes_out: 0,
            trace: None,
            verdicts: vec![verdict],
            bodies: None,
        }));
        self.books.flush();
        if self.is_critical && !self.works() {
            let help = "look at the folder of the ledger; the decision itself stands";
            return Err(Complaint::new("the decision could not be written to the ledger", help));
        }
        Ok(reference)
    }

    fn works(&self) -> bool {
        self.books.ledger().is_some_and(|ledger| {
            let health = ledger.health();
            health.works && health.lost == 0
        })
    }
}
