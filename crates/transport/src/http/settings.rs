use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::access::authenticate::{AllowAll, Authenticate};
use super::listener::connections::ConnectionCounters;
use super::request::body_budget::BodyBudget;
use super::routes::RouteTable;

/// Maximum memory of the bodies of refused requests.
const MOST_REFUSED: usize = 4 * 1024 * 1024;

/// The settings of an HTTP listener.
#[derive(Debug)]
pub struct HttpSettings {
    /// Checks the credentials of callers.
    pub authenticator: Arc<dyn Authenticate>,
    /// The paths.
    pub routes: RouteTable,
    /// Accepted host names, in addition to loopback names and the listening address.
    pub allowed_hosts: Vec<String>,
    /// Accepted origins of web pages, in addition to local pages.
    pub allowed_origins: Vec<String>,
    /// Maximum bytes of a request body.
    pub largest_body: usize,
    /// Maximum time to receive a body.
    pub body_deadline: Duration,
    /// Maximum time to receive a request head, including the idle time before it.
    pub head_deadline: Duration,
    /// Maximum time to the first byte of a connection.
    pub first_byte_deadline: Duration,
    /// Maximum idle time of a session.
    pub idle_session: Duration,
    /// Maximum number of sessions.
    pub most_sessions: usize,
    /// Maximum number of sessions of a named caller.
    pub most_sessions_per_caller: usize,
    /// Maximum number of connections.
    pub most_connections: usize,
    /// Maximum number of connections from one address.
    pub most_per_address: usize,
    /// The memory of request bodies.
    pub bodies: Arc<BodyBudget>,
    /// The memory of bodies that are read although their caller is not identified, apart from that of callers.
    pub refused_bodies: Arc<BodyBudget>,
    /// Counters for metrics.
    pub counters: Arc<ConnectionCounters>,
    /// Time for running requests after shutdown began.
    pub drain: Duration,
}

impl HttpSettings {
    /// Whether the operator lists this origin.
    pub(super) fn allows_origin(&self, origin: &str) -> bool {
        self.allowed_origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
    }

    /// Accepts the listening address as a host name.
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
            authenticator: Arc::new(AllowAll),
            routes: RouteTable::with(&[]),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            largest_body: 16 * 1024 * 1024,
            body_deadline: Duration::from_secs(30),
            head_deadline: Duration::from_secs(60),
            first_byte_deadline: Duration::from_secs(10),
            idle_session: Duration::from_secs(1_800),
            most_sessions: 10_000,
            most_sessions_per_caller: 1_000,
            most_connections: 4_096,
            most_per_address: 2_048,
            bodies: Arc::new(BodyBudget::new(256 << 20, 64 << 20)),
            refused_bodies: Arc::new(BodyBudget::new(MOST_REFUSED, MOST_REFUSED)),
            counters: Arc::default(),
            drain: Duration::from_secs(10),
        }
    }
}
