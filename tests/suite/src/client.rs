//! Clients for the suites. They send arbitrary bytes and return every received byte.

#![allow(clippy::expect_used, clippy::panic, reason = "a client of tests may stop at the first surprise")]

pub mod received_message;
pub mod requests;
pub mod wire;

use std::time::Duration;

/// The time limit of every wait. It is long because the machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for at most [`PATIENCE`].
pub async fn soon<T>(what: &str, work: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => done,
        Err(_) => panic!("{what} took longer than {PATIENCE:?}"),
    }
}
