//! The journal under more failures than it can write.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use failwell_fault::{Fault, reason};
use failwell_journal::{Entry, Journal, LogStyle};
use failwell_rpc::{Dialect, ReplyTo, Revision};
use serde_json::Value;

/// A sink that blocks its first write until the test releases it.
struct BlockingSink(Option<Receiver<()>>, Arc<Mutex<Vec<u8>>>);

impl Write for BlockingSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(open) = self.0.take() {
            let _ = open.recv();
        }
        self.1.lock().expect("nobody panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn failure(count: usize) -> Entry {
    Entry {
        at: SystemTime::now(),
        service: "gateway",
        connection: "c".into(),
        method: Some("tools/call".into()),
        target: None,
        to: ReplyTo::notification(Dialect::Mcp(Revision::V2025_11_25)),
        trace: None,
        fault: Arc::new(Fault::new(&reason::GATEWAY_UPSTREAM_CRASHED).capture("stderr", vec![b'x'; count])),
    }
}

#[test]
fn a_flood_of_output_costs_the_output_and_no_line() {
    let (open, release) = channel();
    let written = Arc::new(Mutex::new(Vec::new()));
    let journal = Journal::to(LogStyle::Json, BlockingSink(Some(release), written.clone()));
    for _ in 0..100 {
        journal.fault(failure(1 << 20));
    }
    open.send(()).expect("the journal waits");
    journal.flush();
    assert_eq!(journal.lost(), 0);

    let written = String::from_utf8(written.lock().expect("nobody panicked").clone()).expect("text");
    let lines: Vec<Value> =
        written.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect();
    assert_eq!(lines.len(), 100);
    let whole = lines.iter().filter(|line| line.pointer("/error_details/stderr").is_some()).count();
    let brief = lines.iter().filter(|line| line.pointer("/error_details/left_out").is_some()).count();
    assert!((1..=10).contains(&whole), "{whole} lines have everything: 8 MiB may wait");
    assert_eq!(whole + brief, 100);
    assert!(written.len() < 400_000, "{} bytes", written.len());
}
