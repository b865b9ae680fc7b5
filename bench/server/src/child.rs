use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server under test in its own process, which is killed on drop.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
}

/// Ticks per second in `/proc`: the same on every Linux.
const TICK: Duration = Duration::from_millis(10);

impl Server {
    /// Starts a binary from the folder of this one, and reads its address from its output.
    pub fn start(binary: &str) -> Result<Server, String> {
        let here = std::env::current_exe().map_err(|error| error.to_string())?;
        let path = here.with_file_name(binary);
        let started = Command::new(&path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.map_err(|error| format!("{}: {error}", path.display()))?;
        let mut line = String::new();
        let read = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
        match (read, line.trim().parse()) {
            (Some(Ok(_)), Ok(address)) => Ok(Server { child, address }),
            (read, _) => {
                stop(&mut child);
                Err(format!("{binary} does not say where it listens: {read:?} {line:?}"))
            }
        }
    }

    /// User and system CPU time so far.
    pub fn cpu(&self) -> Result<Duration, String> {
        let path = format!("/proc/{}/stat", self.child.id());
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        // The process name in parentheses may contain spaces; only numbers follow it.
        let fields = text.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let ticks: Vec<u32> = fields.skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
        match ticks[..] {
            [user, system] => Ok(TICK * (user + system)),
            _ => Err(format!("cannot read {text:?}")),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        stop(&mut self.child);
    }
}

fn stop(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
