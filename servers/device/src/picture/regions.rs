//! Changed pixels, and the rectangles they lie in.

use super::Area;

/// The side of a tile, in pixels. What changed is first sorted into tiles, so that a letter is not thirty regions.
const TILE: u32 = 8;
/// How far apart regions are told apart, in pixels.
const GAP: u32 = 16;

/// Which pixels changed: one bit each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    width: u32,
    height: u32,
    bits: Vec<u64>,
    /// For each tile that has a changed pixel, the rectangle of those.
    tiles: Vec<Option<Area>>,
}

impl Changed {
    pub(super) fn new(width: u32, height: u32) -> Changed {
        let pixels = (width as usize).saturating_mul(height as usize);
        let (across, down) = (width.div_ceil(TILE) as usize, height.div_ceil(TILE) as usize);
        Changed { width, height, bits: vec![0; pixels.div_ceil(64)], tiles: vec![None; across * down] }
    }

    pub(super) fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    pub(super) fn mark(&mut self, x: u32, y: u32) {
        let place = y as usize * self.width as usize + x as usize;
        if let Some(word) = self.bits.get_mut(place / 64) {
            *word |= 1 << (place % 64);
        }
        let tile = (y / TILE) as usize * self.width.div_ceil(TILE) as usize + (x / TILE) as usize;
        if let Some(tile) = self.tiles.get_mut(tile) {
            let pixel = Area { x, y, width: 1, height: 1 };
            *tile = Some(tile.map_or(pixel, |area| area.with(pixel)));
        }
    }

    pub(super) fn has(&self, x: u32, y: u32) -> bool {
        let place = y as usize * self.width as usize + x as usize;
        self.bits.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }
}

/// The rectangles, the largest first, and how many there are beside the most that are wanted.
pub(super) fn regions(changed: &Changed, most: usize) -> (Vec<Area>, usize) {
    let across = changed.width.div_ceil(TILE) as usize;
    let mut seen = vec![false; changed.tiles.len()];
    let mut found = vec![];
    for start in 0..changed.tiles.len() {
        if let Some(area) = grown(changed, across, start, &mut seen) {
            found.push(area);
        }
    }
    let mut found = merged(found);
    found.sort_by_key(|area| {
        let size = u64::from(area.width) * u64::from(area.height);
        (std::cmp::Reverse(size), area.y, area.x)
    });
    let more = found.len().saturating_sub(most);
    found.truncate(most);
    (found, more)
}

/// The rectangle of all tiles that hang together with this one.
fn grown(changed: &Changed, across: usize, start: usize, seen: &mut [bool]) -> Option<Area> {
    let mut area: Option<Area> = None;
    let mut left = vec![start];
    while let Some(at) = left.pop() {
        let Some(tile) = changed.tiles.get(at).copied().flatten() else { continue };
        let Some(seen) = seen.get_mut(at) else { continue };
        if std::mem::replace(seen, true) {
            continue;
        }
        area = Some(area.map_or(tile, |area| area.with(tile)));
        let (row, column) = (at / across, at % across);
        for (down, right) in [(0, 1), (1, 0), (1, 1), (1, 2), (0, 0), (2, 1), (2, 0), (2, 2), (0, 2)] {
            let (row, column) = ((row + down).checked_sub(1), (column + right).checked_sub(1));
            if let (Some(row), Some(column)) = (row, column.filter(|column| *column < across)) {
                left.push(row * across + column);
            }
        }
    }
    area
}

/// Rectangles that overlap or nearly do are one. Beyond a few hundred they are noise, and left as they are.
fn merged(mut all: Vec<Area>) -> Vec<Area> {
    const MOST: usize = 300;
    if all.len() > MOST {
        return all;
    }
    let mut done: Vec<Area> = vec![];
    while let Some(mut area) = all.pop() {
        while let Some(near) = done.iter().position(|other| area.is_near(*other, GAP)) {
            area = area.with(done.swap_remove(near));
        }
        done.push(area);
    }
    done
}
