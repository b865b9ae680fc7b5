//! `verify` detects every manipulation of the file and reports its position.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]
#![allow(dead_code, reason = "each test uses a part of what is shared")]

mod support;

use failwell_audit::{ChainHead, LedgerSettings, Query, verify};
use rusqlite::Connection;
use support::{Folder, fine, ledger, open, ten, verified};

/// Writes ten records, changes the file directly, and checks the first break that `verify` reports.
fn check(name: &str, change: &str, seq: i64, what: &str) {
    let folder = Folder::new(name);
    ten(folder.path());
    assert!(verified(folder.path()).holds());
    let file = Connection::open(folder.path().join(LedgerSettings::FILE)).expect("the file");
    file.execute_batch(change).expect(change);
    drop(file);
    let found = verified(folder.path());
    let first = found.breaks.first().unwrap_or_else(|| panic!("{name}: nothing was noticed"));
    assert_eq!(first.seq, seq, "{name}: {found:?}");
    assert!(first.what.contains(what), "{name}: {found:?}");
}

#[test]
fn every_change_is_found_where_it_was_made() {
    let altered = "its hash does not match";
    check("edit", "UPDATE record SET body = replace(body, 'tool4', 'tool5') WHERE seq = 5", 5, altered);
    check("edit-failure", "UPDATE record SET body = replace(body, 'fault', 'ok') WHERE seq = 4", 4, altered);
    check("edit-hash", "UPDATE record SET hash = zeroblob(32) WHERE seq = 5", 5, altered);
    check("delete", "DELETE FROM record WHERE seq = 6", 6, "missing");
    check("delete-several", "DELETE FROM record WHERE seq BETWEEN 3 AND 5", 3, "records 3 to 5 are missing");
    check("delete-first", "DELETE FROM record WHERE seq = 1", 1, "missing");
    check("truncate", "DELETE FROM record WHERE seq > 8", 9, "the end is missing: records 9 to 10");
    check("columns", "UPDATE record SET ref = NULL WHERE seq = 4", 4, "columns");
    check("time", "UPDATE record SET at = at - 3600000 WHERE seq = 2", 2, "columns");
    check(
        "insert",
        "UPDATE record SET seq = -seq WHERE seq > 5;
         UPDATE record SET seq = 1 - seq WHERE seq < 0;
         INSERT INTO record (seq, at, ref, hash, body) SELECT 6, at, ref, hash, body FROM record WHERE seq = 2;",
        6,
        altered,
    );
    check(
        "swap",
        "UPDATE record SET seq = 100 WHERE seq = 5; UPDATE record SET seq = 5 WHERE seq = 6;
         UPDATE record SET seq = 6 WHERE seq = 100;",
        5,
        altered,
    );
    check(
        "swap-bodies",
        "CREATE TEMP TABLE t AS SELECT body FROM record WHERE seq = 8;
         UPDATE record SET body = (SELECT body FROM record WHERE seq = 3) WHERE seq = 8;
         UPDATE record SET body = (SELECT body FROM t) WHERE seq = 3;",
        3,
        altered,
    );
    check(
        "delete-and-renumber",
        "DELETE FROM record WHERE seq = 4; UPDATE record SET seq = seq - 1 WHERE seq > 4;",
        4,
        altered,
    );
    check(
        "append",
        "INSERT INTO record SELECT 11, at, ref, hash, body, class FROM record WHERE seq = 10",
        11,
        altered,
    );
    check(
        "pretend-to-prune",
        "INSERT INTO pruned SELECT 1, seq, hash FROM record WHERE seq = 4; DELETE FROM record WHERE seq <= 4;",
        5,
        "no record says that they were removed",
    );
}

/// Refusals of callers that were not identified have a share of their own: they leave gaps in the middle of the chain,
/// and the records of callers stay.
#[test]
fn refusals_push_out_no_record_of_a_caller() {
    let folder = Folder::new("refusals");
    let retention = failwell_audit::Retention { days: 0, records: 1_000, bytes: 0 };
    let ledger = ledger(LedgerSettings { retention, ..LedgerSettings::in_folder(folder.path()) });
    for number in 0..24_000 {
        if number % 40 == 0 {
            ledger.note(fine("deed"));
        }
        ledger.note(support::refused());
        if number % 1_000 == 0 {
            ledger.flush();
        }
    }
    ledger.flush();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let mut found = verified(folder.path());
    while found.records > 2_000 && std::time::Instant::now() < until {
        ledger.note(support::refused());
        ledger.flush();
        found = verified(folder.path());
    }
    assert!(found.holds(), "{found:?}");
    assert!(found.records < 2_000, "{} records", found.records);
    let [removal] = found.removed.as_slice() else { panic!("{:?}", found.removed) };
    assert_eq!((removal.class, removal.until.is_some()), ("refusals", true), "{removal:?}");
    let deeds = Query { target: Some("deed".to_owned()), ..Query::default() };
    assert_eq!(open(folder.path()).select(&deeds).expect("readable").len(), 600);

    let file = Connection::open(folder.path().join(LedgerSettings::FILE)).expect("the file");
    let hidden = "INSERT INTO gap SELECT seq, seq, hash FROM record WHERE body LIKE '%deed%' LIMIT 1;
        DELETE FROM record WHERE seq = (SELECT max(first) FROM gap WHERE first = last AND first IN
            (SELECT seq FROM record));";
    file.execute_batch(hidden).expect("hidden");
    let forged = verified(folder.path());
    let first = forged.breaks.first().expect("a gap that no record attests");
    assert!(first.what.contains("no record says"), "{forged:?}");
}

/// A head noted elsewhere reveals a truncation whose recorded end was rewritten too.
#[test]
fn a_noted_end_shows_what_was_cut_off() {
    let folder = Folder::new("head");
    ten(folder.path());
    let noted = verified(folder.path()).head;
    assert_eq!(noted.seq, 10);
    let file = Connection::open(folder.path().join(LedgerSettings::FILE)).expect("the file");
    let cut = "DELETE FROM record WHERE seq > 7;
               UPDATE head SET (seq, hash) = (SELECT seq, hash FROM record WHERE seq = 7);";
    file.execute_batch(cut).expect("cut");
    assert!(verified(folder.path()).holds(), "without the noted end nobody can know");
    let found = verify(&open(folder.path()), Some(noted)).expect("readable");
    assert_eq!(found.breaks.first().map(|first| first.seq), Some(10), "{found:?}");
    let other = ChainHead { seq: 7, hash: noted.hash };
    assert!(!verify(&open(folder.path()), Some(other)).expect("readable").holds());
    let own = verified(folder.path()).head;
    assert!(verify(&open(folder.path()), Some(own)).expect("readable").holds());
}

#[test]
fn two_programs_write_one_chain() {
    let folder = Folder::new("two");
    let writers: Vec<_> = (0..2).map(|_| ledger(LedgerSettings::in_folder(folder.path()))).collect();
    let threads: Vec<_> = writers
        .into_iter()
        .map(|ledger| {
            std::thread::spawn(move || {
                for number in 0..500 {
                    ledger.note(fine("echo"));
                    if number % 50 == 0 {
                        ledger.flush();
                    }
                }
                ledger.flush();
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("a writer"));
    let found = verified(folder.path());
    assert!(found.holds() && found.records == 1_000, "{found:?}");
}

#[test]
fn what_is_pruned_leaves_a_chain_that_holds() {
    let folder = Folder::new("prune");
    let retention = failwell_audit::Retention { days: 0, records: 1_000, bytes: 0 };
    let ledger = ledger(LedgerSettings { retention, ..LedgerSettings::in_folder(folder.path()) });
    for _ in 0..25 {
        for _ in 0..1_000 {
            ledger.note(fine("echo"));
        }
        ledger.flush();
    }
    let until = std::time::Instant::now() + std::time::Duration::from_secs(120);
    let mut found = verified(folder.path());
    while found.records > 10_000 && std::time::Instant::now() < until {
        ledger.note(fine("echo"));
        ledger.flush();
        found = verified(folder.path());
    }
    assert!(found.holds(), "{found:?}");
    assert!(found.first > 1 && found.records < 20_000, "{} from {}", found.records, found.first);
    let events = Query { outcome: Some("event".to_owned()), ..Query::default() };
    let rows = open(folder.path()).select(&events).expect("readable");
    assert!(rows.iter().any(|row| row.body.contains("\"what\":\"pruned\"")), "{rows:?}");
}
