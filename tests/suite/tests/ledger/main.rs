//! A ledger whose process is killed while it writes: no acknowledged record is lost, and the hash chain is valid.

#![allow(clippy::expect_used, reason = "a test may stop at the first surprise")]

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use failwell_audit::{LedgerReader, Query, verify};

/// The number of kills, in total and per ledger file.
const ROUNDS: u32 = 200;
const ROUNDS_A_FILE: u32 = 20;
/// The time limit of the whole test.
const LIMIT: Duration = Duration::from_secs(900);

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn killed_at_any_moment_no_acknowledged_record_is_lost() {
    let began = Instant::now();
    let mut chance = SeededRandom::new();
    let (mut acknowledged_in_all, mut quick) = (0, 0);
    for file in 0..ROUNDS / ROUNDS_A_FILE {
        let name = format!("failwell-killed-{}-{file}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(name));
        let mut acknowledged = HashSet::new();
        for round in 0..ROUNDS_A_FILE {
            assert!(began.elapsed() < LIMIT, "too slow");
            let before = acknowledged.len();
            // Every fourth process is killed while it starts, the others while they write.
            let first = if round % 4 == 0 { Duration::ZERO } else { Duration::from_secs(60) };
            run_and_kill(&folder.0, first, chance.up_to(60), &mut acknowledged);
            quick += u32::from(acknowledged.len() == before);
            check(&folder.0, &acknowledged);
        }
        acknowledged_in_all += acknowledged.len();
    }
    // The test proves nothing unless most kills came during writes. The number of records per round depends on the disk.
    let many = usize::try_from(ROUNDS).expect("a number");
    assert!(quick < ROUNDS / 2 && acknowledged_in_all > many, "{quick} {acknowledged_in_all}");
}

/// Waits for the first line of the writer, lets it run a little longer, then kills it.
fn run_and_kill(folder: &Path, first: Duration, milliseconds: u64, acknowledged: &mut HashSet<String>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_acknowledge"))
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the writer starts");
    let out = BufReader::new(child.stdout.take().expect("its output"));
    let (begun, beginning) = std::sync::mpsc::sync_channel(1);
    let reader = std::thread::spawn(move || {
        let lines = out.lines().map_while(Result::ok);
        lines.inspect(|_| _ = begun.try_send(())).collect::<Vec<String>>()
    });
    let _ = beginning.recv_timeout(first);
    std::thread::sleep(Duration::from_millis(milliseconds));
    child.kill().expect("killed");
    child.wait().expect("gone");
    let lines = reader.join().expect("read");
    // The kill may cut the last line. Complete lines have thirteen characters.
    acknowledged.extend(lines.into_iter().filter(|line| line.len() == 13));
}

fn check(folder: &Path, acknowledged: &HashSet<String>) {
    let Some(reading) = LedgerReader::open(folder).expect("readable") else {
        assert!(acknowledged.is_empty());
        return;
    };
    if acknowledged.is_empty() {
        return;
    }
    let found = verify(&reading, None).expect("readable");
    assert!(found.holds(), "{found:?}");
    let rows = reading.select(&Query::default()).expect("readable");
    let kept: HashSet<String> = rows.iter().map(|row| row.line().reference.into_owned()).collect();
    let lost: Vec<_> = acknowledged.difference(&kept).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
}

/// A simple pseudo-random number, to kill at different moments.
struct SeededRandom(u64);

impl SeededRandom {
    fn new() -> SeededRandom {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock");
        SeededRandom(now.as_nanos() as u64 | 1)
    }

    fn up_to(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}
