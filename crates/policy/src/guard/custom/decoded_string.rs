//! A decoded JSON string, with a mapping back to its raw form.

use std::borrow::Cow;

pub(super) struct DecodedString<'a> {
    text: Cow<'a, [u8]>,
    /// The escapes, in order.
    escapes: Vec<Escape>,
}

/// One escape: the range `means` of the decoded text is written as the range `raw`.
#[derive(Debug, Clone, Copy)]
struct Escape {
    means: (usize, usize),
    raw: (usize, usize),
}

impl<'a> DecodedString<'a> {
    /// Decodes the text between the quotes.
    pub(super) fn decode(raw: &'a [u8]) -> DecodedString<'a> {
        if memchr::memchr(b'\\', raw).is_none() {
            return DecodedString { text: Cow::Borrowed(raw), escapes: Vec::new() };
        }
        let (mut text, mut escapes) = (Vec::with_capacity(raw.len()), Vec::new());
        let mut at = 0;
        while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
            let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
            text.extend_from_slice(rest.get(..plain).unwrap_or_default());
            at += plain;
            let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) else { break };
            let (meaning, length) = escape(rest);
            let begins = text.len();
            text.extend_from_slice(meaning.encode_utf8(&mut [0; 4]).as_bytes());
            escapes.push(Escape { means: (begins, text.len()), raw: (at, at + length) });
            at += length;
        }
        DecodedString { text: Cow::Owned(text), escapes }
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Maps a range of the decoded text to the raw text, widened to whole characters.
    pub(super) fn raw(&self, start: usize, end: usize) -> (usize, usize) {
        (self.raw_start(self.boundary_before(start)), self.raw_end(self.boundary_after(end)))
    }

    fn raw_start(&self, at: usize) -> usize {
        match self.last_escape(|escape| escape.means.0 <= at) {
            None => at,
            Some(escape) if at < escape.means.1 => escape.raw.0,
            Some(escape) => escape.raw.1 + (at - escape.means.1),
        }
    }

    fn raw_end(&self, at: usize) -> usize {
        match self.last_escape(|escape| escape.means.0 < at) {
            None => at,
            Some(escape) if at <= escape.means.1 => escape.raw.1,
            Some(escape) => escape.raw.1 + (at - escape.means.1),
        }
    }

    fn last_escape(&self, is_before: impl Fn(&Escape) -> bool) -> Option<&Escape> {
        let count = self.escapes.partition_point(is_before);
        count.checked_sub(1).and_then(|last| self.escapes.get(last))
    }

    fn is_within_a_character(&self, at: usize) -> bool {
        self.text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80)
    }

    fn boundary_before(&self, at: usize) -> usize {
        (0..=at).rev().find(|at| !self.is_within_a_character(*at)).unwrap_or(0)
    }

    fn boundary_after(&self, at: usize) -> usize {
        (at..=self.text.len()).find(|at| !self.is_within_a_character(*at)).unwrap_or(at)
    }
}

/// Returns the character of an escape and the length of the escape.
fn escape(raw: &[u8]) -> (char, usize) {
    let simple = |meaning| (meaning, 2);
    match raw.get(1) {
        Some(b'u') => unicode(raw),
        Some(b'n') => simple('\n'),
        Some(b't') => simple('\t'),
        Some(b'r') => simple('\r'),
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(other) => simple(char::from(*other)),
        None => ('\\', 1),
    }
}

/// Decodes `\uXXXX`, or a surrogate pair of two of them.
fn unicode(raw: &[u8]) -> (char, usize) {
    let Some(first) = hex(raw, 2) else { return ('\\', 1) };
    let low = raw.get(6..8).filter(|lead| *lead == b"\\u").and_then(|_| hex(raw, 8));
    match low.filter(|low| (0xdc00..0xe000).contains(low) && (0xd800..0xdc00).contains(&first)) {
        Some(low) => {
            let code = 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00);
            (char::from_u32(code).unwrap_or('\u{fffd}'), 12)
        }
        None => (char::from_u32(first).unwrap_or('\u{fffd}'), 6),
    }
}

fn hex(raw: &[u8], at: usize) -> Option<u32> {
    let digits = raw.get(at..at + 4)?;
    digits.iter().try_fold(0, |value, digit| Some(value * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::DecodedString;

    fn check(raw: &str, text: &str, part: &str, stands: &str) {
        let decoded = DecodedString::decode(raw.as_bytes());
        assert_eq!(std::str::from_utf8(decoded.text()).expect("text"), text, "{raw}");
        let start = text.find(part).expect("the part is there");
        let (from, to) = decoded.raw(start, start + part.len());
        assert_eq!(&raw[from..to], stands, "{raw} {part}");
    }

    #[test]
    fn parts_lead_back_to_how_they_are_written() {
        check("plain text", "plain text", "text", "text");
        check(r"a\nb\nc", "a\nb\nc", "b", "b");
        check(r"a\nb\nc", "a\nb\nc", "\nb\n", r"\nb\n");
        check(r"\u0061bc\u00e9", "abcé", "ab", r"\u0061b");
        check(r"\u0061bc\u00e9", "abcé", "cé", r"c\u00e9");
        check(r"x\ud83d\ude00y", "x😀y", "😀", r"\ud83d\ude00");
        check(r"x\ud83d\ude00y", "x😀y", "y", "y");
        check(r#"\"\\"#, r#""\"#, "\\", r"\\");
        check("日本語", "日本語", "本", "本");
    }

    #[test]
    fn a_cut_within_a_character_takes_all_of_it() {
        let decoded = DecodedString::decode("aé日".as_bytes());
        assert_eq!(decoded.raw(2, 4), (1, 6));
        let decoded = DecodedString::decode(br"a\u00e9b");
        assert_eq!(decoded.raw(2, 3), (1, 7));
    }

    #[test]
    fn what_is_no_string_ends() {
        for raw in [&br"\"[..], br"\u", br"\u12", br"x\ud800", br"\ud800\u0041"] {
            let decoded = DecodedString::decode(raw);
            let (_, end) = decoded.raw(0, decoded.text().len());
            assert_eq!(end, raw.len(), "{raw:?}");
        }
    }
}
