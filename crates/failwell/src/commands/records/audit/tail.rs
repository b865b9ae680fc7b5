use std::process::ExitCode;
use std::time::Duration;

use failwell_audit::Query;

use super::{RecordReader, asked, format, show};
use crate::cli::Tail;
use crate::complaint::Complaint;
use crate::terminal;

/// Poll interval of `--follow`.
const LOOK: Duration = Duration::from_millis(250);

/// Prints the latest records, and with `--follow` also new ones.
pub(super) fn run(arguments: &Tail) -> Result<ExitCode, Complaint> {
    let mut book = RecordReader::open(&arguments.place)?;
    let limit = usize::try_from(arguments.lines).unwrap_or(usize::MAX);
    let wanted = asked(&arguments.wanted);
    let mut seen = book.ends()?;
    if limit > 0 {
        let latest = Query { limit: Some(limit), ..wanted.clone() };
        let rows = book.select(&latest)?;
        for found in &rows {
            let last = seen.entry(found.node.clone().unwrap_or_default()).or_default();
            *last = found.row.head.seq.max(*last);
        }
        show(&rows, format(arguments.json));
    }
    while arguments.follow && !terminal::is_closed() {
        std::thread::sleep(LOOK);
        let ends = book.ends()?;
        if ends.iter().any(|(node, end)| seen.get(node).is_none_or(|seen| end > seen)) {
            let new = book.since(&wanted, &seen)?;
            // Records written between the two queries are printed now and not again in the next turn.
            for found in &new {
                let last = seen.entry(found.node.clone().unwrap_or_default()).or_default();
                *last = found.row.head.seq.max(*last);
            }
            show(&new, format(arguments.json));
            ends.into_iter().for_each(|(node, end)| {
                let last = seen.entry(node).or_default();
                *last = end.max(*last);
            });
        }
    }
    Ok(ExitCode::SUCCESS)
}
