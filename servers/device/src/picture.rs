//! Screenshots: decoding, comparison, and a picture of the differences. Pure: bytes in, bytes out.
//!
//! Files of a device are not trusted: a file with an excessive size is refused before memory is allocated for
//! it.

mod compare;
mod decode;
mod difference;
mod regions;

pub use compare::{Comparison, Options, compare};
pub use decode::{DecodeError, LONGEST_SIDE, MOST_PIXELS, decode};
pub use difference::difference;

/// A picture as RGB pixels. Transparency is blended with white.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    /// Pixels per row.
    pub width: u32,
    /// Number of rows.
    pub height: u32,
    rgb: Vec<u8>,
}

impl Pixels {
    /// Creates a picture. The number of bytes must match its size.
    #[cfg(test)]
    pub(crate) fn new(width: u32, height: u32, rgb: Vec<u8>) -> Pixels {
        assert_eq!(rgb.len() as u64, u64::from(width) * u64::from(height) * 3);
        Pixels { width, height, rgb }
    }

    /// One row. Empty beyond the last.
    fn row(&self, y: u32) -> &[u8] {
        let length = self.width as usize * 3;
        if y >= self.height {
            return &[];
        }
        let start = y as usize * length;
        self.rgb.get(start..start + length).unwrap_or_default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    pub x: u32,
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

impl Area {
    fn right(self) -> u32 {
        self.x.saturating_add(self.width)
    }

    fn bottom(self) -> u32 {
        self.y.saturating_add(self.height)
    }

    /// The smallest area that contains both.
    fn with(self, other: Area) -> Area {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let (right, bottom) = (self.right().max(other.right()), self.bottom().max(other.bottom()));
        Area { x, y, width: right - x, height: bottom - y }
    }

    /// Whether two areas overlap or are at most `gap` apart.
    fn is_near(self, other: Area, gap: u32) -> bool {
        self.x <= other.right().saturating_add(gap)
            && other.x <= self.right().saturating_add(gap)
            && self.y <= other.bottom().saturating_add(gap)
            && other.y <= self.bottom().saturating_add(gap)
    }
}

#[cfg(test)]
mod tests;
