//! Ports for programs that cannot choose one themselves.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// The first of them. They lie below those the system gives to whoever asks for any, so that nobody gets one by chance
/// between the question here and the start of the program.
const FIRST: u32 = 20_000;
const MANY: u32 = 10_000;

/// A port without a listener, another one each time.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Processes of tests that run at the same time begin far from each other.
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
