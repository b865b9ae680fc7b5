use std::process::ExitCode;

use failwell_audit::{ChainBreak, ChainHead, VerifyReport};
use serde_json::{Value, json as object};

use super::RecordReader;
use crate::cli::VerifyLedger;
use crate::commands::config_file::counted;
use crate::commands::json;
use crate::complaint::Complaint;
use crate::terminal;

/// Verifies the hash chain and reports each place where it is broken.
pub(super) fn run(arguments: &VerifyLedger) -> Result<ExitCode, Complaint> {
    let known = arguments.head.as_deref().map(|text| {
        ChainHead::parse(text).ok_or_else(|| {
            Complaint::new(
                "this is not a chain head",
                "give --head a head that `failwell audit verify` printed, as NUMBER:HASH",
            )
        })
    });
    let known = known.transpose()?;
    let mut book = RecordReader::open(&arguments.place)?;
    let all = book.verify(known)?;
    let holds = all.iter().all(|(_, found)| found.holds());
    if arguments.json {
        terminal::print(&json(&all_as_json(&all))?);
        return Ok(if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    all.iter().for_each(|(node, found)| terminal::print(&shown(node.as_deref(), found)));
    if holds {
        return Ok(ExitCode::SUCCESS);
    }
    let total = all.iter().map(|(_, found)| found.total).sum::<u64>();
    let places = counted(usize::try_from(total).unwrap_or(usize::MAX), "place");
    Err(Complaint::new(
        format!("the ledger was changed, in {places}"),
        "compare it with a copy (audit.jsonl, a backup), and find out who could write to it",
    ))
}

/// The result for one chain, as text.
fn shown(node: Option<&str>, found: &VerifyReport) -> String {
    let (of, head_of) = match node {
        Some(node) => (format!("node {node}: "), format!("{node} ")),
        None => (String::new(), String::new()),
    };
    let mut text = String::new();
    for (first, last) in &found.gaps {
        text.push_str(&format!(
            "{of}records {first} to {last} were removed for their age before they were copied\n"
        ));
    }
    for removal in &found.removed {
        let until = removal.until.as_ref().map_or(String::new(), |until| format!(", up to {until}"));
        text.push_str(&format!("{of}retention removed {} {}{until}\n", removal.records, removal.class));
    }
    if found.holds() {
        text.push_str(&format!("{of}{}\nhead {head_of}{}\n", held(found), found.head));
    }
    found.breaks.iter().for_each(|broken| text.push_str(&format!("{of}{}\n", describe_break(broken))));
    text
}

/// A single chain is one object. Several chains are an array of objects with the name of their node.
fn all_as_json(all: &[(Option<String>, VerifyReport)]) -> Value {
    match all {
        [(None, found)] => as_json(found),
        several => {
            let nodes: Vec<Value> = several
                .iter()
                .map(|(node, found)| {
                    let mut one = as_json(found);
                    if let Some(members) = one.as_object_mut() {
                        members.insert("node".to_owned(), object!(node));
                    }
                    one
                })
                .collect();
            object!({"ok": several.iter().all(|(_, found)| found.holds()), "nodes": nodes})
        }
    }
}

fn held(found: &VerifyReport) -> String {
    let records = counted(usize::try_from(found.records).unwrap_or(usize::MAX), "record");
    match found.first {
        1 => format!("{records}, all as they were written"),
        first => {
            format!("{records} from number {first} on, all as they were written; older ones were removed")
        }
    }
}

fn describe_break(broken: &ChainBreak) -> String {
    let reference =
        broken.reference.as_ref().map_or(String::new(), |reference| format!(" (ref {reference})"));
    format!("record {}{reference}: {}", broken.seq, broken.what)
}

fn as_json(found: &VerifyReport) -> Value {
    let breaks: Vec<Value> = found
        .breaks
        .iter()
        .map(|broken| object!({"seq": broken.seq, "ref": broken.reference, "what": broken.what}))
        .collect();
    let removed: Vec<Value> = found
        .removed
        .iter()
        .map(|removal| object!({"class": removal.class, "records": removal.records, "until": removal.until}))
        .collect();
    object!({
        "ok": found.holds(),
        "records": found.records,
        "first": found.first,
        "gaps": found.gaps,
        "removed": removed,
        "head": found.head.to_string(),
        "breaks": breaks,
        "breaks_total": found.total,
    })
}
