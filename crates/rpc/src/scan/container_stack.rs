/// Capacity that is kept between messages, in words.
const KEPT: usize = 16;

/// The type of each open container, one bit each. Extreme nesting therefore costs an eighth of its bytes.
#[derive(Default)]
pub(super) struct ContainerStack {
    words: Vec<u64>,
    depth: usize,
}

impl ContainerStack {
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.words.shrink_to(KEPT);
        self.depth = 0;
    }

    /// Opens a container and returns the new depth.
    #[inline]
    pub(super) fn open(&mut self, object: u64) -> usize {
        let (word, bit) = (self.depth / 64, self.depth % 64);
        match self.words.get_mut(word) {
            Some(word) => *word = (*word & !(1 << bit)) | (object << bit),
            None => self.words.push(object),
        }
        self.depth += 1;
        self.depth
    }

    /// Closes the innermost container and returns the new depth.
    #[inline]
    pub(super) fn close(&mut self) -> usize {
        self.depth = self.depth.saturating_sub(1);
        self.depth
    }

    #[inline]
    pub(super) fn in_object(&self) -> bool {
        let top = self.depth.wrapping_sub(1);
        self.words.get(top / 64).is_some_and(|word| word >> (top % 64) & 1 == 1)
    }
}
