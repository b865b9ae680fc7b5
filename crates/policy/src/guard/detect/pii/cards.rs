//! Payment cards, in one pass: every group of digits is looked at a fixed number of times.

use crate::guard::category::Category;
use crate::guard::detect::checks::card_issuer;
use crate::guard::detect::pattern::{Span, before};

/// The most groups that are looked at together.
const MOST_GROUPS: usize = 4_096;
/// The fewest and the most digits of a number, and so the most groups: a digit each.
const LEAST_OF_A_CARD: usize = 12;
const MOST_OF_A_CARD: usize = 19;

#[derive(Debug, Clone, Copy)]
struct DigitGroup {
    start: usize,
    length: usize,
    /// The number of digits before it.
    ahead: usize,
}

/// Groups of digits with one separator between them, and the sums of their digits.
#[derive(Default)]
struct DigitGroups {
    groups: Vec<DigitGroup>,
    digits: Vec<u8>,
    /// Luhn sums up to each digit, for numbers whose last digit has an even or an odd index.
    sums: [Vec<u32>; 2],
}

pub(in crate::guard) fn find(text: &[u8], spans: &mut Vec<Span>) {
    let mut at = 0;
    let mut groups = DigitGroups::default();
    while let Some(first) = text.get(at..).and_then(|rest| rest.iter().position(u8::is_ascii_digit)) {
        let (end, is_whole) = groups.read(text, at + first);
        let next = groups.cards(text, is_whole, spans);
        at = next.unwrap_or(end).max(at + first + 1);
    }
}

impl DigitGroups {
    /// Reads groups from a digit on. Returns where they end, and whether no more follow.
    fn read(&mut self, text: &[u8], start: usize) -> (usize, bool) {
        self.groups.clear();
        self.digits.clear();
        let mut at = start;
        loop {
            let digits = text.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit());
            let ahead = self.digits.len();
            self.digits.extend(digits.map(|byte| byte - b'0'));
            let length = self.digits.len() - ahead;
            self.groups.push(DigitGroup { start: at, length, ahead });
            let end = at + length;
            let is_joined = text.get(end).is_some_and(|byte| is_separator(*byte))
                && text.get(end + 1).is_some_and(u8::is_ascii_digit);
            if !is_joined || self.groups.len() >= MOST_GROUPS {
                self.sum();
                return (end, !is_joined);
            }
            at = end + 1;
        }
    }

    fn sum(&mut self) {
        for (parity, sums) in self.sums.iter_mut().enumerate() {
            sums.clear();
            let mut sum = 0;
            sums.push(sum);
            for (index, digit) in self.digits.iter().enumerate() {
                let digit = u32::from(*digit);
                sum += if index % 2 == parity { digit } else { doubled(digit) };
                sums.push(sum);
            }
        }
    }

    /// Finds the cards among the groups. Returns where to go on if more groups follow.
    fn cards(&self, text: &[u8], is_whole: bool, spans: &mut Vec<Span>) -> Option<usize> {
        let most = self.groups.len().saturating_sub(if is_whole { 0 } else { MOST_OF_A_CARD });
        let mut next = 0;
        while let Some(first) = self.groups.get(next).filter(|_| next < most) {
            match self.card_at(text, next, first) {
                Some(count) => {
                    let last = self.groups.get(next + count - 1)?;
                    let (start, end) = (first.start, last.start + last.length);
                    spans.push(Span { start, end, category: Category::CreditCard });
                    next += count;
                }
                None => next += 1,
            }
        }
        self.groups.get(next).filter(|_| !is_whole).map(|group| group.start)
    }

    /// The number of groups of the longest card that begins at this group.
    fn card_at(&self, text: &[u8], index: usize, first: &DigitGroup) -> Option<usize> {
        if !matches!(self.digits.get(first.ahead), Some(2..=6)) {
            return None;
        }
        let most = MOST_OF_A_CARD / first.length.max(1);
        let groups = self.groups.get(index..)?.iter().take(most + 1);
        let equal = groups.take_while(|group| group.length == first.length).count();
        let size = |place: usize| self.groups.get(index + place).map_or(0, |group| group.length);
        let (last, has_odd) = (size(equal), size(equal) > 0 && size(equal) < first.length);
        let american = (size(0) == 4 && size(1) == 6 && matches!(size(2), 4 | 5)).then_some(3);
        let partial = has_odd.then_some(equal + 1).filter(|_| equal * first.length + last <= MOST_OF_A_CARD);
        let counts = american
            .into_iter()
            .chain(partial)
            .chain((LEAST_OF_A_CARD.div_ceil(first.length.max(1))..=equal.min(most)).rev());
        counts.into_iter().find(|count| self.is_card(text, index, *count))
    }

    fn is_card(&self, text: &[u8], index: usize, count: usize) -> bool {
        let (Some(first), Some(last)) = (self.groups.get(index), self.groups.get(index + count - 1)) else {
            return false;
        };
        let (from, to) = (first.ahead, last.ahead + last.length);
        let issued = || self.digits.get(from..to).is_some_and(card_issuer);
        (LEAST_OF_A_CARD..=MOST_OF_A_CARD).contains(&(to - from))
            && self.luhn(from, to)
            && issued()
            && is_free(text, first.start, last.start + last.length)
    }

    fn luhn(&self, from: usize, to: usize) -> bool {
        let sums = self.sums.get((to + 1) % 2);
        let sum = |at: usize| sums.and_then(|sums| sums.get(at)).copied().unwrap_or(1);
        sum(to).saturating_sub(sum(from)).is_multiple_of(10)
    }
}

fn doubled(digit: u32) -> u32 {
    if digit > 4 { digit * 2 - 9 } else { digit * 2 }
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'-' | b'.' | b'/' | b'\t' | b'\n')
}

/// Accepts a card number that is not part of a word, a fraction or a longer code.
fn is_free(text: &[u8], start: usize, end: usize) -> bool {
    let wordy = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let fraction = before(text, start) == Some(&b'.')
        && start >= 2
        && before(text, start - 1).is_some_and(u8::is_ascii_digit);
    let decimals = text.get(end) == Some(&b'.') && text.get(end + 1).is_some_and(u8::is_ascii_digit);
    !wordy(before(text, start)) && !wordy(text.get(end)) && !fraction && !decimals
}
