//! Two pictures of what should be the same screen.

use super::regions::{Changed, regions};
use super::{Area, Pixels};

/// How strictly pictures are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// How much a colour may differ before it counts, of 255.
    pub tolerance: u8,
    /// What does not count: clocks, cursors, advertisements.
    pub masks: Vec<Area>,
    /// The most regions that are told apart; beyond that the smallest are counted only.
    pub most_regions: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { tolerance: 0, masks: vec![], most_regions: 20 }
    }
}

/// What differs between two pictures.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Whether both are of the same size. Where only one of them is, everything differs.
    pub same_size: bool,
    /// Pixels that were compared: all but the masked.
    pub compared: u64,
    /// Pixels that differ.
    pub changed: u64,
    /// Where, the largest first.
    pub regions: Vec<Area>,
    /// Regions beside these.
    pub more_regions: usize,
    /// Every changed pixel, for the picture of it.
    pub(super) marks: Changed,
}

impl Comparison {
    /// The share of what was compared that differs, of 1.
    #[allow(clippy::cast_precision_loss, reason = "pixels are counted in millions, not in quadrillions")]
    pub fn share(&self) -> f64 {
        if self.compared == 0 { 0.0 } else { self.changed as f64 / self.compared as f64 }
    }
}

/// Compares. Where one picture is larger than the other, the rest of it differs.
pub fn compare(before: &Pixels, after: &Pixels, options: &Options) -> Comparison {
    let (width, height) = (before.width.max(after.width), before.height.max(after.height));
    let mut marks = Changed::new(width, height);
    let (mut compared, mut changed) = (0, 0);
    for y in 0..height {
        let masked = masked(&options.masks, y, width);
        let left = masked
            .as_ref()
            .map_or(u64::from(width), |masked| masked.iter().filter(|one| !**one).count() as u64);
        compared += left;
        let (one, other) = (before.row(y), after.row(y));
        // Most rows of most screens are the same, byte for byte.
        if one == other {
            continue;
        }
        for x in 0..width {
            if masked.as_ref().is_some_and(|masked| masked.get(x as usize).copied().unwrap_or_default()) {
                continue;
            }
            if differs(pixel(one, x), pixel(other, x), options.tolerance) {
                changed += 1;
                marks.mark(x, y);
            }
        }
    }
    let (regions, more_regions) = regions(&marks, options.most_regions);
    let same_size = (before.width, before.height) == (after.width, after.height);
    Comparison { same_size, compared, changed, regions, more_regions, marks }
}

fn pixel(row: &[u8], x: u32) -> Option<[u8; 3]> {
    let start = x as usize * 3;
    row.get(start..start + 3)?.try_into().ok()
}

fn differs(one: Option<[u8; 3]>, other: Option<[u8; 3]>, tolerance: u8) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.iter().zip(other).any(|(a, b)| a.abs_diff(b) > tolerance),
        (None, None) => false,
        _ => true,
    }
}

/// Which pixels of a row do not count; none at all when every one does.
fn masked(masks: &[Area], y: u32, width: u32) -> Option<Vec<bool>> {
    let mut here = masks.iter().filter(|mask| (mask.y..mask.bottom()).contains(&y)).peekable();
    here.peek()?;
    let mut row = vec![false; width as usize];
    for mask in here {
        let range = mask.x.min(width) as usize..mask.right().min(width) as usize;
        for pixel in row.get_mut(range).unwrap_or_default() {
            *pixel = true;
        }
    }
    Some(row)
}
