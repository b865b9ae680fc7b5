//! The line of JSON that the program prints once it serves.

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

/// The longest wait for it, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn started_line(child: &mut Child) -> Value {
    let (sender, receiver) = mpsc::channel();
    let output = child.stdout.take().expect("a pipe");
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut line = String::new();
        if output.read_line(&mut line).is_ok() {
            let _ = sender.send(line);
        }
        // Read on, so that the program can always write.
        let _ = std::io::copy(&mut output, &mut std::io::sink());
    });
    let line = receiver.recv_timeout(LIMIT).expect("a line in time");
    let started: Value = serde_json::from_str(&line).expect(&line);
    assert_eq!(started.get("event").and_then(Value::as_str), Some("started"), "{line}");
    started
}
