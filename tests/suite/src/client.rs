//! Clients written for the suites: they send any bytes at all and hide nothing of what comes back.

#![allow(clippy::expect_used, clippy::panic, reason = "a client of tests may stop at the first surprise")]

pub mod received_message;
pub mod requests;
pub mod wire;

use std::time::Duration;

/// How long the suites wait for anything that must come. Generous: the machine may be busy with other things.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits, but not for ever.
pub async fn soon<T>(what: &str, work: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => done,
        Err(_) => panic!("{what} took longer than {PATIENCE:?}"),
    }
}
