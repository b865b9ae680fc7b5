//! The three detectors: a quick look that may say yes too often, and an exact one that does not.

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
use failwell_fault::{Fault, OrFault, reason};

use super::category::{Category, Guard};
use super::pattern::{Case, Patterns, Row, Span};
use super::pem::{self, Block};
use super::settings::Sensitivity;
use super::{checks, credentials, injection, pii, secrets};

/// All three.
#[derive(Debug)]
pub(super) struct Detectors {
    secret_anchors: AhoCorasick,
    injection_anchors: AhoCorasick,
    secrets: Patterns,
    pii: Patterns,
    injection: Patterns,
}

impl Detectors {
    pub(super) fn compile(sensitivity: Sensitivity) -> Result<Detectors, Fault> {
        let all =
            |rows: &'static [Row]| rows.iter().filter(|row| row.from <= sensitivity).collect::<Vec<_>>();
        Ok(Detectors {
            secret_anchors: anchors(secrets::ANCHORS, Case::Told)?,
            injection_anchors: anchors(injection::ANCHORS, Case::Ignored)?,
            secrets: Patterns::compile(&secrets::ROWS.iter().collect::<Vec<_>>(), Case::Told)?,
            pii: Patterns::compile(&pii::ROWS.iter().collect::<Vec<_>>(), Case::Told)?,
            injection: Patterns::compile(&all(injection::ROWS), Case::Ignored)?,
        })
    }

    /// Whether a text may hold something of these categories, encoded text aside.
    pub(super) fn stirs(&self, text: &[u8], wanted: u64) -> bool {
        let of = |guard| wanted & bits(guard) != 0;
        of(Guard::Secrets) && self.may_hold_secrets(text, wanted)
            || of(Guard::Pii) && pii::may_be_in(text)
            || of(Guard::Injection) && self.injection_anchors.is_match(text)
    }

    fn may_hold_secrets(&self, text: &[u8], wanted: u64) -> bool {
        self.secret_anchors.is_match(text)
            || credentials::may_be_in(text)
            || wanted & Category::Entropy.bit() != 0
    }

    /// Finds everything of these categories in a text. Says whether a private key goes on after it.
    pub(super) fn find(&self, text: &[u8], wanted: u64, spans: &mut Vec<Span>) -> Block {
        if wanted & bits(Guard::Pii) != 0 && pii::may_be_in(text) {
            for (from, to) in pii::Numbers::of(text) {
                self.pii.find(text, from, to, wanted, spans);
            }
            pii::find(text, wanted, spans);
        }
        if wanted & bits(Guard::Injection) != 0 && self.injection_anchors.is_match(text) {
            self.injection.find(text, 0, text.len(), wanted, spans);
        }
        self.find_secrets(text, wanted, spans)
    }

    fn find_secrets(&self, text: &[u8], wanted: u64, spans: &mut Vec<Span>) -> Block {
        if wanted & bits(Guard::Secrets) == 0 || !self.may_hold_secrets(text, wanted) {
            return Block::Closed;
        }
        self.secrets.find(text, 0, text.len(), wanted, spans);
        if wanted & Category::ConnectionString.bit() != 0 {
            credentials::find(text, spans);
        }
        if wanted & Category::Entropy.bit() != 0 {
            random_words(text, spans);
        }
        if wanted & Category::PrivateKey.bit() != 0 { pem::find(text, spans) } else { Block::Closed }
    }
}

fn anchors(words: &[&str], case: Case) -> Result<AhoCorasick, Fault> {
    AhoCorasickBuilder::new()
        .match_kind(MatchKind::LeftmostFirst)
        .ascii_case_insensitive(case == Case::Ignored)
        .build(words)
        .or_fault(&reason::SERVER_BUG)
}

/// The categories of a guard.
pub(super) fn bits(guard: Guard) -> u64 {
    let (first, last) = match guard {
        Guard::Secrets => (Category::AwsAccessKey, Category::Entropy),
        Guard::Pii => (Category::Email, Category::InAadhaar),
        Guard::Injection => (Category::Delimiter, Category::HiddenText),
    };
    (last.bit() << 1) - first.bit()
}

/// Words of a key's length in which every character is a surprise.
fn random_words(text: &[u8], spans: &mut Vec<Span>) {
    let is_part =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-' | b'=');
    let mut start = 0;
    for word in text.split(|byte| !is_part(byte)) {
        let end = start + word.len();
        let kinds: [fn(&u8) -> bool; 3] =
            [u8::is_ascii_uppercase, u8::is_ascii_lowercase, u8::is_ascii_digit];
        let mixed = kinds.iter().all(|kind| word.iter().any(kind));
        // Our own label, where the protocol wants base64.
        let ours = word.starts_with(b"W3JlZGFjdGVkOi");
        if (20..=200).contains(&word.len()) && mixed && !ours && checks::entropy(word) >= least(word.len()) {
            spans.push(Span { start, end, category: Category::Entropy });
        }
        start = end + 1;
    }
}

/// Short words cannot surprise as much as long ones.
fn least(length: usize) -> f64 {
    match length {
        0..=23 => 4.0,
        24..=31 => 4.2,
        32..=47 => 4.4,
        _ => 4.7,
    }
}

#[cfg(test)]
mod tests {
    use super::{Category, Guard, bits};

    #[test]
    fn every_category_is_among_the_bits_of_its_guard_alone() {
        for category in Category::all() {
            for guard in Guard::ALL {
                assert_eq!(bits(guard) & category.bit() != 0, guard == category.guard(), "{category:?}");
            }
        }
    }
}
