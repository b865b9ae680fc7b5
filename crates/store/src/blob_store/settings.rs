use std::time::Duration;

/// Maximum bytes of the JSON metadata of one resource.
pub const LARGEST_METADATA: usize = 16 * 1024;

/// The limits of a blob store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobStoreSettings {
    /// Maximum bytes of all resources together. Uploads in progress have a second quota of the same size.
    pub most_bytes: u64,
    /// Maximum number of resources.
    pub most_items: u64,
    /// Maximum bytes of all resources of one owner.
    pub most_bytes_of_one: u64,
    /// Maximum number of resources of one owner.
    pub most_items_of_one: u64,
    /// Maximum bytes of one resource.
    pub largest: u64,
    /// The default lifetime of a resource.
    pub ttl: Duration,
    /// Maximum lifetime of a resource.
    pub longest_ttl: Duration,
    /// Maximum number of concurrent uploads.
    pub most_deposits: usize,
    /// Interval of the sweeper.
    pub sweep: Duration,
}

impl Default for BlobStoreSettings {
    fn default() -> Self {
        BlobStoreSettings {
            most_bytes: 1024 * 1024 * 1024,
            most_items: 10_000,
            most_bytes_of_one: 256 * 1024 * 1024,
            most_items_of_one: 2_500,
            largest: 64 * 1024 * 1024,
            ttl: Duration::from_secs(24 * 3_600),
            longest_ttl: Duration::from_secs(30 * 24 * 3_600),
            most_deposits: 32,
            sweep: Duration::from_secs(30),
        }
    }
}
