//! A search for many literals at once, in any case. Written by hand, because there are too many literals for the vector
//! search of `aho-corasick`, and its automaton waits for memory at every byte.
//!
//! Three bytes at every second place are looked up in a filter, which has the first and the second three of each literal.
//! Only where it says yes are literals compared.

/// The bits of the filter's hash.
const HASH_BITS: u32 = 16;
const FILTER_WORDS: usize = 1 << (HASH_BITS - 6);
const BUCKETS: usize = 1 << 10;
/// The bytes that are read at once, and how far the next read is. Three places fit into one read.
const READ: usize = 8;
const STRIDE: usize = 6;

/// Literals of at least three bytes.
#[derive(Debug)]
pub(in crate::guard) struct AnchorSet {
    filter: Box<[u64; FILTER_WORDS]>,
    /// The literals by the hash of their first three bytes.
    buckets: Vec<Vec<AnchorEntry>>,
}

/// A literal, and its first eight bytes in the form that [`folded`] gives a text.
#[derive(Debug, Clone)]
struct AnchorEntry {
    index: usize,
    literal: Box<[u8]>,
    first: u64,
    /// The bytes of `first` that count.
    mask: u64,
}

impl AnchorEntry {
    fn new(index: usize, literal: &[u8]) -> AnchorEntry {
        let mask = u64::MAX >> (8 * READ.saturating_sub(literal.len()));
        AnchorEntry { index, literal: Box::from(literal), first: folded(literal) & mask, mask }
    }

    fn begins(&self, text: &[u8], first: u64) -> bool {
        first & self.mask == self.first
            && text.get(..self.literal.len()).is_some_and(|text| text.eq_ignore_ascii_case(&self.literal))
    }
}

/// The first eight bytes of a text without their case, filled up with zeros.
fn folded(text: &[u8]) -> u64 {
    u64::from_le_bytes(text.first_chunk().copied().unwrap_or_else(|| padded(text))) | 0x2020_2020_2020_2020
}

fn padded(text: &[u8]) -> [u8; READ] {
    let mut bytes = [0; READ];
    for (byte, given) in bytes.iter_mut().zip(text) {
        *byte = *given;
    }
    bytes
}

/// A literal of the set in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::guard) struct Occurrence {
    pub(in crate::guard) literal: usize,
    pub(in crate::guard) start: usize,
    pub(in crate::guard) end: usize,
}

impl AnchorSet {
    /// The fewest bytes of a literal. Shorter ones are never found.
    pub(in crate::guard) const SHORTEST: usize = 3;

    pub(in crate::guard) fn new<T: AsRef<[u8]>>(literals: impl IntoIterator<Item = T>) -> AnchorSet {
        let mut set = AnchorSet { filter: Box::new([0; FILTER_WORDS]), buckets: vec![Vec::new(); BUCKETS] };
        for (index, literal) in literals.into_iter().enumerate() {
            set.add(index, literal.as_ref());
        }
        set
    }

    fn add(&mut self, index: usize, literal: &[u8]) {
        let [first, second, third, rest @ ..] = literal else { return };
        let start = hash_of([*first, *second, *third]);
        // A literal of three bytes is followed by any other.
        let (second, third) = (*second, *third);
        let following = rest.first().map_or(0..=u8::MAX, |next| *next..=*next);
        let hashes = following.map(|next| hash_of([second, third, next])).chain([start]);
        for hash in hashes {
            if let Some(word) = self.filter.get_mut(hash as usize >> 6) {
                *word |= 1 << (hash & 63);
            }
        }
        if let Some(bucket) = self.buckets.get_mut(bucket_of(start)) {
            bucket.push(AnchorEntry::new(index, literal));
        }
    }

    pub(in crate::guard) fn is_match(&self, text: &[u8]) -> bool {
        self.find_all(text).next().is_some()
    }

    /// Every literal at every place, in the order of the places.
    pub(in crate::guard) fn find_all<'s>(&'s self, text: &'s [u8]) -> Occurrences<'s> {
        Occurrences { set: self, text, at: 0, start: 0, starts_end: 0, in_bucket: 0 }
    }

    /// The next even place from `at` on that may be the first or second byte of a literal.
    fn candidate(&self, text: &[u8], mut at: usize) -> Option<usize> {
        while let Some(bytes) = text.get(at..at + READ).and_then(<[u8]>::first_chunk) {
            if let Some(place) = self.place_in(*bytes) {
                return Some(at + place);
            }
            at += STRIDE;
        }
        // Fewer than eight bytes are left.
        while let Some(rest) = text.get(at..).filter(|rest| rest.len() >= 2) {
            if let Some(place) = self.place_in(padded(rest)) {
                return Some(at + place);
            }
            at += STRIDE;
        }
        None
    }

    /// The first of three places in eight bytes that the filter knows.
    fn place_in(&self, bytes: [u8; READ]) -> Option<usize> {
        let word = u64::from_le_bytes(bytes);
        let [first, second, third] =
            [word, word >> 16, word >> 32].map(|three| self.knows(hash(three as u32)));
        match first | second | third {
            false => None,
            true if first => Some(0),
            true if second => Some(2),
            true => Some(4),
        }
    }

    fn knows(&self, hash: u32) -> bool {
        self.filter.get(hash as usize >> 6).is_some_and(|word| word >> (hash & 63) & 1 == 1)
    }
}

/// Upper and lower case have the same hash. So have some signs, which are told apart when literals are compared.
fn hash(three: u32) -> u32 {
    ((three & 0xff_ffff) | 0x20_2020).wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS)
}

fn hash_of([first, second, third]: [u8; 3]) -> u32 {
    hash(u32::from_le_bytes([first, second, third, 0]))
}

fn bucket_of(hash: u32) -> usize {
    hash as usize % BUCKETS
}

pub(in crate::guard) struct Occurrences<'s> {
    set: &'s AnchorSet,
    text: &'s [u8],
    /// The next place that the filter is asked about.
    at: usize,
    /// The places where literals may start, and the position in the bucket of the first.
    start: usize,
    starts_end: usize,
    in_bucket: usize,
}

impl Iterator for Occurrences<'_> {
    type Item = Occurrence;

    fn next(&mut self) -> Option<Occurrence> {
        loop {
            while self.start < self.starts_end {
                if let Some(found) = self.next_at_start() {
                    return Some(found);
                }
                (self.start, self.in_bucket) = (self.start + 1, 0);
            }
            let place = self.set.candidate(self.text, self.at)?;
            self.at = place + 2;
            (self.start, self.starts_end, self.in_bucket) = (place.saturating_sub(1), place + 1, 0);
        }
    }
}

impl Occurrences<'_> {
    fn next_at_start(&mut self) -> Option<Occurrence> {
        let rest = self.text.get(self.start..)?;
        let first = folded(rest);
        let bucket = self.set.buckets.get(bucket_of(hash(first as u32)))?;
        while let Some(anchor) = bucket.get(self.in_bucket) {
            self.in_bucket += 1;
            if anchor.begins(rest, first) {
                let (start, end) = (self.start, self.start + anchor.literal.len());
                return Some(Occurrence { literal: anchor.index, start, end });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{AnchorSet, Occurrence};

    const LITERALS: [&str; 7] =
        ["sk-", "eyJ", "secret", "secretly", "cret", "\u{438}\u{433}\u{43d}", "api key"];

    /// Every literal at every place, the plain way.
    fn expected(text: &[u8]) -> Vec<Occurrence> {
        let mut all = Vec::new();
        for start in 0..text.len() {
            for (literal, words) in LITERALS.iter().enumerate() {
                let end = start + words.len();
                if text.get(start..end).is_some_and(|part| part.eq_ignore_ascii_case(words.as_bytes())) {
                    all.push(Occurrence { literal, start, end });
                }
            }
        }
        all
    }

    #[test]
    fn every_literal_is_found_at_every_place() {
        let set = AnchorSet::new(LITERALS);
        let filler = "the quick brown fox; {\"a\": [1, 2]} \u{436}\u{e9}";
        for literal in LITERALS.iter().flat_map(|literal| [literal.to_string(), literal.to_ascii_uppercase()])
        {
            for before in (0..=filler.len()).filter(|at| filler.is_char_boundary(*at)) {
                for after in (0..=24).filter(|at| filler.is_char_boundary(*at)) {
                    let text = format!("{}{literal}{}", &filler[..before], &filler[..after]);
                    let mut found: Vec<_> = set.find_all(text.as_bytes()).collect();
                    found.sort_by_key(|one| (one.start, one.literal));
                    assert!(!found.is_empty() && found == expected(text.as_bytes()), "{text:?} {found:?}");
                }
            }
        }
        let mixed = "sk-sk-SeCrEtlyeyJeyjsecretsecretlyapi keyapi_key".repeat(3);
        let mut found: Vec<_> = set.find_all(mixed.as_bytes()).collect();
        assert!(found.is_sorted_by_key(|one| one.start));
        found.sort_by_key(|one| (one.start, one.literal));
        assert_eq!(found, expected(mixed.as_bytes()));
        for text in ["", "s", "sk", "\u{438}", filler] {
            assert!(!set.is_match(text.as_bytes()), "{text}");
        }
    }
}
