//! Stored records, counts of lost records, and the formats of the copies.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]
#![allow(dead_code, reason = "each test uses a part of what is shared")]

mod support;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_audit::{CsvSink, Durability, JsonlSink, LedgerSettings, Query, Rotation, TextSink, failed};
use failwell_fault::{Effect, Fault, reason};
use failwell_pipeline::{Bodies, Verdict};
use serde_json::Value;
use support::{Folder, fault, fine, ledger, open, record, verified};

const MARK: &str = "MARK-secret";

/// Settings with a redactor that knows one secret.
fn settings(folder: &Path) -> LedgerSettings {
    LedgerSettings {
        redactor: Arc::new(|text: &str| text.replace(MARK, "[redacted]")),
        bodies: Some(40),
        ..LedgerSettings::in_folder(folder)
    }
}

/// A failure with the secret in every private field, in the caller's own texts and in the bodies.
fn full_of_secrets() -> Box<failwell_pipeline::Record> {
    let cause = std::io::Error::other(format!("cannot read {MARK}"));
    let fault = Fault::new(&reason::MCP_UNKNOWN_TOOL)
        .fact("name", failwell_fault::Echo::of_caller(MARK))
        .because(cause)
        .note("note", format!("a note on {MARK}"))
        .capture("stderr", format!("{MARK} on standard error"));
    let mut record = record(MARK, failwell_pipeline::ExchangeOutcome::Fault(Arc::new(fault)));
    record.to.id = Some(failwell_rpc::Id::from_string(MARK));
    record.method = Some(MARK.to_owned().into());
    record.bodies = Some(Box::new(Bodies {
        request: format!("{{\"a\":\"{MARK}\"}}").into_bytes(),
        answer: format!("{}{MARK}", "x".repeat(35)).into_bytes(),
        server: String::new(),
    }));
    record.verdicts.push(Verdict {
        guard: "secrets".into(),
        looked_at: "request",
        decided: "redact",
        found: vec!["token at /a".into()],
        after: Duration::from_micros(5),
        took: Duration::from_micros(2),
    });
    record
}

#[test]
fn no_secret_reaches_the_ledger_or_any_copy_and_the_story_does() {
    let folder = Folder::new("secrets");
    let copies = |name: &str| folder.path().join(name);
    let rotation = Rotation::default();
    let ledger = ledger(LedgerSettings {
        sinks: vec![
            Box::new(JsonlSink::to(copies("a.jsonl"), rotation)),
            Box::new(CsvSink::to(copies("a.csv"), rotation)),
            Box::new(TextSink::to(copies("a.log"), rotation)),
        ],
        ..settings(folder.path())
    });
    ledger.note(full_of_secrets());
    ledger.note(fine("=echo"));
    ledger.flush();
    for entry in std::fs::read_dir(folder.path()).expect("a folder") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("readable");
        let found = bytes.windows(MARK.len()).any(|window| window == MARK.as_bytes());
        assert!(!found, "the secret is in {}", path.display());
    }
    let rows = open(folder.path()).select(&Query::default()).expect("readable");
    let line = rows.first().expect("a record").line();
    let story = line.story.expect("a story");
    assert_eq!(story.causes, ["cannot read [redacted]"]);
    assert_eq!(story.notes.get("note").map(String::as_str), Some("a note on [redacted]"));
    assert_eq!(story.captured.get("stderr").map(String::as_str), Some("[redacted] on standard error"));
    assert!(story.places.first().is_some_and(|place| place.contains("stored_records.rs")));
    assert_eq!(line.guards.first().map(|guard| guard.decided.as_ref()), Some("redact"));
    let bodies = line.bodies.expect("bodies");
    assert_eq!(bodies.request, "{\"a\":\"[redacted]\"}");
    assert!(bodies.answer.starts_with("xxxxx") && bodies.answer.ends_with("bytes in all)"), "{bodies:?}");

    let lines = std::fs::read_to_string(copies("a.jsonl")).expect("the copy");
    let first: Value = serde_json::from_str(lines.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&first["seq"], &first["reason"]), (&Value::from(1), &Value::from("mcp/UNKNOWN_TOOL")));
    assert_eq!(first["hash"].as_str(), rows.first().map(|row| row.head.hash.to_string()).as_deref());
    let csv = std::fs::read_to_string(copies("a.csv")).expect("the copy");
    assert!(csv.starts_with("seq,timestamp,ref,") && csv.lines().count() == 3, "{csv}");
    assert!(csv.contains(",\"'=echo\","), "{csv}");
    assert_eq!(std::fs::read_to_string(copies("a.log")).expect("the copy").lines().count(), 2);
}

#[cfg(unix)]
#[test]
fn the_ledger_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("rights");
    let inner = folder.path().join("made/here");
    let ledger = ledger(LedgerSettings::in_folder(&inner));
    ledger.note(fine("echo"));
    ledger.flush();
    let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&inner), 0o700);
    for entry in std::fs::read_dir(&inner).expect("a folder") {
        let path = entry.expect("an entry").path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn copies_are_turned_over_and_a_cut_line_swallows_none() {
    let folder = Folder::new("turned");
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, "{\"cut\":").expect("written");
    let rotation = Rotation { bytes: 2_000, files: 2 };
    let ledger = ledger(LedgerSettings {
        sinks: vec![Box::new(JsonlSink::to(&path, rotation))],
        ..LedgerSettings::in_folder(folder.path())
    });
    for _ in 0..20 {
        ledger.note(fine("echo"));
        ledger.flush();
    }
    for name in ["a.jsonl", "a.jsonl.1", "a.jsonl.2"] {
        let text = std::fs::read_to_string(folder.path().join(name)).expect(name);
        let broken = text.lines().filter(|line| serde_json::from_str::<Value>(line).is_err()).count();
        assert!(text.len() < 3_000 && broken == 0, "{name}: {text}");
    }
    assert!(!folder.path().join("a.jsonl.3").exists());
}

/// The ledger's folder is blocked by a file for a while.
#[test]
fn lost_records_are_counted_and_the_count_is_stored() {
    let folder = Folder::new("lost");
    let place = folder.path().join("state");
    std::fs::write(&place, "in the way").expect("written");
    let critical = LedgerSettings { durability: Durability::Critical, ..LedgerSettings::in_folder(&place) };
    let ledger = ledger(critical);
    let refused = ledger.admit().expect_err("nothing can be written");
    assert_eq!((refused.reason().id, refused.effect()), ("audit/FAILED", Effect::None));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    for _ in 0..3 {
        let result =
            runtime.block_on(ledger.keep(fault(Fault::new(&reason::SERVER_BUSY).fact("limit", 1u64))));
        assert_eq!(
            result.expect_err("not kept").effect(),
            failed(failwell_audit::ForwardState::MayHaveRun).effect()
        );
    }
    assert_eq!((ledger.health().works, ledger.health().lost), (false, 3));
    std::fs::remove_file(&place).expect("out of the way");
    let until = Instant::now() + Duration::from_secs(60);
    while ledger.admit().is_err() {
        assert!(Instant::now() < until, "it does not come back");
        std::thread::sleep(Duration::from_millis(50));
    }
    runtime.block_on(ledger.keep(fine("echo"))).expect("kept");
    let rows = open(&place).select(&Query::default()).expect("readable");
    assert!(rows.first().is_some_and(|row| row.body.contains("\"what\":\"lost\",\"records\":3")), "{rows:?}");
    assert!(verified(&place).holds());
}

/// Best-effort records wait in memory until the ledger can be written.
#[test]
fn a_ledger_that_comes_back_has_what_was_noted_meanwhile() {
    let folder = Folder::new("back");
    let place = folder.path().join("state");
    std::fs::write(&place, "in the way").expect("written");
    let ledger = ledger(LedgerSettings::in_folder(&place));
    for _ in 0..10 {
        ledger.note(fine("echo"));
    }
    assert!(ledger.admit().is_ok(), "nobody is turned away");
    std::fs::remove_file(&place).expect("out of the way");
    let until = Instant::now() + Duration::from_secs(60);
    // `written` is updated before `waiting`.
    while ledger.health().written < 10 || ledger.health().waiting > 0 {
        assert!(Instant::now() < until, "it does not come back");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!((ledger.health().works, ledger.health().lost, ledger.health().waiting), (true, 0, 0));
    assert_eq!(verified(&place).records, 10);
}

/// With thousands of queued records, responses are delayed for a bounded time, and no record is lost.
#[test]
fn a_crowd_waits_for_the_thread_that_writes() {
    const MANY: u64 = 9_000;
    let folder = Folder::new("crowd");
    let ledger = ledger(LedgerSettings::in_folder(folder.path()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let held_up = || {
        let began = Instant::now();
        runtime.block_on(ledger.wait_for_space());
        began.elapsed()
    };
    let other = rusqlite::Connection::open(folder.path().join(LedgerSettings::FILE)).expect("the ledger");
    other.execute_batch("BEGIN IMMEDIATE").expect("a lock nobody gets past");
    for _ in 0..MANY {
        ledger.note(fine("echo"));
    }
    assert!(ledger.is_crowded());
    assert!(held_up() >= Duration::from_millis(200), "nobody was held up");
    other.execute_batch("ROLLBACK").expect("the lock is gone");
    let until = Instant::now() + Duration::from_secs(60);
    while ledger.is_crowded() {
        assert!(Instant::now() < until, "the crowd stays");
        held_up();
    }
    ledger.flush();
    assert_eq!((ledger.health().lost, verified(folder.path()).records), (0, MANY));
}

/// Responses do not wait for a broken ledger, because the outage may last.
#[test]
fn a_broken_ledger_delays_no_call() {
    let folder = Folder::new("full");
    let place = folder.path().join("state");
    std::fs::write(&place, "in the way").expect("written");
    let ledger = ledger(LedgerSettings::in_folder(&place));
    for _ in 0..9_000 {
        ledger.note(fine("echo"));
    }
    assert!(!ledger.is_crowded() && ledger.health().waiting >= 9_000);
}

/// A removed or replaced file makes critical requests fail, and a new chain begins that says so.
#[cfg(unix)]
#[test]
fn a_ledger_that_is_taken_away_is_noticed() {
    for put_in_place in [None, Some("")] {
        let folder = Folder::new("taken");
        let critical =
            LedgerSettings { durability: Durability::Critical, ..LedgerSettings::in_folder(folder.path()) };
        let ledger = ledger(critical);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        runtime.block_on(ledger.keep(fine("before"))).expect("kept");
        for name in ["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-shm"] {
            std::fs::remove_file(folder.path().join(name)).expect("removed");
        }
        if let Some(text) = put_in_place {
            std::fs::write(folder.path().join("ledger.sqlite"), text).expect("replaced");
        }
        let result = runtime.block_on(ledger.keep(fine("while")));
        assert_eq!(result.expect_err("it is gone").reason().id, "audit/FAILED");
        assert!(ledger.admit().is_err() && !ledger.health().works);
        let until = Instant::now() + Duration::from_secs(60);
        while ledger.admit().is_err() {
            assert!(Instant::now() < until, "it does not come back");
            std::thread::sleep(Duration::from_millis(50));
        }
        runtime.block_on(ledger.keep(fine("after"))).expect("kept");
        let rows = open(folder.path()).select(&Query::default()).expect("readable");
        assert!(rows.iter().any(|row| row.body.contains("\"what\":\"file_replaced\",\"seq\":1")), "{rows:?}");
        assert!(verified(folder.path()).holds());
    }
}

/// One file after a clean end; a mark after any other.
#[test]
fn an_end_is_clean_or_noted_at_the_next_start() {
    let folder = Folder::new("end");
    let names = || -> Vec<String> {
        let entries = std::fs::read_dir(folder.path()).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    };
    let clean = ledger(LedgerSettings::in_folder(folder.path()));
    clean.note(fine("echo"));
    clean.close();
    assert_eq!(names(), ["ledger.sqlite"]);
    assert_eq!(verified(folder.path()).records, 1);

    let mark = r#"{"started":"2026-01-01T00:00:00.000Z","pid":4711,"lost":51}"#;
    std::fs::write(folder.path().join("ledger.run.0000000000000001"), mark).expect("written");
    let next = ledger(LedgerSettings::in_folder(folder.path()));
    next.note(fine("echo"));
    next.flush();
    assert_eq!(names().iter().filter(|name| name.starts_with("ledger.run.")).count(), 1, "{:?}", names());
    let other = ledger(LedgerSettings::in_folder(folder.path()));
    other.note(fine("echo"));
    other.close();
    next.close();
    assert_eq!(names(), ["ledger.sqlite"]);
    let rows = open(folder.path()).select(&Query::default()).expect("readable");
    let noted = rows.iter().filter(|row| row.body.contains("\"what\":\"unclean_end\"")).count();
    assert_eq!(noted, 1, "a program that still runs is not noted: {rows:?}");
    assert!(rows.iter().any(|row| row.body.contains("\"pid\":4711,\"lost\":51")), "{rows:?}");
}

/// Records that wait for the disk at the end are counted, in the log and for the next start.
#[test]
fn records_that_wait_at_the_end_are_counted() {
    let folder = Folder::new("waiting");
    let place = folder.path().join("state");
    let ledger = ledger(LedgerSettings::in_folder(&place));
    ledger.note(fine("echo"));
    ledger.flush();
    let other = rusqlite::Connection::open(place.join(LedgerSettings::FILE)).expect("the ledger");
    other.execute_batch("BEGIN IMMEDIATE").expect("a lock nobody gets past");
    for _ in 0..51 {
        ledger.note(fine("echo"));
    }
    ledger.close();
    other.execute_batch("ROLLBACK").expect("the lock is gone");
    drop(other);
    let next = support::ledger(LedgerSettings::in_folder(&place));
    next.close();
    let rows = open(&place).select(&Query::default()).expect("readable");
    assert!(rows.iter().any(|row| row.body.contains("\"lost\":51")), "{rows:?}");
}
