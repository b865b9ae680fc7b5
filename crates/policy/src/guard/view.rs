//! The text of a string as a reader sees it, with a mapping back to the raw bytes.

use super::escapes;
use super::fold::{Fold, fold};

/// Maps a range of the folded text to the raw text. Within a range, both advance in step.
#[derive(Debug, Clone, Copy)]
struct SourceSpan {
    view: usize,
    raw: usize,
    /// One character that was replaced; positions inside it do not map.
    whole: bool,
}

/// Text after decoding escapes, dropping invisible characters and folding look-alikes.
#[derive(Debug, Default)]
pub(super) struct FoldedText {
    text: Vec<u8>,
    stretches: Vec<SourceSpan>,
    raw_length: usize,
    tags: Tags,
}

/// Runs of Unicode tag characters, which can hide a sentence.
#[derive(Debug, Default)]
struct Tags {
    row: Option<(usize, usize, usize)>,
    longest: Option<(usize, usize)>,
}

impl Tags {
    /// Minimum length of a hidden sentence. A flag emoji takes five or six tag characters.
    const A_SENTENCE: usize = 8;

    fn note(&mut self, raw: usize, end: usize) {
        let (start, count) = match self.row {
            Some((start, until, count)) if until == raw => (start, count + 1),
            _ => (raw, 1),
        };
        self.row = Some((start, end, count));
        if count >= Self::A_SENTENCE {
            let first = self.longest.map_or(start, |(first, _)| first);
            self.longest = Some((first, end));
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextEncoding {
    /// The inside of a JSON string, with escapes.
    Json,
    /// Text without JSON escapes.
    Plain,
    /// Text that a program decodes before a person reads it: escapes of strings, URLs and markup.
    Escaped,
}

impl FoldedText {
    /// Reads a new text and reuses the buffers.
    pub(super) fn read(&mut self, raw: &[u8], spelling: TextEncoding) {
        self.text.clear();
        self.stretches.clear();
        self.raw_length = raw.len();
        self.tags = Tags::default();
        self.begin(0, false);
        let mut at = 0;
        while let Some(byte) = raw.get(at) {
            at += match byte {
                b'\\' | b'%' | b'&' if spelling == TextEncoding::Escaped => self.code(raw, at),
                b'\\' => self.escape(raw, at, spelling),
                0..=0x7f => {
                    let rest = raw.get(at..).unwrap_or_default();
                    let length = length_of_plain(rest, spelling == TextEncoding::Escaped);
                    self.text.extend_from_slice(rest.get(..length).unwrap_or_default());
                    length.max(1)
                }
                _ => self.character(raw, at),
            };
        }
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// The raw range of a hidden sentence.
    pub(super) fn hidden(&self) -> Option<(usize, usize)> {
        self.tags.longest
    }

    /// Maps a range of the folded text to whole characters of the raw text.
    pub(super) fn raw(&self, start: usize, end: usize) -> (usize, usize) {
        let first = self.stretch(start);
        let from = first.map_or(0, |s| if s.whole { s.raw } else { s.raw + (start - s.view) });
        (from, self.raw_end(end).max(from))
    }

    fn raw_end(&self, end: usize) -> usize {
        if end >= self.text.len() {
            return self.raw_length;
        }
        let index = self.stretches.partition_point(|stretch| stretch.view <= end);
        let within = index.checked_sub(1).and_then(|at| self.stretches.get(at));
        match within {
            Some(stretch) if stretch.view == end || !stretch.whole => stretch.raw + (end - stretch.view),
            // The position is inside a character that folded to several: use the start of the next one.
            _ => self.stretches.get(index).map_or(self.raw_length, |next| next.raw),
        }
    }

    fn stretch(&self, view: usize) -> Option<&SourceSpan> {
        let index = self.stretches.partition_point(|stretch| stretch.view <= view);
        self.stretches.get(index.checked_sub(1)?)
    }

    fn begin(&mut self, raw: usize, whole: bool) {
        let stretch = SourceSpan { view: self.text.len(), raw, whole };
        match self.stretches.last_mut() {
            // The previous range is empty: its dropped characters belong to this range.
            Some(last) if last.view == stretch.view => *last = stretch,
            _ => self.stretches.push(stretch),
        }
    }

    /// Appends the folded form of a raw range.
    fn put(&mut self, raw: usize, length: usize, meaning: char) {
        match fold(meaning) {
            Fold::Drop if is_tag(meaning) => self.tags.note(raw, raw + length),
            Fold::Drop => {}
            folded => {
                self.begin(raw, true);
                match folded {
                    Fold::Ascii(byte) => self.text.push(byte),
                    Fold::Text(text) => self.text.extend_from_slice(text.as_bytes()),
                    Fold::Same | Fold::Drop => {
                        let mut buffer = [0; 4];
                        self.text.extend_from_slice(meaning.encode_utf8(&mut buffer).as_bytes());
                    }
                }
            }
        }
        self.begin(raw + length, false);
    }

    fn character(&mut self, raw: &[u8], at: usize) -> usize {
        let rest = raw.get(at..).unwrap_or_default();
        let longest = rest.get(..4.min(rest.len())).unwrap_or_default();
        let valid = match std::str::from_utf8(longest) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(longest.get(..error.valid_up_to()).unwrap_or_default())
                .unwrap_or_default(),
        };
        match valid.chars().next() {
            Some(character) => {
                match fold(character) {
                    // The usual case for other scripts: the character stays as it is, within the current
                    // range.
                    Fold::Same => self.text.extend(rest.iter().take(character.len_utf8())),
                    _ => self.put(at, character.len_utf8(), character),
                }
                character.len_utf8()
            }
            None => {
                self.text.extend(rest.first());
                1
            }
        }
    }

    fn escape(&mut self, raw: &[u8], at: usize, spelling: TextEncoding) -> usize {
        let rest = raw.get(at..).unwrap_or_default();
        let slash = 1;
        match (spelling, rest.get(1)) {
            (TextEncoding::Json, Some(b'u')) => self.unicode(rest, at, slash),
            // A JSON text inside a string: decode its escapes too.
            (TextEncoding::Json, Some(b'\\')) if rest.get(2) == Some(&b'u') && hex(rest, 3).is_some() => {
                self.unicode(rest, at, slash + 1)
            }
            (TextEncoding::Plain, Some(b'u')) if hex(rest, 2).is_some() => self.unicode(rest, at, slash),
            (TextEncoding::Json, Some(letter)) => {
                let meaning = match letter {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'b' => 8,
                    b'f' => 12,
                    other => *other,
                };
                self.begin(at, true);
                self.text.push(meaning);
                self.begin(at + 2, false);
                2
            }
            _ => {
                self.text.push(b'\\');
                1
            }
        }
    }

    /// Decodes any escape that stands for one character.
    fn code(&mut self, raw: &[u8], at: usize) -> usize {
        let rest = raw.get(at..).unwrap_or_default();
        match escapes::read(rest) {
            Some((meaning, length)) => {
                self.begin(at, true);
                match fold(meaning) {
                    Fold::Same => {
                        let mut buffer = [0; 4];
                        self.text.extend_from_slice(meaning.encode_utf8(&mut buffer).as_bytes());
                    }
                    Fold::Ascii(byte) => self.text.push(byte),
                    Fold::Text(text) => self.text.extend_from_slice(text.as_bytes()),
                    Fold::Drop => {}
                }
                self.begin(at + length, false);
                length
            }
            None => {
                self.text.extend(rest.first());
                1
            }
        }
    }

    /// Decodes `\uXXXX`, or a surrogate pair of two of them.
    fn unicode(&mut self, rest: &[u8], at: usize, slashes: usize) -> usize {
        let length = slashes + 5;
        let Some(first) = hex(rest, slashes + 1) else {
            self.text.push(b'\\');
            return 1;
        };
        let low = rest
            .get(length..length + slashes + 1)
            .filter(|lead| {
                lead.last() == Some(&b'u') && lead.iter().filter(|b| **b == b'\\').count() == slashes
            })
            .and_then(|_| hex(rest, length + slashes + 1))
            .filter(|low| (0xdc00..0xe000).contains(low) && (0xd800..0xdc00).contains(&first));
        let (code, length) = match low {
            Some(low) => (0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00), 2 * length),
            None => (first, length),
        };
        self.put(at, length, char::from_u32(code).unwrap_or('\u{fffd}'));
        length
    }
}

/// The number of ASCII characters at the start of a text before the next that may begin an escape.
fn length_of_plain(text: &[u8], is_escaped: bool) -> usize {
    const MANY: usize = 16;
    let is_plain =
        |byte: &u8| byte.is_ascii() & (*byte != b'\\') & !(is_escaped & ((*byte == b'%') | (*byte == b'&')));
    // No early exit, so that the compiler can vectorise the comparison.
    let all = |bytes: &&[u8; MANY]| bytes.iter().fold(true, |so_far, byte| so_far & is_plain(byte));
    let (chunks, _) = text.as_chunks::<MANY>();
    let sure = chunks.iter().take_while(all).count() * MANY;
    sure + text.get(sure..).unwrap_or_default().iter().take_while(|byte| is_plain(byte)).count()
}

/// Invisible tag characters that mirror ASCII.
fn is_tag(c: char) -> bool {
    matches!(c, '\u{E0020}'..='\u{E007E}')
}

fn hex(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |value, digit| Some(value * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::{FoldedText, TextEncoding};

    fn check(raw: &str, text: &str, part: &str, stands: &str) {
        let mut view = FoldedText::default();
        view.read(raw.as_bytes(), TextEncoding::Json);
        let seen = std::str::from_utf8(view.text()).expect("text");
        assert_eq!(seen, text, "{raw}");
        let start = seen.find(part).expect("the part is there");
        let (from, to) = view.raw(start, start + part.len());
        assert_eq!(&raw[from..to], stands, "{raw}");
    }

    #[test]
    fn parts_of_a_view_lead_back_to_where_they_stand() {
        check(r"a\nghp_x b", "a\nghp_x b", "ghp_x", "ghp_x");
        check(r"a \u0067h\u0070_x b", "a ghp_x b", "ghp_x", r"\u0067h\u0070_x");
        check("g\u{200b}h\u{ad}p_x b", "ghp_x b", "ghp_x", "g\u{200b}h\u{ad}p_x");
        check("\u{ff47}\u{ff48}p_x", "ghp_x", "ghp_x", "\u{ff47}\u{ff48}p_x");
        check("日本 ghp_x 語", "日本 ghp_x 語", "ghp_x", "ghp_x");
        check("\u{fb01}ne", "fine", "ine", "\u{fb01}ne");
        check("of\u{fb01}", "offi", "off", "of\u{fb01}");
        check(r"\\u0067hp_x", "ghp_x", "ghp_x", r"\\u0067hp_x");
        check(r"C:\\users\\x", r"C:\users\x", "users", "users");
        check(r"\ud835\udc54hp", "ghp", "ghp", r"\ud835\udc54hp");
        check(r#"\"\/\" x"#, r#""/" x"#, "/", r"\/");
    }
}
