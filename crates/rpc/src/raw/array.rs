use super::Raw;
use super::skip::value_end;
use crate::scan::byte;
use crate::scan::space::skip_space;

/// The elements of an array, in order.
#[derive(Clone, Debug)]
pub struct Array<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Array<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 1 }
    }
}

impl<'a> Iterator for Array<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Raw<'a>> {
        let bytes = self.text.as_bytes();
        let start = skip_space(bytes, self.at);
        if matches!(byte(bytes, start), b']' | 0) {
            return None;
        }
        let end = value_end(bytes, start);
        let after = skip_space(bytes, end);
        // The end of the text. Iteration therefore also ends on text that was not scanned.
        self.at = if byte(bytes, after) == b',' { after + 1 } else { bytes.len() };
        Some(Raw::trusted(self.text.get(start..end)?))
    }
}
