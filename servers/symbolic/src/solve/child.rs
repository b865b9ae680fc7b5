//! The child and its pipes. Every wait has a deadline; dropping it ends the child.
//!
//! It is started directly, not through the workshop: it runs no code of a caller, has no environment, limits its own memory,
//! and is asked thousands of short questions by a thread that may block.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

/// Lines of answers kept while nobody reads.
const BACKLOG: usize = 1024;

/// Megabytes the solver may use before it gives up by itself.
const MEMORY: &str = "-memory:1024";

pub(super) struct Pipe {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Pipe {
    pub(super) fn start() -> Option<Self> {
        let mut child = Command::new(super::find()?)
            .args(["-in", "-smt2", MEMORY])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let (input, output) = (child.stdin.take()?, child.stdout.take()?);
        let (sender, lines) = sync_channel(BACKLOG);
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Some(Self { child, input, lines })
    }

    /// Sends commands and returns what was said until the mark. `None` when the child is gone or the deadline passed.
    pub(super) fn ask(&mut self, commands: &str, deadline: Instant) -> Option<String> {
        self.input.write_all(commands.as_bytes()).ok()?;
        self.input.write_all(b"(echo \"<end>\")\n").ok()?;
        self.input.flush().ok()?;
        let mut said = String::new();
        loop {
            let left = deadline.checked_duration_since(Instant::now())?;
            let line = self.lines.recv_timeout(left).ok()?;
            if line == "<end>" {
                return Some(said);
            }
            said.push_str(&line);
            said.push('\n');
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
