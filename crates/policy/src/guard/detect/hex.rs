//! Hexadecimal in text: in one run, with `0x`, or in groups joined by a sign: `67:68:70`, `0x67, 0x68`, `6768-705f`.

/// The fewest bytes of readable text in hexadecimal. Shorter text occurs by chance.
const SHORTEST: usize = 12;
/// The distance of two looks, and the bytes of one look. The shortest text has one whole look in it.
const STRIDE: usize = 16;
const LOOK: [usize; 4] = [0, 2, 5, 7];
/// The most signs between two digits.
const MOST_BETWEEN: usize = 2;

/// The bytes of which such a text consists.
const IS_PART: [bool; 256] = {
    let mut table = [false; 256];
    let all = b"0123456789abcdefABCDEFxX:-_ ,\n\r";
    let mut at = 0;
    while at < all.len() {
        #[expect(clippy::indexing_slicing, reason = "a constant table")]
        {
            table[all[at] as usize] = true;
        }
        at += 1;
    }
    table
};

fn is_part(byte: u8) -> bool {
    IS_PART.get(usize::from(byte)).copied().unwrap_or_default()
}

pub(in crate::guard) fn may_be_in(text: &[u8]) -> bool {
    HexRuns::new(text).next().is_some()
}

/// One of the two ways to pair the digits of a region: the pairs so far that may be readable.
#[derive(Debug, Clone, Copy, Default)]
struct DigitPairs {
    start: usize,
    count: usize,
    /// The end of the last whole pair.
    end: usize,
    /// The first digit of a pair whose second is still to come.
    half: Option<u8>,
}

impl DigitPairs {
    /// Takes the first digit of a pair. Returns a run that ends before it.
    fn first(&mut self, digit: u8, at: usize) -> Option<(usize, usize)> {
        // Readable text has few different first digits.
        if !matches!(digit, b'2'..=b'7') && (digit != b'0' || self.count == 0) {
            return self.finish();
        }
        if self.count == 0 {
            self.start = at;
        }
        self.half = Some(digit);
        None
    }

    /// Takes the second digit of a pair. Returns a run that ends before the pair.
    fn second(&mut self, digit: u8, at: usize) -> Option<(usize, usize)> {
        let first = self.half.take()?;
        // Tabs and line ends are the control characters of text.
        if first == b'0' && !matches!(digit, b'9' | b'a' | b'A' | b'd' | b'D') {
            return self.finish();
        }
        self.count += 1;
        self.end = at + 1;
        None
    }

    fn finish(&mut self) -> Option<(usize, usize)> {
        let ended = std::mem::take(self);
        (ended.count >= SHORTEST).then_some((ended.start, ended.end))
    }
}

/// The runs of a text that may be readable text in hexadecimal.
pub(in crate::guard) struct HexRuns<'a> {
    text: &'a [u8],
    at: usize,
    /// The end of the region that is being read.
    end: usize,
    digits: usize,
    pairings: [DigitPairs; 2],
    /// The second of two runs that end at the same place.
    waiting: Option<(usize, usize)>,
}

impl<'a> HexRuns<'a> {
    pub(in crate::guard) fn new(text: &'a [u8]) -> HexRuns<'a> {
        HexRuns { text, at: 0, end: 0, digits: 0, pairings: Default::default(), waiting: None }
    }

    /// Goes to the next region of digits and signs. A few bytes of it are looked at before the others.
    fn next_region(&mut self) -> Option<()> {
        let mut at = self.at;
        loop {
            let look = self.text.get(at..at + STRIDE / 2)?;
            if LOOK.iter().all(|place| look.get(*place).is_some_and(|byte| is_part(*byte))) {
                let ahead =
                    self.text.get(self.at..at)?.iter().rev().take_while(|byte| is_part(**byte)).count();
                let behind = self.text.get(at..)?.iter().take_while(|byte| is_part(**byte)).count();
                (self.at, self.end) = (at - ahead, at + behind);
                if behind > 0 && ahead + behind >= 2 * SHORTEST {
                    return Some(());
                }
                at += behind;
            }
            at += STRIDE;
        }
    }

    fn digit(&mut self, digit: u8, at: usize) -> Option<(usize, usize)> {
        let [even, odd] = &mut self.pairings;
        let (first, second) = if self.digits.is_multiple_of(2) { (even, odd) } else { (odd, even) };
        self.digits += 1;
        let ended = (second.second(digit, at), first.first(digit, at));
        self.both(ended.0, ended.1)
    }

    fn finish(&mut self) -> Option<(usize, usize)> {
        let [even, odd] = &mut self.pairings;
        let ended = (even.finish(), odd.finish());
        self.both(ended.0, ended.1)
    }

    fn both(&mut self, one: Option<(usize, usize)>, other: Option<(usize, usize)>) -> Option<(usize, usize)> {
        self.waiting = one.and(other);
        one.or(other)
    }

    /// The length of the signs between two digits. Numbers of a list are no bytes, so a comma needs `0x` behind it.
    fn between(&self) -> usize {
        let rest = self.text.get(self.at..self.end).unwrap_or_default();
        let signs = rest.iter().take(MOST_BETWEEN).take_while(|byte| is_sign(**byte)).count();
        let after = rest.get(signs..).unwrap_or_default();
        let lead = if after.starts_with(b"0x") || after.starts_with(b"0X") { 2 } else { 0 };
        let has_comma = rest.iter().take(signs).any(|byte| *byte == b',');
        if has_comma && lead == 0 { 0 } else { signs + lead }
    }
}

fn is_sign(byte: u8) -> bool {
    is_part(byte) && !byte.is_ascii_alphanumeric()
}

impl Iterator for HexRuns<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        if let Some(found) = self.waiting.take() {
            return Some(found);
        }
        loop {
            if self.at >= self.end {
                if let Some(found) = self.finish() {
                    return Some(found);
                }
                self.next_region()?;
            }
            let at = self.at + self.between();
            self.at = at + 1;
            let found = match self.text.get(at).filter(|_| at < self.end) {
                Some(digit) if digit.is_ascii_hexdigit() => self.digit(*digit, at),
                _ => self.finish(),
            };
            if found.is_some() {
                return found;
            }
        }
    }
}

/// Decodes a run of [`HexRuns`].
pub(in crate::guard) fn decode(run: &[u8], into: &mut Vec<u8>) {
    into.clear();
    let (mut first, mut at) = (None, 0);
    while let Some(byte) = run.get(at) {
        let is_lead = *byte == b'0' && matches!(run.get(at + 1), Some(b'x' | b'X'));
        at += if is_lead { 2 } else { 1 };
        let digit = char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        match (digit.filter(|_| !is_lead), first.take()) {
            (Some(digit), None) => first = Some(digit),
            (Some(digit), Some(high)) => into.push(high << 4 | digit),
            (None, kept) => first = kept,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HexRuns, decode};

    fn texts(text: &str) -> Vec<String> {
        let mut buffer = Vec::new();
        let runs = HexRuns::new(text.as_bytes());
        let texts = runs.map(|(start, end)| {
            decode(&text.as_bytes()[start..end], &mut buffer);
            String::from_utf8_lossy(&buffer).into_owned()
        });
        texts.collect()
    }

    fn joined(text: &str, by: &str, lead: &str, size: usize) -> String {
        let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        let groups =
            hex.as_bytes().chunks(size).map(|group| format!("{lead}{}", String::from_utf8_lossy(group)));
        groups.collect::<Vec<_>>().join(by)
    }

    #[test]
    fn text_is_read_however_it_is_joined() {
        let secret = "a secret in text";
        for by in ["", ":", "-", "_", " ", "  ", ", 0x", " 0x", "\n", ":0x"] {
            for size in [2, 3, 4, 8, 64] {
                for lead in ["", "0x"] {
                    let hex = joined(secret, by, "", size);
                    for around in
                        ["", " ", "see ", "the key is ", "made:", "f", "0", "=", "no more than that: "]
                    {
                        let text = format!("{around}{lead}{hex}{}", around.chars().rev().collect::<String>());
                        let found = texts(&text);
                        assert!(found.iter().any(|found| found.contains(&secret[1..])), "{text:?} {found:?}");
                    }
                }
            }
        }
        assert_eq!(texts(&joined(secret, ",", "0x", 2)), [secret]);
        assert_eq!(texts(&joined("short", ":", "", 2)), [""; 0]);
    }

    #[test]
    fn ordinary_texts_are_not_read() {
        for text in [
            "2026-11-16 10:00:00 2026-11-17 11:00:00 2026-11-18 12:00:00",
            "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "fe80:0000:0000:0000:01ff:fe23:4567:890a",
            "[25, 26, 27, 45, 46, 47, 52, 53, 54, 55, 61, 62, 63, 64, 65, 66, 67, 68]",
            "a bad cafe, a dead bee, a faded facade; 12 34 56",
        ] {
            assert_eq!(texts(text), [""; 0], "{text}");
        }
    }

    /// Tries every place of a run, and several lengths.
    #[test]
    fn no_run_is_missed() {
        let quiet = "quiet text of no interest; ".repeat(4);
        for before in 0..70 {
            for length in 12..40 {
                let secret = &"Zq7 key+".repeat(8)[..length];
                for by in ["", ":"] {
                    let text = format!("{};{};{quiet}", &quiet[..before], joined(secret, by, "", 2));
                    assert_eq!(texts(&text), [secret], "{text}");
                }
            }
        }
    }
}
