//! Folds characters to the ASCII text that a reader sees. Covers Unicode compatibility forms and confusable
//! characters that look like ASCII, because all categories are ASCII.

mod table;

use std::sync::LazyLock;

use table::LOOK_ALIKES;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    Same,
    /// The character is invisible.
    Drop,
    /// The character looks like one ASCII character.
    Ascii(u8),
    /// The character looks like several ASCII characters.
    Text(&'static str),
}

/// Returns true if a text may contain characters that fold. Checks lead bytes only, so false positives occur.
pub(super) fn may_fold(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| {
        matches!(byte,
            0xc2 | 0xc4..=0xdb | 0xe0..=0xe3 | 0xea | 0xef | 0xf0 | 0xf3)
    })
}

/// Characters below this have two bytes. Whole texts consist of them, so they are looked up in a table.
const TWO_BYTES: usize = 0x800;
const SAME: u8 = 0;
/// No look-alike is this control character.
const DROP: u8 = 1;

static SMALL: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let all = (0..TWO_BYTES as u32).map(|code| char::from_u32(code).map_or(Fold::Same, search));
    all.map(|folded| match folded {
        Fold::Ascii(byte) => byte,
        Fold::Drop => DROP,
        Fold::Same | Fold::Text(_) => SAME,
    })
    .collect()
});

pub(super) fn fold(c: char) -> Fold {
    match SMALL.get(c as usize) {
        Some(&SAME) => Fold::Same,
        Some(&DROP) => Fold::Drop,
        Some(byte) => Fold::Ascii(*byte),
        None => search(c),
    }
}

fn search(c: char) -> Fold {
    if c.is_ascii() {
        return Fold::Same;
    }
    if is_unseen(c) {
        return Fold::Drop;
    }
    if let Some(byte) = in_a_row(c) {
        return Fold::Ascii(byte);
    }
    match c {
        '\u{FB00}' => Fold::Text("ff"),
        '\u{FB01}' => Fold::Text("fi"),
        '\u{FB02}' => Fold::Text("fl"),
        '\u{FB03}' => Fold::Text("ffi"),
        '\u{FB04}' => Fold::Text("ffl"),
        '\u{FB05}' | '\u{FB06}' => Fold::Text("st"),
        '\u{2025}' => Fold::Text(".."),
        '\u{2026}' => Fold::Text("..."),
        _ => match LOOK_ALIKES.binary_search_by_key(&c, |row| row.0) {
            Ok(index) => LOOK_ALIKES.get(index).map_or(Fold::Same, |row| Fold::Ascii(row.1)),
            Err(_) => Fold::Same,
        },
    }
}

/// Characters without a visible glyph: zero width, direction, variation selectors, tags, combining marks.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{300}'..='\u{36F}' | '\u{483}'..='\u{489}' | '\u{61C}' | '\u{115F}'..='\u{1160}'
        | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{20D0}'..='\u{20F0}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}')
}

/// Blocks of characters in the same order as the ASCII characters they look like.
fn in_a_row(c: char) -> Option<u8> {
    let code = u32::from(c);
    let from = |first: u32, ascii: u8| u8::try_from(code - first).ok().map(|offset| ascii + offset);
    match code {
        0xff01..=0xff5e => from(0xff01, b'!'),
        0x2000..=0x200a | 0x00a0 | 0x202f | 0x205f | 0x3000 | 0x1680 => Some(b' '),
        0x2028 | 0x2029 => Some(b'\n'),
        0x0660..=0x0669 => from(0x0660, b'0'),
        0x06f0..=0x06f9 => from(0x06f0, b'0'),
        0x0966..=0x096f => from(0x0966, b'0'),
        0x2074..=0x2079 => from(0x2074, b'4'),
        0x2080..=0x2089 => from(0x2080, b'0'),
        0x2460..=0x2468 => from(0x2460, b'1'),
        0x24b6..=0x24cf => from(0x24b6, b'A'),
        0x24d0..=0x24e9 => from(0x24d0, b'a'),
        0x1f130..=0x1f149 => from(0x1f130, b'A'),
        0x1f150..=0x1f169 => from(0x1f150, b'A'),
        0x1f170..=0x1f189 => from(0x1f170, b'A'),
        0x1d400..=0x1d6a3 => letter(code - 0x1d400),
        0x1d7ce..=0x1d7ff => u8::try_from((code - 0x1d7ce) % 10).ok().map(|digit| b'0' + digit),
        _ => None,
    }
}

/// Mathematical alphanumerics come in blocks of 26 upper-case and 26 lower-case characters.
fn letter(offset: u32) -> Option<u8> {
    let place = u8::try_from(offset % 52).ok()?;
    Some(if place < 26 { b'A' + place } else { b'a' + place - 26 })
}

#[cfg(test)]
mod tests {
    use super::table::LOOK_ALIKES;
    use super::{Fold, fold, may_fold, search};

    #[test]
    fn the_table_is_sorted_and_foreign() {
        assert!(LOOK_ALIKES.is_sorted_by(|a, b| a.0 < b.0));
        assert!(LOOK_ALIKES.iter().all(|(c, ascii)| !c.is_ascii() && ascii.is_ascii()));
    }

    #[test]
    fn the_table_of_small_characters_says_what_a_search_finds() {
        for c in '\0'..=char::MAX {
            assert!(fold(c) == search(c), "{c:?}");
        }
    }

    #[test]
    fn every_folded_character_has_a_known_first_byte() {
        for c in '\u{80}'..=char::MAX {
            let mut buffer = [0; 4];
            let bytes = c.encode_utf8(&mut buffer).as_bytes();
            assert!(fold(c) == Fold::Same || may_fold(bytes), "{c:?} {:02x}", bytes[0]);
        }
    }

    #[test]
    fn look_alikes_fold_and_foreign_text_stays() {
        for (c, ascii) in
            [('а', b'a'), ('Ａ', b'A'), ('４', b'4'), ('𝗀', b'g'), ('ⓚ', b'k'), ('ℎ', b'h'), ('‐', b'-')]
        {
            assert_eq!(fold(c), Fold::Ascii(ascii), "{c}");
        }
        for c in ['\u{200b}', '\u{feff}', '\u{e0041}', '\u{301}', '\u{2060}'] {
            assert_eq!(fold(c), Fold::Drop);
        }
        for c in ['日', 'é', 'ß', 'ж', 'ω', '🎉', '한'] {
            assert_eq!(fold(c), Fold::Same, "{c}");
        }
    }
}
