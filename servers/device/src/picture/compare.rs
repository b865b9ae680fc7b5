//! Compares two pictures of the same screen.

use super::regions::{ChangedPixels, regions};
use super::{Area, Pixels};

/// The settings of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The tolerated difference of a colour value, of 255.
    pub tolerance: u8,
    /// Areas to ignore, such as clocks, cursors and advertisements.
    pub masks: Vec<Area>,
    /// Maximum number of reported regions. Smaller ones are only counted.
    pub most_regions: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { tolerance: 0, masks: vec![], most_regions: 20 }
    }
}

/// The result of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Whether both have the same size. Pixels that exist in one picture only count as changed.
    pub same_size: bool,
    /// Number of compared pixels: all except the masked ones.
    pub compared: u64,
    /// Number of changed pixels.
    pub changed: u64,
    /// The changed regions, largest first.
    pub regions: Vec<Area>,
    /// Number of regions that are not listed.
    pub more_regions: usize,
    /// Every changed pixel, for the picture of differences.
    pub(super) marks: ChangedPixels,
}

impl Comparison {
    /// The share of changed pixels, from 0 to 1.
    #[allow(clippy::cast_precision_loss, reason = "pixels are counted in millions, not in quadrillions")]
    pub fn share(&self) -> f64 {
        if self.compared == 0 { 0.0 } else { self.changed as f64 / self.compared as f64 }
    }
}

/// Compares two pictures. Pixels that exist in one picture only count as changed.
pub fn compare(before: &Pixels, after: &Pixels, options: &Options) -> Comparison {
    let (width, height) = (before.width.max(after.width), before.height.max(after.height));
    let mut marks = ChangedPixels::new(width, height);
    let (mut compared, mut changed) = (0, 0);
    for y in 0..height {
        let mask_row = mask_row(&options.masks, y, width);
        let left = mask_row
            .as_ref()
            .map_or(u64::from(width), |mask_row| mask_row.iter().filter(|one| !**one).count() as u64);
        compared += left;
        let (one, other) = (before.row(y), after.row(y));
        // Most rows of most screens are equal byte for byte.
        if one == other {
            continue;
        }
        for x in 0..width {
            if mask_row.as_ref().is_some_and(|mask_row| mask_row.get(x as usize).copied().unwrap_or_default())
            {
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

/// The masked pixels of a row. `None` if there are none.
fn mask_row(masks: &[Area], y: u32, width: u32) -> Option<Vec<bool>> {
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
