//! Percent-encoding in one spelling.

use failwell_fault::is_deceptive;
use memchr::memchr;

use super::Form;

/// A part of a URI. Parts differ in the characters that need no escape, and in those that may have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Authority,
    Path,
    /// A query or a fragment.
    Query,
}

impl Part {
    /// Returns true if the escape of this byte has a second reading. Servers that decode first, and servers
    /// that split first, see different paths.
    fn refuses(self, byte: u8) -> bool {
        match self {
            Part::Query => byte == 0,
            Part::Path => byte.is_ascii_control() || matches!(byte, b'/' | b'\\'),
            Part::Authority => {
                byte.is_ascii_control() || matches!(byte, b'/' | b'\\' | b'@' | b':' | b'?' | b'#')
            }
        }
    }

    /// Returns true if an escaped byte means the same as the byte itself. Servers that decode a path take both
    /// for one resource. The separators of a form stay as they are, because a query can hold one.
    fn decodes(self, byte: u8) -> bool {
        is_unreserved(byte)
            || match self {
                Part::Authority => is_sub_delimiter(byte),
                Part::Path => is_sub_delimiter(byte) || matches!(byte, b':' | b'@'),
                Part::Query => {
                    is_sub_delimiter(byte) && !is_form_separator(byte)
                        || matches!(byte, b'/' | b'?' | b':' | b'@')
                }
            }
    }

    fn allows(self, byte: u8) -> bool {
        is_unreserved(byte)
            || is_sub_delimiter(byte)
            || matches!(byte, b':' | b'@')
            || match self {
                Part::Authority => matches!(byte, b'[' | b']'),
                Part::Path => byte == b'/',
                Part::Query => matches!(byte, b'/' | b'?' | b'[' | b']'),
            }
    }
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn is_sub_delimiter(byte: u8) -> bool {
    matches!(byte, b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=')
}

fn is_form_separator(byte: u8) -> bool {
    matches!(byte, b'&' | b'=' | b'+' | b';')
}

pub(super) fn normalize(text: &str, part: Part, form: Form) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = EscapedText { text: String::with_capacity(text.len()), decoded: Vec::new(), part };
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b'{' if form != Form::Uri => out.expression(text.get(at..)?),
            b'%' => out.escape(bytes.get(at + 1..)?)?,
            byte if part.allows(*byte) => out.plain(*byte),
            byte => out.code(*byte),
        };
    }
    out.finish()
}

struct EscapedText {
    text: String,
    /// The bytes after decoding.
    decoded: Vec<u8>,
    part: Part,
}

impl EscapedText {
    fn plain(&mut self, byte: u8) -> usize {
        self.text.push(char::from(byte));
        self.decoded.push(byte);
        1
    }

    fn code(&mut self, byte: u8) -> usize {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        self.text.push('%');
        for digit in [byte >> 4, byte & 15] {
            self.text.push(DIGITS.get(usize::from(digit)).copied().map_or('0', char::from));
        }
        self.decoded.push(byte);
        1
    }

    fn expression(&mut self, rest: &str) -> usize {
        let length = memchr(b'}', rest.as_bytes()).map_or(rest.len(), |end| end + 1);
        self.text.push_str(rest.get(..length).unwrap_or_default());
        length
    }

    /// Reads the two digits of an escape. An escape of an escape is refused where decoding it twice would
    /// make a path of it.
    fn escape(&mut self, rest: &[u8]) -> Option<usize> {
        let byte = hex_byte(rest)?;
        let twice = (byte == b'%').then(|| rest.get(2..).and_then(hex_byte)).flatten();
        if self.part.refuses(byte)
            || self.part == Part::Path && matches!(twice, Some(b'.' | b'/' | b'\\' | 0))
        {
            return None;
        }
        if self.part.decodes(byte) {
            self.plain(byte)
        } else {
            self.code(byte)
        };
        Some(3)
    }

    /// Refuses a path that decodes to something else than visible text.
    fn finish(self) -> Option<String> {
        if self.part != Part::Query {
            let decoded = std::str::from_utf8(&self.decoded).ok()?;
            if decoded.chars().any(is_deceptive) {
                return None;
            }
        }
        Some(self.text)
    }
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digit = |place: usize| char::from(*digits.get(place)?).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}
