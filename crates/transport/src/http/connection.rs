//! Short names for connections, to distinguish them in records.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// A name that is unique in this process: its start time in minutes, and a counter.
pub(super) fn fresh() -> Arc<str> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    static SINCE: OnceLock<u64> = OnceLock::new();
    let since = SINCE.get_or_init(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        now.as_secs() / 60
    });
    format!("h{:05x}-{}", since & 0xf_ffff, NEXT.fetch_add(1, Ordering::Relaxed)).into()
}
