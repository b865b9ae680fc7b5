//! Escapes within a text: of strings (`\\n`, `\\/`, `\\x41`, `\\u0041`), URLs (`%41`) and markup (`&#65;`, `&amp;`).

use memchr::{memchr3, memchr3_iter};

/// The bytes on each side of an escape that are read together with it. No secret needs more context.
const AROUND: usize = 256;

/// The character that an escape stands for, and the length of the escape.
pub(super) fn read(text: &[u8]) -> Option<(char, usize)> {
    match text.first()? {
        b'\\' => match text.get(1)? {
            b'n' => Some(('\n', 2)),
            b't' => Some(('\t', 2)),
            b'r' => Some(('\r', 2)),
            sign @ (b'/' | b'"' | b'\'' | b'\\') => Some((char::from(*sign), 2)),
            b'x' => number(text.get(2..4)?, 16).map(|meaning| (meaning, 4)),
            b'u' => number(text.get(2..6)?, 16).map(|meaning| (meaning, 6)),
            b'0'..=b'1' => number(text.get(1..4)?, 8).map(|meaning| (meaning, 4)),
            _ => None,
        },
        b'%' => number(text.get(1..3)?, 16).map(|meaning| (meaning, 3)),
        b'&' => entity(text),
        _ => None,
    }
}

fn number(digits: &[u8], radix: u32) -> Option<char> {
    let value = digits.iter().try_fold(0u32, |value, digit| {
        value.checked_mul(radix)?.checked_add(char::from(*digit).to_digit(radix)?)
    })?;
    // Escapes of letters and signs hide a text; those of single bytes of another character do not.
    char::from_u32(value)
        .filter(|meaning| meaning.is_ascii_graphic() || *meaning == ' ' || *meaning == '\n' || value > 0xff)
}

fn entity(text: &[u8]) -> Option<(char, usize)> {
    let end = text.iter().take(10).position(|byte| *byte == b';')?;
    let name = text.get(1..end)?;
    let meaning = match name {
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"quot" => '"',
        b"apos" => '\'',
        b"nbsp" => ' ',
        [b'#', b'x' | b'X', digits @ ..] if !digits.is_empty() => number(digits, 16)?,
        [b'#', digits @ ..] if !digits.is_empty() => number(digits, 10)?,
        _ => return None,
    };
    Some((meaning, end + 1))
}

/// Returns true for an escape of something else than a backslash, which hides nothing.
fn hides(text: &[u8]) -> bool {
    read(text).is_some_and(|(meaning, _)| meaning != '\\')
}

/// The parts of a text with escapes, and the text around them.
pub(super) fn segments(text: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let first = first_from(text, at)?;
        let mut last = first;
        while let Some(next) = last_near(text, last + 1) {
            last = next;
        }
        at = last + 1;
        Some((first.saturating_sub(AROUND), text.len().min(last + AROUND)))
    })
}

/// The first escape from a position on. A sign that is followed by itself hides nothing, so runs are skipped.
fn first_from(text: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let rest = text.get(from..)?;
        let place = memchr3(b'\\', b'%', b'&', rest)?;
        let sign = rest.get(place)?;
        let run = rest.get(place..)?.iter().take_while(|byte| *byte == sign).count();
        from += place + run;
        if text.get(from - 1..).is_some_and(hides) {
            return Some(from - 1);
        }
    }
}

/// The last escape that is near enough to one before it. Those between need not be read.
fn last_near(text: &[u8], from: usize) -> Option<usize> {
    let near = text.get(from..text.len().min(from + 2 * AROUND))?;
    let mut places = memchr3_iter(b'\\', b'%', b'&', near).rev().map(|at| from + at);
    places.find(|at| text.get(*at..).is_some_and(hides))
}

#[cfg(test)]
mod tests {
    use super::{read, segments};

    #[test]
    fn escapes_stand_for_one_character() {
        for (text, meaning) in [
            (r"\n", Some(('\n', 2))),
            (r"\/x", Some(('/', 2))),
            (r"\x41", Some(('A', 4))),
            (r"\u0041", Some(('A', 6))),
            (r"\101", Some(('A', 4))),
            ("%41", Some(('A', 3))),
            ("%zz", None),
            ("%ff", None),
            ("&#65;", Some(('A', 5))),
            ("&#x41;", Some(('A', 6))),
            ("&amp;", Some(('&', 5))),
            ("&copy;", None),
            ("& b", None),
            (r"\d", None),
        ] {
            assert_eq!(read(text.as_bytes()), meaning, "{text}");
        }
        let text = format!("{}%41{}%42{}", "a".repeat(300), "b".repeat(2_000), "c".repeat(10));
        assert_eq!(segments(text.as_bytes()).collect::<Vec<_>>(), [(44, 556), (2_047, 2_316)]);
        assert_eq!(segments(b"100% & more").count(), 0);
    }
}
