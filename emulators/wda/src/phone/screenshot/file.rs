//! PNG files.

use png::chunk::ChunkType;
use png::{BitDepth, ColorType, Compression, Encoder, EncodingError, Filter};

use super::canvas::{Canvas, PaletteColor};
use crate::phone::device::SCALE;
use crate::phone::screen::Rect;

/// Red, green and blue of every ink, by day and by night.
const LIGHT: [[u8; 3]; PaletteColor::COUNT as usize] = [
    [242, 242, 247],
    [255, 255, 255],
    [28, 28, 30],
    [110, 110, 118],
    [198, 198, 204],
    [228, 228, 234],
    [0, 98, 204],
    [196, 30, 40],
    [40, 150, 70],
];
const DARK: [[u8; 3]; PaletteColor::COUNT as usize] = [
    [0, 0, 0],
    [28, 28, 30],
    [242, 242, 247],
    [160, 160, 168],
    [72, 72, 76],
    [44, 44, 48],
    [80, 160, 255],
    [255, 105, 97],
    [60, 190, 100],
];
/// A chunk readers skip, for files that have to be large.
const PADDING: ChunkType = ChunkType(*b"emUl");

/// A part of the canvas in pixels. `extra` bytes that cannot be compressed are put in besides.
pub(super) fn write(canvas: &Canvas, part: Rect, is_dark: bool, extra: usize) -> Vec<u8> {
    encode(canvas, part, is_dark, extra).unwrap_or_default()
}

fn encode(canvas: &Canvas, part: Rect, is_dark: bool, extra: usize) -> Result<Vec<u8>, EncodingError> {
    let mut file = vec![];
    let side = |length: i32| u32::try_from(length).unwrap_or_default().max(1) * SCALE;
    let mut encoder = Encoder::new(&mut file, side(part.width), side(part.height));
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_palette(palette(if is_dark { &DARK } else { &LIGHT }));
    encoder.set_compression(Compression::Fast);
    encoder.set_filter(Filter::Up);
    let mut writer = encoder.write_header()?;
    if extra > 0 {
        writer.write_chunk(PADDING, &noise(extra))?;
    }
    writer.write_image_data(&pixels(canvas, part))?;
    writer.finish()?;
    Ok(file)
}

fn palette(inks: &[[u8; 3]]) -> Vec<u8> {
    let dimmed = inks.iter().flatten().map(|part| part / 5 * 3);
    inks.iter().flatten().copied().chain(dimmed).collect()
}

/// Every point is a square of pixels.
fn pixels(canvas: &Canvas, part: Rect) -> Vec<u8> {
    let mut pixels = vec![];
    for y in part.y..part.y + part.height.max(1) {
        let mut row = Vec::new();
        for &ink in canvas.row(y, part.x, part.x + part.width.max(1)) {
            row.extend(std::iter::repeat_n(ink, SCALE as usize));
        }
        // Pixels outside the screen belong to the page.
        row.resize(usize::try_from(part.width.max(1)).unwrap_or(1) * SCALE as usize, PaletteColor::PAGE.0);
        for _ in 0..SCALE {
            pixels.extend_from_slice(&row);
        }
    }
    pixels
}

/// Bytes without a pattern, the same every time.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut bytes = Vec::with_capacity(count + 8);
    while bytes.len() < count {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(count);
    bytes
}
