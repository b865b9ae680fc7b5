//! Clients written for this suite: they send any bytes at all and hide nothing of what comes back.

pub(crate) mod http;
pub(crate) mod stdio;
pub(crate) mod wire;

use std::time::Duration;

/// How long the suite waits for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Waits, but not for ever.
pub(crate) async fn soon<T>(what: &str, work: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => done,
        Err(_) => panic!("{what} took longer than {PATIENCE:?}"),
    }
}
