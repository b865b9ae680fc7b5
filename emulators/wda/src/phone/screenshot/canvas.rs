//! Points, each of one of a few inks.

use std::convert::Infallible;

use embedded_graphics::Pixel;
use embedded_graphics::pixelcolor::PixelColor;
use embedded_graphics::pixelcolor::raw::RawU8;
use embedded_graphics::prelude::{DrawTarget, OriginDimensions, Size};
use embedded_graphics::primitives::Rectangle;

use crate::phone::screen::Rect;

/// A colour by its number; which it is depends on whether it is dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PaletteColor(pub(super) u8);

impl PaletteColor {
    pub(super) const PAGE: PaletteColor = PaletteColor(0);
    pub(super) const PAPER: PaletteColor = PaletteColor(1);
    pub(super) const TEXT: PaletteColor = PaletteColor(2);
    pub(super) const QUIET: PaletteColor = PaletteColor(3);
    pub(super) const LINE: PaletteColor = PaletteColor(4);
    pub(super) const BAR: PaletteColor = PaletteColor(5);
    pub(super) const TINT: PaletteColor = PaletteColor(6);
    pub(super) const DANGER: PaletteColor = PaletteColor(7);
    pub(super) const ON: PaletteColor = PaletteColor(8);
    /// How many there are. Each has a dimmed one behind all of them.
    pub(super) const COUNT: u8 = 9;
}

impl PixelColor for PaletteColor {
    type Raw = RawU8;
}

pub(crate) struct Canvas {
    inks: Vec<u8>,
    width: i32,
    height: i32,
}

impl Canvas {
    pub(super) fn new((width, height): (i32, i32)) -> Canvas {
        let count = usize::try_from(width * height).unwrap_or_default();
        Canvas { inks: vec![PaletteColor::PAGE.0; count], width, height }
    }

    /// The inks of a row, from one column to before another.
    pub(super) fn row(&self, y: i32, from: i32, to: i32) -> &[u8] {
        let at = |x: i32| usize::try_from(y * self.width + x.clamp(0, self.width)).unwrap_or_default();
        if !(0..self.height).contains(&y) {
            return &[];
        }
        self.inks.get(at(from)..at(to)).unwrap_or_default()
    }

    pub(super) fn dim(&mut self, area: Rect) {
        self.each(area, |ink| if ink < PaletteColor::COUNT { ink + PaletteColor::COUNT } else { ink });
    }

    fn each(&mut self, area: Rect, change: impl Fn(u8) -> u8) {
        for y in area.y.max(0)..(area.y + area.height).min(self.height) {
            let at = |x: i32| usize::try_from(y * self.width + x.clamp(0, self.width)).unwrap_or_default();
            let range = at(area.x)..at(area.x + area.width);
            for ink in self.inks.get_mut(range).unwrap_or_default() {
                *ink = change(*ink);
            }
        }
    }
}

impl OriginDimensions for Canvas {
    fn size(&self) -> Size {
        let side = |length: i32| u32::try_from(length).unwrap_or_default();
        Size::new(side(self.width), side(self.height))
    }
}

impl DrawTarget for Canvas {
    type Color = PaletteColor;
    type Error = Infallible;

    fn draw_iter<I>(&mut self, pixels: I) -> Result<(), Infallible>
    where
        I: IntoIterator<Item = Pixel<PaletteColor>>,
    {
        for Pixel(at, ink) in pixels {
            if (0..self.width).contains(&at.x) && (0..self.height).contains(&at.y) {
                let place = usize::try_from(at.y * self.width + at.x).unwrap_or(usize::MAX);
                if let Some(point) = self.inks.get_mut(place) {
                    *point = ink.0;
                }
            }
        }
        Ok(())
    }

    fn fill_solid(&mut self, area: &Rectangle, ink: PaletteColor) -> Result<(), Infallible> {
        let side = |length: u32| i32::try_from(length).unwrap_or(i32::MAX / 4);
        let (at, size) = (area.top_left, area.size);
        self.each(Rect::new(at.x, at.y, side(size.width), side(size.height)), |_| ink.0);
        Ok(())
    }
}
