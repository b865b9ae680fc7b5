use std::collections::VecDeque;

use crate::{Caps, CapturedOutput};

/// Stores the beginning and the end of a stream of any length in bounded memory.
#[derive(Debug)]
pub struct Ring {
    caps: Caps,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Ring {
    pub fn new(caps: Caps) -> Ring {
        Ring { caps, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let fits = self.caps.head.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(fits);
        self.head.extend_from_slice(first);
        let (_, last) = rest.split_at(rest.len().saturating_sub(self.caps.tail));
        let over = (self.tail.len() + last.len()).saturating_sub(self.caps.tail);
        self.tail.drain(..over);
        self.tail.extend(last);
    }

    pub fn finish(self) -> CapturedOutput {
        CapturedOutput { head: self.head, tail: self.tail.into(), total: self.total }
    }
}

#[cfg(test)]
mod tests {
    use super::Ring;
    use crate::Caps;

    #[test]
    fn head_and_tail_are_what_they_would_be_of_the_whole() {
        let whole: Vec<u8> = (0..=255).collect();
        for (head, tail) in [(0, 0), (3, 5), (0, 7), (7, 0), (100, 100), (128, 128), (300, 1)] {
            for step in [1, 2, 3, 50, 256] {
                let mut ring = Ring::new(Caps { head, tail });
                whole.chunks(step).for_each(|chunk| ring.push(chunk));
                let kept = ring.finish();
                let first = head.min(256);
                let last = tail.min(256 - first);
                assert_eq!(kept.head, whole[..first], "{head} {tail} {step}");
                assert_eq!(kept.tail, whole[256 - last..], "{head} {tail} {step}");
                assert_eq!((kept.total, kept.cut()), (256, (256 - first - last) as u64));
            }
        }
    }
}
