use std::time::Duration;

/// The most bytes of one resource's metadata as JSON.
pub const LARGEST_METADATA: usize = 16 * 1024;

/// The bounds of one shelf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShelfSettings {
    /// The most bytes of all resources together. What is being brought may take as much again.
    pub most_bytes: u64,
    /// The most resources.
    pub most_items: u64,
    /// The most bytes of one.
    pub largest: u64,
    /// How long one is kept when nobody says.
    pub ttl: Duration,
    /// How long one is kept at most, whatever is said.
    pub longest_ttl: Duration,
    /// The most that are being brought at once.
    pub most_deposits: usize,
    /// How often what has expired is removed.
    pub sweep: Duration,
}

impl Default for ShelfSettings {
    fn default() -> Self {
        ShelfSettings {
            most_bytes: 1024 * 1024 * 1024,
            most_items: 10_000,
            largest: 64 * 1024 * 1024,
            ttl: Duration::from_secs(24 * 3_600),
            longest_ttl: Duration::from_secs(30 * 24 * 3_600),
            most_deposits: 32,
            sweep: Duration::from_secs(30),
        }
    }
}
