/// Limits of the scan on otherwise valid JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open containers at the same time, including the message's own object.
    pub max_depth: usize,
    /// Members of each object.
    pub max_keys: usize,
    /// Bytes in the text of each number.
    pub max_number: usize,
    pub max_batch: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_depth: 128, max_keys: 10_000, max_number: 1_000, max_batch: 1_000 }
    }
}
