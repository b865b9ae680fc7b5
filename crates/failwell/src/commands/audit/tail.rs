use std::process::ExitCode;
use std::time::Duration;

use failwell_audit::Query;

use super::{asked, format, open, serve, show};
use crate::cli::Tail;
use crate::complaint::Complaint;

/// How often a ledger that is followed is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// Shows the latest records, and with `--follow` those to come.
pub(super) fn run(arguments: &Tail) -> Result<ExitCode, Complaint> {
    let unexpected = |fault| serve::unexpected(&fault);
    let reading = open(&arguments.place)?;
    let limit = usize::try_from(arguments.lines).unwrap_or(usize::MAX);
    let wanted = asked(&arguments.wanted);
    let mut seen = reading.head().map_err(unexpected)?.seq;
    if limit > 0 {
        let latest = Query { limit: Some(limit), ..wanted.clone() };
        let rows = reading.select(&latest).map_err(unexpected)?;
        seen = rows.last().map_or(seen, |row| row.head.seq.max(seen));
        show(&rows, format(arguments.json));
    }
    if !arguments.follow {
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        std::thread::sleep(LOOK);
        let head = reading.head().map_err(unexpected)?.seq;
        if head > seen {
            let new = Query { after: Some(seen), ..wanted.clone() };
            show(&reading.select(&new).map_err(unexpected)?, format(arguments.json));
            seen = head;
        }
    }
}
