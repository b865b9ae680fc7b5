//! Records decisions made at the terminal in the ledger.

use std::borrow::Cow;
use std::path::Path;
use std::time::{Duration, SystemTime};

use failwell_controls::{GuardSet, Telemetry};
use failwell_fault::Ref;
use failwell_pipeline::{ExchangeOutcome, Record, Transport, Verdict};
use failwell_rpc::{Dialect, ReplyTo, RestStyle};

use crate::cli::LedgerLocation;
use crate::commands::backends::ledger;
use crate::commands::config_file::{self, ConfigFileError};
use crate::commands::serving::serve;
use crate::complaint::Complaint;
use crate::config::{AuditConfig, Config};

/// Identifies the user at the terminal by user id, if the platform has one.
pub(super) fn person() -> String {
    #[cfg(unix)]
    let name = format!("terminal:{}", rustix::process::getuid().as_raw());
    #[cfg(not(unix))]
    let name = "terminal".to_owned();
    name
}

/// The ledger, opened before a decision is made.
pub(super) struct Register {
    telemetry: Telemetry,
    guard_set: GuardSet,
    is_critical: bool,
}

/// One decision, as the ledger records it.
pub(super) struct DecisionRecord {
    /// The subject: `approval` or `pin`.
    pub(super) guard: &'static str,
    /// The decision as a method name.
    pub(super) method: &'static str,
    /// The verdict in one word.
    pub(super) word: &'static str,
    /// The name of the tool.
    pub(super) target: String,
    /// Further details.
    pub(super) found: Vec<String>,
}

impl Register {
    /// Opens the ledger of this folder. With `audit.critical`, a ledger that cannot be written prevents the
    /// decision.
    pub(super) fn open(place: &LedgerLocation, folder: &Path) -> Result<Register, Complaint> {
        let config = match place.data_dir {
            Some(_) => Config::default(),
            None => config_file::settle_place(place.config.as_deref()).map_err(ConfigFileError::report)?,
        };
        // Exporters read the ledger in the server process, so this command starts none.
        let audit = AuditConfig { otlp: None, postgres: None, ..config.audit };
        let config = Config { data_dir: Some(folder.to_owned()), audit, ..config };
        let guard_set = GuardSet::standard().map_err(|fault| serve::unexpected(&fault))?;
        let telemetry = ledger::telemetry(&config, &guard_set).map_err(|fault| serve::unexpected(&fault))?;
        let is_critical = config.audit.critical;
        let register = Register { telemetry, guard_set, is_critical };
        if is_critical && !register.works() {
            return Err(Complaint::new(
                "the ledger cannot be written, and no decision may go without a record",
                "look at the folder of the ledger, or set audit.critical = false",
            ));
        }
        Ok(register)
    }

    /// Redacts secrets.
    pub(super) fn scrub(&self, text: &str) -> String {
        self.guard_set.scrub(text)
    }

    /// Writes the decision to the ledger.
    pub(super) fn write(&self, decided: DecisionRecord) -> Result<Ref, Complaint> {
        let to =
            ReplyTo { reference: Ref::fresh(), ..ReplyTo::unreadable(None, Dialect::Rest(RestStyle::Plain)) };
        let reference = to.reference;
        let verdict = Verdict {
            guard: decided.guard.into(),
            looked_at: "answer",
            decided: decided.word,
            found: decided.found.iter().map(|found| Cow::Owned(self.scrub(found))).collect(),
            after: Duration::ZERO,
            took: Duration::ZERO,
        };
        let Some(ledger) = self.telemetry.ledger() else { return Ok(reference) };
        ledger.note(Box::new(Record {
            to,
            ended: SystemTime::now(),
            took: Duration::ZERO,
            service: "failwell",
            connection: "".into(),
            transport: Transport::Terminal,
            caller: Some(person().into()),
            refused_from: None,
            method: Some(decided.method.into()),
            target: Some(decided.target.into()),
            server: None,
            ended_as: ExchangeOutcome::Succeeded,
            bytes_in: 0,
            bytes_out: 0,
            trace: None,
            verdicts: vec![verdict],
            bodies: None,
        }));
        self.telemetry.flush();
        if self.is_critical && !self.works() {
            let help = "look at the folder of the ledger; the decision itself stands";
            return Err(Complaint::new("the decision could not be written to the ledger", help));
        }
        Ok(reference)
    }

    fn works(&self) -> bool {
        self.telemetry.ledger().is_some_and(|ledger| {
            let health = ledger.health();
            health.works && health.lost == 0
        })
    }
}

impl Drop for Register {
    fn drop(&mut self) {
        self.telemetry.close();
    }
}
