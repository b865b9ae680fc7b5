//! Base64 in text: both alphabets, on one line or several.

use super::hex;

/// Minimum length of a run. Shorter runs decode to less than 18 bytes, too few for a secret.
pub(in crate::guard) const SHORTEST: usize = 24;
/// Minimum length of readable text in decoded bytes. Shorter text occurs by chance.
const SHORTEST_TEXT: usize = 12;
/// Minimum length of a full line. Encoders break lines at 64 or 76 characters.
const A_LINE: usize = 60;
/// The length of a run's prefix that distinguishes words from base64.
const A_LOOK: usize = 512;

/// Names that occur in every protocol message and look like base64.
const NAMES: [&[u8]; 4] = [
    b"modelcontextprotocol/protocolVersion",
    b"modelcontextprotocol/clientCapabilities",
    b"modelcontextprotocol/clientInfo",
    b"modelcontextprotocol/serverInfo",
];

fn is_code(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() | matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Number of bytes compared at once.
const WORD: usize = 8;

/// Returns true if a text begins with eight base64 characters. Eight bytes of prose nearly always contain a
/// space. One word-wide comparison finds it, as it finds every byte below `+`.
fn is_all_code(text: &[u8]) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let Some(bytes) = text.first_chunk::<WORD>() else { return false };
    let word = u64::from_le_bytes(*bytes);
    let below = word.wrapping_sub(ONES * u64::from(b'+')) & !word & (ONES << 7);
    below == 0 && bytes.iter().all(is_code)
}

/// The number of base64 characters at the start of a text. Compares 32 at a time, because encoded images are
/// large.
fn length_of_code(text: &[u8]) -> usize {
    const MANY: usize = 32;
    // No early exit, so that the compiler can vectorise the comparison.
    let all = |bytes: &&[u8; MANY]| bytes.iter().fold(true, |so_far, byte| so_far & is_code(byte));
    let (chunks, _) = text.as_chunks::<MANY>();
    let sure = chunks.iter().take_while(all).count() * MANY;
    sure + text.get(sure..).unwrap_or_default().iter().take_while(|byte| is_code(byte)).count()
}

/// Returns true if a text may hold base64 or hexadecimal.
pub(in crate::guard) fn may_be_in(text: &[u8]) -> bool {
    EncodedRuns::new(text).next().is_some() || hex::may_be_in(text)
}

/// The runs of a text that may be base64.
pub(in crate::guard) struct EncodedRuns<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> EncodedRuns<'a> {
    pub(in crate::guard) fn new(text: &'a [u8]) -> EncodedRuns<'a> {
        EncodedRuns { text, at: 0 }
    }

    /// Checks eight bytes of every sixteen. A run is long enough to contain such a window at any offset.
    fn next_run(&mut self) -> Option<(usize, usize)> {
        loop {
            let rest = self.text.get(self.at..)?;
            let (pairs, last) = rest.as_chunks::<{ 2 * WORD }>();
            let place = pairs.iter().position(|pair| is_all_code(pair)).map(|place| place * 2 * WORD);
            let place = match place {
                Some(place) => place,
                None if is_all_code(last) => rest.len() - last.len(),
                None => return None,
            };
            let probe = self.at + place;
            let ahead = self.text.get(self.at..probe)?.iter().rev().take_while(|b| is_code(b)).count();
            let behind = length_of_code(self.text.get(probe..)?);
            let (start, end) = (probe - ahead, probe + behind);
            self.at = end;
            if end - start >= SHORTEST {
                return Some((start, end));
            }
        }
    }

    /// Extends a run over its following lines.
    fn lines(&self, mut line: usize, mut end: usize) -> usize {
        loop {
            let rest = self.text.get(end..).unwrap_or_default();
            let space = rest.iter().take(4).take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
            let next = length_of_code(rest.get(space..).unwrap_or_default());
            if space == 0 || next == 0 || line < A_LINE {
                return end;
            }
            (line, end) = (next, end + space + next);
        }
    }
}

impl Iterator for EncodedRuns<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        loop {
            let (start, end) = self.next_run()?;
            let look = self.text.get(start..end.min(start + A_LOOK))?;
            if NAMES.contains(&look) {
                continue;
            }
            let end = self.lines(end - start, end);
            self.at = end;
            // Base64 of ordinary text contains both upper and lower case.
            if look.iter().any(u8::is_ascii_uppercase) && look.iter().any(u8::is_ascii_lowercase) {
                let padding = self.text.get(end..)?.iter().take(2).take_while(|byte| **byte == b'=').count();
                return Some((start, end + padding));
            }
        }
    }
}

/// Offsets in a run where base64 may begin: its start, and after each separator. Returns one offset per
/// alignment.
pub(in crate::guard) fn beginnings(run: &[u8]) -> impl Iterator<Item = usize> {
    let signs = run.iter().take(A_LOOK).enumerate().filter(|(_, byte)| !byte.is_ascii_alphanumeric());
    let mut after = [None; 4];
    for place in signs.map(|(at, _)| at + 1) {
        if let Some(first) = after.get_mut(place % 4) {
            first.get_or_insert(place);
        }
    }
    // Offsets that differ by a multiple of four have the same alignment as the start.
    let [_, rest @ ..] = after;
    std::iter::once(0).chain(rest.into_iter().flatten())
}

/// Decodes a run from the given offset. Characters outside of the alphabet are skipped.
pub(in crate::guard) fn decode(run: &[u8], skip: usize, into: &mut Vec<u8>) {
    into.clear();
    into.reserve(run.len() / 4 * 3 + 3);
    let (mut bits, mut count) = (0u32, 0);
    for byte in run.iter().skip(skip) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => continue,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            into.push((bits >> count) as u8);
        }
    }
}

/// Encodes a label, so that a redacted base64 value is still base64.
pub(in crate::guard) fn encode(text: &str, into: &mut Vec<u8>) {
    const CODES: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in text.as_bytes().chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let code = CODES.get((bits >> (18 - 6 * place) & 63) as usize).copied().unwrap_or(b'A');
            into.push(if place <= chunk.len() { code } else { b'=' });
        }
    }
}

/// The readable parts of decoded bytes.
pub(in crate::guard) fn text_in(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let no_text = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    let parts = bytes.utf8_chunks().flat_map(move |chunk| chunk.valid().as_bytes().split(no_text));
    parts.filter(|part| part.len() >= SHORTEST_TEXT)
}

#[cfg(test)]
mod tests {
    use super::{EncodedRuns, decode, encode, text_in};

    #[test]
    fn runs_are_found_across_lines_and_words_are_not() {
        let code = "QUtJQUlPU0ZPRE5ON0VYQU1QTEU".to_owned();
        let long = "Z2hw".repeat(19);
        for (text, runs) in [
            (format!("token {code}= end"), vec![format!("{code}=")]),
            (format!("{long}\n{long}\r\nZ2hw end"), vec![format!("{long}\n{long}\r\nZ2hw")]),
            ("a_long_function_name_without_capitals".to_owned(), vec![]),
            ("short QUtJQUlPU0ZP".to_owned(), vec![]),
            ("io.modelcontextprotocol/protocolVersion".to_owned(), vec![]),
            (
                "io.modelcontextprotocol/protocolVersionQ".to_owned(),
                vec!["modelcontextprotocol/protocolVersionQ".to_owned()],
            ),
        ] {
            let found: Vec<&str> = EncodedRuns::new(text.as_bytes()).map(|(s, e)| &text[s..e]).collect();
            assert_eq!(found, runs, "{text}");
        }
    }

    /// Tries every position of a run and several texts before it.
    #[test]
    fn no_run_is_missed_and_none_is_made_up() {
        for before in 0..70 {
            for length in 1..60 {
                let run = &"Ab3+".repeat(20)[..length];
                let text =
                    format!("{}{run}{}", ". cat. ".repeat(12).split_at(before).0, " and more, and more");
                let found: Vec<&str> = EncodedRuns::new(text.as_bytes()).map(|(s, e)| &text[s..e]).collect();
                let glued = text.split(['.', ' ', ',']).filter(|word| word.len() >= 24).count();
                assert_eq!(found.len(), glued, "{text}");
                assert!(found.iter().all(|found| found.ends_with(run)), "{text}");
            }
        }
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        for text in ["", "a", "ab", "abc", "[redacted: secrets/jwt]"] {
            let (mut code, mut back) = (Vec::new(), Vec::new());
            encode(text, &mut code);
            decode(&code, 0, &mut back);
            assert_eq!(back, text.as_bytes());
            assert_eq!(code.len() % 4, 0);
        }
        let parts: Vec<&[u8]> =
            text_in(b"\xff\xfehello, world\x00\x01short\xc3\x28h\xc3\xa9llo world\n").collect();
        assert_eq!(parts, [b"hello, world".as_slice(), "(héllo world\n".as_bytes()]);
    }
}
