/// What the scan refuses although it is JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Containers open at once, the message's own object included.
    pub max_depth: usize,
    /// Members of any one object.
    pub max_keys: usize,
    /// Bytes in the text of any one number.
    pub max_number: usize,
    /// Messages in one batch.
    pub max_batch: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_depth: 128, max_keys: 10_000, max_number: 1_000, max_batch: 1_000 }
    }
}
