use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::lock::Lock;

/// The bounds and rules of an HTTP door.
#[derive(Debug)]
pub struct HttpSettings {
    /// What opens it.
    pub lock: Arc<Lock>,
    /// Host names served besides the loopback ones and the address listened on.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may call, besides pages of this machine.
    pub allowed_origins: Vec<String>,
    /// The most bytes of one body.
    pub largest_body: usize,
    /// How long a body may take to arrive.
    pub body_deadline: Duration,
    /// How long a request's head may take, and an idle connection may wait for the next.
    pub head_deadline: Duration,
    /// How long a session may be idle.
    pub idle_session: Duration,
    /// The most sessions at once.
    pub most_sessions: usize,
    /// The most connections at once.
    pub most_connections: usize,
    /// How long running requests may take after shutdown began.
    pub drain: Duration,
}

impl HttpSettings {
    /// Callers may name the server by the address it listens on.
    pub fn allow_address(&mut self, address: IpAddr) {
        self.allowed_hosts.push(match address {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        });
    }
}

impl Default for HttpSettings {
    fn default() -> Self {
        HttpSettings {
            lock: Arc::default(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            largest_body: 16 * 1024 * 1024,
            body_deadline: Duration::from_secs(30),
            head_deadline: Duration::from_secs(60),
            idle_session: Duration::from_secs(1_800),
            most_sessions: 10_000,
            most_connections: 4_096,
            drain: Duration::from_secs(10),
        }
    }
}
