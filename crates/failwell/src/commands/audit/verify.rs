use std::process::ExitCode;

use failwell_audit::{Break, Head, Verified, verify};
use serde_json::{Value, json as object};

use super::{open, serve};
use crate::cli::VerifyLedger;
use crate::commands::configured::counted;
use crate::commands::json;
use crate::complaint::Complaint;
use crate::terminal;

/// Follows the chain, and says where it does not hold.
pub(super) fn run(arguments: &VerifyLedger) -> Result<ExitCode, Complaint> {
    let known = arguments.head.as_deref().map(|text| {
        Head::parse(text).ok_or_else(|| {
            Complaint::new("this is no end of a ledger", "give --head what `failwell audit verify` printed")
        })
    });
    let known = known.transpose()?;
    let found = verify(&open(&arguments.place)?, known).map_err(|fault| serve::unexpected(&fault))?;
    if arguments.json {
        terminal::print(&json(&as_json(&found))?);
        return Ok(if found.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    if found.holds() {
        terminal::print(&format!("{}\nhead {}\n", held(&found), found.head));
        return Ok(ExitCode::SUCCESS);
    }
    found.breaks.iter().for_each(|broken| terminal::print(&format!("{}\n", told(broken))));
    let places = counted(usize::try_from(found.total).unwrap_or(usize::MAX), "place");
    Err(Complaint::new(
        format!("the ledger is not what was written, in {places}"),
        "compare it with a copy (audit.jsonl, a backup), and find out who could write to its folder",
    ))
}

fn held(found: &Verified) -> String {
    let records = counted(usize::try_from(found.records).unwrap_or(usize::MAX), "record");
    match found.first {
        1 => format!("{records}, all as they were written"),
        first => {
            format!("{records} from number {first} on, all as they were written; older ones were removed")
        }
    }
}

fn told(broken: &Break) -> String {
    let reference =
        broken.reference.as_ref().map_or(String::new(), |reference| format!(" (ref {reference})"));
    format!("record {}{reference}: {}", broken.seq, broken.what)
}

fn as_json(found: &Verified) -> Value {
    let breaks: Vec<Value> = found
        .breaks
        .iter()
        .map(|broken| object!({"seq": broken.seq, "ref": broken.reference, "what": broken.what}))
        .collect();
    object!({
        "ok": found.holds(),
        "records": found.records,
        "first": found.first,
        "head": found.head.to_string(),
        "breaks": breaks,
        "breaks_total": found.total,
    })
}
