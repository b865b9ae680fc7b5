//! A real Redis on a port of its own.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
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
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
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

fn start(port: u16, folder: &Folder) -> Child {
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--requirepass", PASSWORD]);
    command.args(["--save", "", "--appendonly", "no", "--dir"]).arg(&folder.0);
    let child = command.stdout(Stdio::null()).spawn().unwrap_or_else(|error| {
        panic!("redis-server does not start ({error}): install it (Debian: redis-server), as `./x test` does")
    });
    let is_up = || TcpStream::connect(("127.0.0.1", port)).is_ok();
    assert!(within(Duration::from_secs(10), is_up), "redis-server listens");
    child
}
