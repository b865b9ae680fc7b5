//! Ports for programs that cannot choose one themselves.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// The first port. The range is below the system's ephemeral ports, so that no other program is given a port between this
/// check and the start of the program under test.
const FIRST: u32 = 20_000;
const MANY: u32 = 10_000;

/// A port without a listener. Each call returns another one.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Test processes that run at the same time start at different ports.
    let begin = std::process::id().wrapping_mul(61);
    loop {
        let turn = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = FIRST + begin.wrapping_add(turn) % MANY;
        if let Ok(port) = u16::try_from(port)
            && TcpListener::bind(("127.0.0.1", port)).is_ok()
        {
            return port;
        }
    }
}
