//! A real Redis on its own port.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::folder::Folder;
use super::node::within;

/// The password. No output may contain it.
pub(crate) const PASSWORD: &str = "open-sesame-4711";

pub(crate) struct Redis {
    child: Child,
    port: u16,
    folder: Folder,
}

impl Redis {
    pub(crate) fn new() -> Redis {
        let (port, folder) = (free_port(), Folder::new());
        let child = start(port, &folder);
        Redis { child, port, folder }
    }

    /// A server with TLS only. Its certificate for `localhost` is signed by `ca.pem` in its folder.
    pub(crate) fn over_tls() -> Redis {
        let folder = Folder::new();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        folder.write("ca.pem", &made.cert.pem());
        folder.write("key.pem", &made.signing_key.serialize_pem());
        let port = free_port();
        let child = start_over_tls(port, &folder);
        Redis { child, port, folder }
    }

    /// The configuration for this server over TLS, with its own authority or with the system's.
    pub(crate) fn lines_over_tls(&self, host: &str, trusting: bool) -> String {
        let port = self.port;
        let ca = self.folder.0.join("ca.pem");
        let ca = if trusting { format!("ca_file = {ca:?}\n") } else { String::new() };
        format!("[state]\nurl = \"rediss://:{PASSWORD}@{host}:{port}/1\"\n{ca}")
    }

    /// The configuration line for this server.
    pub(crate) fn line(&self) -> String {
        format!("state = \"redis://:{PASSWORD}@127.0.0.1:{}/1\"\n", self.port)
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Stops the server. Its data is lost.
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

/// An unused port, a different one each time. The range is below the ephemeral ports, so no other test gets
/// the same port before Redis starts or while it is down.
fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let begin = std::process::id().wrapping_mul(61);
    let mut ports = std::iter::repeat_with(|| NEXT.fetch_add(1, Ordering::Relaxed))
        .filter_map(|turn| u16::try_from(20_000 + begin.wrapping_add(turn) % 10_000).ok());
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("a port")
}

fn start(port: u16, folder: &Folder) -> Child {
    start_with(&["--port", &port.to_string()], port, folder)
}

fn start_over_tls(port: u16, folder: &Folder) -> Child {
    let file = |name: &str| folder.0.join(name).display().to_string();
    let (certificate, key) = (file("ca.pem"), file("key.pem"));
    let tls = ["--port", "0", "--tls-port", &port.to_string(), "--tls-auth-clients", "no"].map(str::to_owned);
    let files = ["--tls-cert-file", &certificate, "--tls-key-file", &key, "--tls-ca-cert-file", &certificate];
    let all: Vec<&str> = tls.iter().map(String::as_str).chain(files).collect();
    start_with(&all, port, folder)
}

fn start_with(arguments: &[&str], port: u16, folder: &Folder) -> Child {
    let mut command = Command::new("redis-server");
    command.args(arguments).args(["--bind", "127.0.0.1", "--requirepass", PASSWORD]);
    command.args(["--save", "", "--appendonly", "no", "--dir"]).arg(&folder.0);
    let mut child = command.stdout(Stdio::null()).spawn().unwrap_or_else(|error| {
        panic!("redis-server does not start ({error}): install it (Debian: redis-server), as `./x test` does")
    });
    let is_up = || TcpStream::connect(("127.0.0.1", port)).is_ok();
    assert!(within(Duration::from_secs(60), is_up), "redis-server listens");
    assert!(matches!(child.try_wait(), Ok(None)), "redis-server ended at once");
    child
}
