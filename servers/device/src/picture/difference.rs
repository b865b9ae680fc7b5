//! A picture of the differences: the second picture faded, changes in red, a frame around each region.

use png::{BitDepth, ColorType, Compression, Encoder, EncodingError};

use super::{Area, Comparison, Pixels};

const MARK: [u8; 3] = [214, 0, 60];
const FRAME: [u8; 3] = [0, 98, 204];
/// The width of a frame and its distance from the region, in pixels.
const STROKE: u32 = 3;
const MARGIN: u32 = 4;

/// The differences as a PNG file.
pub fn difference(after: &Pixels, comparison: &Comparison) -> Option<Vec<u8>> {
    let (width, height) = comparison.marks.size();
    let mut rgb = Vec::with_capacity(width as usize * height as usize * 3);
    for y in 0..height {
        let row = after.row(y);
        for x in 0..width {
            let pixel = if comparison.marks.has(x, y) { MARK } else { fade(row, x) };
            rgb.extend(pixel);
        }
    }
    for region in &comparison.regions {
        frame(&mut rgb, (width, height), *region);
    }
    encode(width, height, &rgb).ok()
}

/// The pixel as grey, close to white.
fn fade(row: &[u8], x: u32) -> [u8; 3] {
    let start = x as usize * 3;
    let Some([red, green, blue]) = row.get(start..start + 3).and_then(|p| <[u8; 3]>::try_from(p).ok()) else {
        return [255; 3];
    };
    let grey = (u32::from(red) * 3 + u32::from(green) * 6 + u32::from(blue)) / 10;
    [u8::try_from(170 + grey / 3).unwrap_or(u8::MAX); 3]
}

fn frame(rgb: &mut [u8], (width, height): (u32, u32), area: Area) {
    let (left, top) = (area.x.saturating_sub(MARGIN), area.y.saturating_sub(MARGIN));
    let (right, bottom) = ((area.right() + MARGIN).min(width), (area.bottom() + MARGIN).min(height));
    for y in top..bottom {
        for x in left..right {
            let inside = (left + STROKE..right.saturating_sub(STROKE)).contains(&x)
                && (top + STROKE..bottom.saturating_sub(STROKE)).contains(&y);
            let start = (y as usize * width as usize + x as usize) * 3;
            if let (false, Some(pixel)) = (inside, rgb.get_mut(start..start + 3)) {
                pixel.copy_from_slice(&FRAME);
            }
        }
    }
}

fn encode(width: u32, height: u32, rgb: &[u8]) -> Result<Vec<u8>, EncodingError> {
    let mut file = vec![];
    let mut encoder = Encoder::new(&mut file, width, height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgb)?;
    writer.finish()?;
    Ok(file)
}
