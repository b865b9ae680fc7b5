//! The open connections: how many there are, in total and per address, and which of them can be closed to make
//! room.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use failwell_fault::{Fault, reason};
use failwell_toolbox::MetricsText;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::IdleTimeouts;
use crate::http::settings::HttpSettings;

/// Interval of checks whether a connection has become idle, while all of them serve requests.
const LOOK: Duration = Duration::from_millis(50);
/// Minimum time between two log lines about closed connections.
const NOTICE: Duration = Duration::from_secs(10);

/// Counters of a listener, for its metrics.
#[derive(Debug, Default)]
pub struct ConnectionCounters {
    open: AtomicU64,
    evicted: AtomicU64,
    refused: AtomicU64,
}

impl ConnectionCounters {
    pub(super) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(in crate::http) fn write(&self, out: &mut MetricsText) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (open, evicted, refused) = (read(&self.open), read(&self.evicted), read(&self.refused));
        out.single("failwell_http_connections", "gauge", "Open connections.", open);
        let help = "Idle connections that were closed for new ones.";
        out.single("failwell_http_connections_evicted_total", "counter", help, evicted);
        let help = "Connections that were refused.";
        out.single("failwell_http_connections_refused_total", "counter", help, refused);
    }
}

/// The table of open connections. Requests do not touch it.
#[derive(Debug)]
pub(super) struct Connections {
    table: Mutex<ConnectionTable>,
    most: usize,
    most_per_address: usize,
    counters: Arc<ConnectionCounters>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct ConnectionTable {
    next: u64,
    open: HashMap<u64, ConnectionState>,
    addresses: HashMap<IpAddr, usize>,
    /// When the log last mentioned evictions, and how many there had been.
    noticed: Option<(Instant, u64)>,
}

#[derive(Debug)]
struct ConnectionState {
    timeouts: IdleTimeouts,
    address: IpAddr,
    evicted: CancellationToken,
}

/// An open connection; removed from the table on drop.
#[derive(Debug)]
pub(super) struct OpenConnection {
    connections: Arc<Connections>,
    number: u64,
    /// Set when the connection must make room for another one.
    pub(super) evicted: CancellationToken,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut table = self.connections.table.lock();
        table.remove(self.number);
        self.connections.counted(&table);
        drop(table);
        self.connections.freed.notify_one();
    }
}

impl Connections {
    pub(super) fn new(settings: &HttpSettings) -> Arc<Connections> {
        Arc::new(Connections {
            table: Mutex::default(),
            most: settings.most_connections,
            most_per_address: settings.most_per_address,
            counters: settings.counters.clone(),
            freed: Notify::new(),
        })
    }

    fn counted(&self, table: &ConnectionTable) {
        self.counters.open.store(table.open.len() as u64, Ordering::Relaxed);
    }

    /// Waits while all connections serve requests.
    pub(super) async fn wait_for_space(&self) {
        loop {
            {
                let table = self.table.lock();
                if table.open.len() < self.most || table.idlest(|_| true).is_some() {
                    return;
                }
            }
            let _ = tokio::time::timeout(LOOK, self.freed.notified()).await;
        }
    }

    /// Adds a connection. If its address has too many, or the table is full, an idle one is closed for it.
    pub(super) fn enter(
        self: &Arc<Self>,
        peer: IpAddr,
        timeouts: &IdleTimeouts,
    ) -> Result<OpenConnection, Fault> {
        let address = network(peer);
        let mut table = self.table.lock();
        if table.addresses.get(&address).is_some_and(|count| *count >= self.most_per_address) {
            let Some(idlest) = table.idlest(|state| state.address == address) else {
                drop(table);
                self.counters.refuse();
                let limit = self.most_per_address;
                return Err(Fault::new(&reason::HTTP_TOO_MANY_CONNECTIONS).fact("limit", limit));
            };
            self.evict(&mut table, idlest);
        }
        if table.open.len() >= self.most
            && let Some(idlest) = table.idlest(|_| true)
        {
            self.evict(&mut table, idlest);
        }
        let (number, evicted) = (table.next, CancellationToken::new());
        table.next += 1;
        *table.addresses.entry(address).or_default() += 1;
        table.open.insert(
            number,
            ConnectionState { timeouts: timeouts.clone(), address, evicted: evicted.clone() },
        );
        self.counted(&table);
        drop(table);
        Ok(OpenConnection { connections: self.clone(), number, evicted })
    }

    /// Closes the idlest connection, because the system has no room for another one.
    pub(super) fn make_room(&self) {
        let mut table = self.table.lock();
        if let Some(idlest) = table.idlest(|_| true) {
            self.evict(&mut table, idlest);
        }
        self.counted(&table);
    }

    fn evict(&self, table: &mut ConnectionTable, number: u64) {
        if let Some(state) = table.remove(number) {
            state.evicted.cancel();
            self.counters.evicted.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A log line about closed connections, at most one in a while.
    pub(super) fn notice(&self) -> Option<String> {
        let evicted = self.counters.evicted.load(Ordering::Relaxed);
        if evicted == 0 {
            return None;
        }
        let mut table = self.table.lock();
        let is_due = table.noticed.is_none_or(|(last, known)| last.elapsed() >= NOTICE && known < evicted);
        if !is_due {
            return None;
        }
        table.noticed = Some((Instant::now(), evicted));
        let message = "idle connections have been closed to make room, since the start";
        Some(format!("{{\"level\":\"warn\",\"service\":\"http\",\"message\":\"{evicted} {message}\"}}"))
    }

    /// The number of connections whose request has no complete response yet.
    pub(super) fn serving(&self) -> usize {
        self.table.lock().open.values().filter(|state| state.timeouts.is_serving()).count()
    }
}

impl ConnectionTable {
    fn remove(&mut self, number: u64) -> Option<ConnectionState> {
        let state = self.open.remove(&number)?;
        if let Some(count) = self.addresses.get_mut(&state.address) {
            *count -= 1;
            if *count == 0 {
                self.addresses.remove(&state.address);
            }
        }
        Some(state)
    }

    /// The connection to close first, if any is idle.
    fn idlest(&self, fits: impl Fn(&ConnectionState) -> bool) -> Option<u64> {
        let idle = self.open.iter().filter(|(_, state)| fits(state));
        let idle = idle.filter_map(|(number, state)| Some((state.timeouts.idleness()?, *number)));
        idle.min().map(|(_, number)| number)
    }
}

/// The addresses that one party is likely to own: one of IPv4, or 64 bits of IPv6.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V4(ip) => IpAddr::V4(ip),
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64)),
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::time::Duration;

    use super::{Connections, network};
    use crate::http::listener::IdleTimeouts;
    use crate::http::settings::HttpSettings;

    fn timeouts() -> IdleTimeouts {
        IdleTimeouts::new(Duration::from_secs(60), Duration::from_secs(10))
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[tokio::test]
    async fn silent_connections_make_room_first_and_busy_ones_never() {
        let settings = HttpSettings { most_connections: 3, most_per_address: 3, ..HttpSettings::default() };
        let connections = Connections::new(&settings);
        let (idle, silent, busy) = (timeouts(), timeouts(), timeouts());
        idle.received();
        drop(idle.take());
        let _serving = busy.take();
        let first = connections.enter(ip("10.0.0.1"), &idle).expect("room");
        let second = connections.enter(ip("10.0.0.2"), &silent).expect("room");
        let third = connections.enter(ip("10.0.0.3"), &busy).expect("room");
        let fourth = connections.enter(ip("10.0.0.4"), &busy).expect("room was made");
        assert!(second.evicted.is_cancelled() && !first.evicted.is_cancelled());
        let fifth = connections.enter(ip("10.0.0.5"), &busy).expect("room was made");
        assert!(first.evicted.is_cancelled());
        assert!(![&third, &fourth, &fifth].iter().any(|open| open.evicted.is_cancelled()));
        let waits = tokio::time::timeout(Duration::from_millis(120), connections.wait_for_space()).await;
        assert!(waits.is_err(), "all are busy");
        drop(third);
        connections.wait_for_space().await;
        assert_eq!(connections.serving(), 2);
    }

    #[test]
    fn an_address_has_its_share() {
        let settings = HttpSettings { most_connections: 9, most_per_address: 1, ..HttpSettings::default() };
        let connections = Connections::new(&settings);
        let busy = timeouts();
        let _serving = busy.take();
        let first = connections.enter(ip("10.0.0.1"), &busy).expect("room");
        let refused = connections.enter(ip("10.0.0.1"), &busy).expect_err("one is enough");
        assert_eq!(refused.reason().id, "http/TOO_MANY_CONNECTIONS");
        let _other = connections.enter(ip("10.0.0.2"), &busy).expect("another address");
        drop(first);
        let _again = connections.enter(ip("10.0.0.1"), &busy).expect("room again");
        assert_eq!(network(ip("2001:db8:1:2:3::4")), ip("2001:db8:1:2::"));
        assert_eq!(network(ip("::ffff:10.0.0.1")), ip("10.0.0.1"));
    }
}
