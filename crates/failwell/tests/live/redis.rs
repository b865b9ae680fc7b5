//! A real Redis on a port of its own.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::folder::Folder;
use crate::node::within;

/// What opens it, and nobody may be told.
pub(crate) const PASSWORD: &str = "open-sesame-4711";

pub(crate) struct Redis {
    child: Child,
    port: u16,
    folder: Folder,
}

impl Redis {
    pub(crate) fn new() -> Redis {
        let port = free_port();
        let folder = Folder::new();
        let child = start(port, &folder);
        Redis { child, port, folder }
    }

    /// The line of a configuration that joins it.
    pub(crate) fn line(&self) -> String {
        format!("state = \"redis://:{PASSWORD}@127.0.0.1:{}/1\"\n", self.port)
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Ends it; what it knew is lost.
    pub(crate) fn stop(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("reaped");
    }

    pub(crate) fn start_again(&mut self) {
        self.child = start(self.port, &self.folder);
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port nobody listens on, another one each time. They lie below those the system gives to whoever asks for any: no
/// node of another test gets one by chance before Redis is up, nor while it is away.
fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let begin = std::process::id().wrapping_mul(61);
    let mut ports = std::iter::repeat_with(|| NEXT.fetch_add(1, Ordering::Relaxed))
        .filter_map(|turn| u16::try_from(20_000 + begin.wrapping_add(turn) % 10_000).ok());
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("a port")
}

fn start(port: u16, folder: &Folder) -> Child {
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--requirepass", PASSWORD]);
    command.args(["--save", "", "--appendonly", "no", "--dir"]).arg(&folder.0);
    let mut child = command.stdout(Stdio::null()).spawn().unwrap_or_else(|error| {
        panic!("redis-server does not start ({error}): install it (Debian: redis-server), as `./x test` does")
    });
    let is_up = || TcpStream::connect(("127.0.0.1", port)).is_ok();
    assert!(within(Duration::from_secs(60), is_up), "redis-server listens");
    assert!(matches!(child.try_wait(), Ok(None)), "redis-server ended at once");
    child
}
