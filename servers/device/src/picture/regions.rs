//! Changed pixels and the rectangles that contain them.

use super::Area;

/// The size of a tile, in pixels. Changes are first grouped into tiles, so that one character is not thirty
/// regions.
const TILE: u32 = 8;
/// The minimum distance of separate regions, in pixels.
const GAP: u32 = 16;

/// The changed pixels, one bit each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChangedPixels {
    width: u32,
    height: u32,
    bits: Vec<u64>,
    /// For each tile with changed pixels, their bounding rectangle.
    tiles: Vec<Option<Area>>,
}

impl ChangedPixels {
    pub(super) fn new(width: u32, height: u32) -> ChangedPixels {
        let pixels = (width as usize).saturating_mul(height as usize);
        let (across, down) = (width.div_ceil(TILE) as usize, height.div_ceil(TILE) as usize);
        ChangedPixels { width, height, bits: vec![0; pixels.div_ceil(64)], tiles: vec![None; across * down] }
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

/// The regions, largest first, and the number of further ones beyond `most`.
pub(super) fn regions(changed: &ChangedPixels, most: usize) -> (Vec<Area>, usize) {
    let across = changed.width.div_ceil(TILE) as usize;
    let mut seen = vec![false; changed.tiles.len()];
    let mut found = vec![];
    for start in 0..changed.tiles.len() {
        if let Some(area) = grow_region(changed, across, start, &mut seen) {
            found.push(area);
        }
    }
    let mut found = resolve(found);
    found.sort_by_key(|area| {
        let size = u64::from(area.width) * u64::from(area.height);
        (std::cmp::Reverse(size), area.y, area.x)
    });
    let more = found.len().saturating_sub(most);
    found.truncate(most);
    (found, more)
}

/// The bounding rectangle of all tiles connected with this one.
fn grow_region(changed: &ChangedPixels, across: usize, start: usize, seen: &mut [bool]) -> Option<Area> {
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

/// Merges regions that overlap or nearly touch. More than a few hundred regions are noise and are not merged.
fn resolve(mut all: Vec<Area>) -> Vec<Area> {
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
