//! Decodes PNG files.

use std::io::Cursor;

use png::{ColorType, Decoder, DecodingError, Limits, Transformations};

use super::Pixels;

/// Maximum length of a side, in pixels. No screen is larger.
pub const LONGEST_SIDE: u32 = 16_384;
/// Maximum number of pixels.
pub const MOST_PIXELS: u64 = 40_000_000;
/// Maximum allocation of the decoder besides the pixels, in bytes.
const LIMIT: usize = 64 << 20;

/// The reason why a file cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecodeError {
    /// The file is not a PNG file or is damaged.
    NotPng,
    /// The file exceeds the maximum size.
    TooLarge {
        /// Pixels per row.
        width: u32,
        /// Number of rows.
        height: u32,
    },
}

/// Decodes a file. Its declared size is checked before memory is allocated.
pub fn decode(file: &[u8]) -> Result<Pixels, DecodeError> {
    let mut decoder = Decoder::new_with_limits(Cursor::new(file), Limits { bytes: LIMIT });
    decoder.set_transformations(Transformations::normalize_to_color8());
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let (width, height) = decoder.read_header_info().map_err(|why| unreadable(&why, (0, 0)))?.size();
    let count = u64::from(width) * u64::from(height);
    if width > LONGEST_SIDE || height > LONGEST_SIDE || count > MOST_PIXELS {
        return Err(DecodeError::TooLarge { width, height });
    }
    // The limit also covers the decoder's row buffers. It is enough for the pixels that were just accepted.
    decoder
        .set_limits(Limits { bytes: LIMIT.saturating_add(usize::try_from(count * 4).unwrap_or(usize::MAX)) });
    let mut reader = decoder.read_info().map_err(|why| unreadable(&why, (width, height)))?;
    let size = reader.output_buffer_size().ok_or(DecodeError::TooLarge { width, height })?;
    let mut bytes = vec![0; size];
    let info = reader.next_frame(&mut bytes).map_err(|why| unreadable(&why, (width, height)))?;
    let rgb = match info.color_type {
        ColorType::Rgb => bytes,
        ColorType::Rgba => over_white(&bytes, 4),
        ColorType::GrayscaleAlpha => over_white(&bytes, 2),
        ColorType::Grayscale => bytes.iter().flat_map(|&grey| [grey; 3]).collect(),
        // The decoder expands palettes, so this cannot occur.
        ColorType::Indexed => return Err(DecodeError::NotPng),
    };
    if rgb.len() as u64 == count * 3 { Ok(Pixels { width, height, rgb }) } else { Err(DecodeError::NotPng) }
}

fn unreadable(why: &DecodingError, (width, height): (u32, u32)) -> DecodeError {
    match why {
        DecodingError::LimitsExceeded => DecodeError::TooLarge { width, height },
        _ => DecodeError::NotPng,
    }
}

/// Removes the alpha channel, the last byte of each pixel.
fn over_white(bytes: &[u8], each: usize) -> Vec<u8> {
    let mut rgb = Vec::with_capacity(bytes.len() / each * 3);
    for pixel in bytes.chunks_exact(each) {
        let (red, green, blue, alpha) = match *pixel {
            [red, green, blue, alpha] => (red, green, blue, alpha),
            [grey, alpha] => (grey, grey, grey, alpha),
            _ => continue,
        };
        rgb.extend([red, green, blue].map(|part| blend_over_white(part, alpha)));
    }
    rgb
}

fn blend_over_white(part: u8, alpha: u8) -> u8 {
    if alpha == u8::MAX {
        return part;
    }
    let (part, alpha) = (u16::from(part), u16::from(alpha));
    u8::try_from((part * alpha + 255 * (255 - alpha)) / 255).unwrap_or(u8::MAX)
}
