//! The exact bytes of every reason in every dialect, stored in `tests/transcripts/render` and reviewed like
//! prose. `UPDATE=1 cargo test -p failwell-render --test transcripts` rewrites them.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]

#[path = "support/callers.rs"]
mod callers;
#[path = "support/samples.rs"]
mod samples;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use failwell_fault::{Condition, Kind, Reason};
use failwell_render::{Moment, Reply, render};
use failwell_rpc::{Dialect, ExpectedResult, Id, ReplyTo, RestStyle, Revision};

use callers::caller;
use samples::sample;

/// The dialects of a transcript: one revision for each difference in the bytes.
fn shown() -> Vec<(&'static str, Dialect)> {
    vec![
        ("MCP 2025-06-18 (session)", Dialect::Mcp(Revision::V2025_06_18)),
        ("MCP 2025-11-25 (session)", Dialect::Mcp(Revision::V2025_11_25)),
        ("MCP 2026-07-28 (modern)", Dialect::Mcp(Revision::V2026_07_28)),
        ("JSON-RPC (/rpc)", Dialect::Rpc),
        ("REST", Dialect::Rest(RestStyle::Plain)),
        ("REST, application/problem+json", Dialect::Rest(RestStyle::Problem)),
    ]
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/transcripts/render")
}

fn transcript(reason: &'static Reason) -> String {
    let mut page = format!("{}\n{}\n", reason.id, "=".repeat(reason.id.len()));
    for (name, dialect) in shown() {
        let has_id = matches!(dialect, Dialect::Mcp(_) | Dialect::Rpc);
        let other = caller(dialect, ExpectedResult::Other, Some(Id::from_number(1)));
        let tool = ReplyTo { asked: ExpectedResult::Tool, ..other.clone() };
        if !has_id || reason.condition != Condition::NotJson {
            section(&mut page, name, &other, reason);
        }
        if reply(&tool, reason) != reply(&other, reason) {
            section(&mut page, &format!("{name}, from tools/call"), &tool, reason);
        }
        if has_id && reason.kind == Kind::Malformed {
            let nameless = ReplyTo { id: None, ..other };
            section(&mut page, &format!("{name}, id unreadable"), &nameless, reason);
        }
    }
    page
}

fn reply(to: &ReplyTo, reason: &'static Reason) -> Option<Reply> {
    render(
        to,
        &Err(sample(reason)),
        Some(r#"{"name":"failwell","version":"1"}"#),
        Moment::at_unix(1_800_000_000),
    )
}

fn section(page: &mut String, name: &str, to: &ReplyTo, reason: &'static Reason) {
    write!(page, "\n── {name} ").expect("text takes text");
    let Some(reply) = reply(to, reason) else {
        page.push_str("→ silence\n");
        return;
    };
    writeln!(page, "→ {} {}", reply.status, reply.content_type).expect("text takes text");
    for (header, value) in &reply.headers {
        writeln!(page, "{header}: {value}").expect("text takes text");
    }
    page.push_str(std::str::from_utf8(&reply.body).expect("UTF-8"));
    page.push('\n');
}

#[test]
fn every_reason_reads_as_its_transcript() {
    let update = std::env::var_os("UPDATE").is_some();
    let mut changed = Vec::new();
    for reason in failwell_catalogue::registry().expect("no id twice").iter() {
        let path = folder().join(format!("{}.txt", reason.id));
        let page = transcript(reason);
        if update {
            std::fs::create_dir_all(path.parent().expect("an area")).expect("a folder for the area");
            std::fs::write(&path, page).expect("a transcript is written");
        } else if std::fs::read_to_string(&path).ok().as_ref() != Some(&page) {
            changed.push(reason.id);
        }
    }
    assert!(changed.is_empty(), "read the changes, then rewrite with UPDATE=1: {changed:?}");
}

/// The statuses that the device server's record has in its table carry its codes for every reason (S4 in
/// docs/sources.md).
#[test]
fn a_status_of_the_record_has_its_code() {
    let registry = failwell_catalogue::registry().expect("the reasons");
    for reason in registry.iter() {
        let row = failwell_render::codes::row(reason);
        let codes: &[i32] = match row.rest.status {
            401 => &[-32000],
            403 => &[-32001],
            404 => &[-32601, -32800],
            422 => &[-32602],
            _ => continue,
        };
        assert!(
            codes.contains(&row.rest.code),
            "{} is {} with {}",
            reason.id,
            row.rest.status,
            row.rest.code
        );
    }
}
