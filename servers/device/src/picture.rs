//! Pictures of screens: read, compared, and what differs shown. Pure: bytes in, bytes out.
//!
//! What comes from a device is not trusted: a file that claims to be enormous is refused before anything is allocated for it.

mod compare;
mod decode;
mod regions;
mod shown;

pub use compare::{Comparison, Options, compare};
pub use decode::{LONGEST_SIDE, MOST_PIXELS, Unreadable, decode};
pub use shown::difference;

/// A picture as pixels, three bytes each, transparency laid over white.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    /// How many pixels across.
    pub width: u32,
    /// How many down.
    pub height: u32,
    rgb: Vec<u8>,
}

impl Pixels {
    /// From bytes there are enough of.
    #[cfg(test)]
    pub(crate) fn of(width: u32, height: u32, rgb: Vec<u8>) -> Pixels {
        assert_eq!(rgb.len() as u64, u64::from(width) * u64::from(height) * 3);
        Pixels { width, height, rgb }
    }

    /// One row, or nothing beyond the last.
    fn row(&self, y: u32) -> &[u8] {
        let length = self.width as usize * 3;
        if y >= self.height {
            return &[];
        }
        let start = y as usize * length;
        self.rgb.get(start..start + length).unwrap_or_default()
    }
}

/// A rectangle, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// From the left.
    pub x: u32,
    /// From the top.
    pub y: u32,
    /// How many across.
    pub width: u32,
    /// How many down.
    pub height: u32,
}

impl Area {
    fn right(self) -> u32 {
        self.x.saturating_add(self.width)
    }

    fn bottom(self) -> u32 {
        self.y.saturating_add(self.height)
    }

    /// The smallest that holds both.
    fn with(self, other: Area) -> Area {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let (right, bottom) = (self.right().max(other.right()), self.bottom().max(other.bottom()));
        Area { x, y, width: right - x, height: bottom - y }
    }

    /// Whether they share a pixel or nearly so.
    fn is_near(self, other: Area, gap: u32) -> bool {
        self.x <= other.right().saturating_add(gap)
            && other.x <= self.right().saturating_add(gap)
            && self.y <= other.bottom().saturating_add(gap)
            && other.y <= self.bottom().saturating_add(gap)
    }
}

#[cfg(test)]
mod tests;
