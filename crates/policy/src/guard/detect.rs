//! The three detectors. Each has a quick check with false positives and an exact match without them.

mod anchors;
pub(in crate::guard) mod checks;
pub(in crate::guard) mod encoded;
pub(in crate::guard) mod hex;
pub(in crate::guard) mod injection;
pub(in crate::guard) mod pattern;
pub(in crate::guard) mod pii;
pub(in crate::guard) mod secrets;

use failwell_fault::Fault;

use self::anchors::AnchorSet;
use self::pattern::{Case, PatternRow, Patterns, Span};
use self::secrets::SecretDetector;
use self::secrets::pem::PemBlock;
use super::category::{Category, Guard};
use super::settings::Sensitivity;

#[derive(Debug)]
pub(super) struct Detectors {
    secrets: SecretDetector,
    injection_anchors: AnchorSet,
    pii: Patterns,
    injection: Patterns,
}

impl Detectors {
    pub(super) fn compile(sensitivity: Sensitivity) -> Result<Detectors, Fault> {
        Ok(Detectors {
            secrets: SecretDetector::new(),
            injection_anchors: AnchorSet::new(injection::anchors()),
            pii: Patterns::compile(&pii::ROWS.iter().collect::<Vec<_>>(), Case::Sensitive)?,
            injection: Patterns::compile(&injection_rows(sensitivity), Case::Insensitive)?,
        })
    }

    /// Returns true if a text may match these categories. Encoded text is not considered.
    pub(super) fn may_match(&self, text: &[u8], wanted: u64) -> bool {
        let of = |guard| wanted & bits(guard) != 0;
        of(Guard::Secrets) && self.may_hold_secrets(text, wanted)
            || of(Guard::Pii) && pii::may_be_in(text)
            || of(Guard::Injection) && self.injection_anchors.is_match(text)
    }

    fn may_hold_secrets(&self, text: &[u8], wanted: u64) -> bool {
        self.secrets.may_match(text)
            || secrets::credentials::may_be_in(text)
            || wanted & Category::Entropy.bit() != 0
    }

    /// Finds all matches of these categories. Returns whether a private key continues after the text.
    pub(super) fn find(&self, text: &[u8], wanted: u64, spans: &mut Vec<Span>) -> PemBlock {
        if wanted & bits(Guard::Pii) != 0 && pii::may_be_in(text) {
            for (from, to) in pii::DigitRuns::new(text) {
                self.pii.find(text, from, to, wanted, spans);
            }
            pii::find(text, wanted, spans);
        }
        if wanted & bits(Guard::Injection) != 0 && self.injection_anchors.is_match(text) {
            for (from, to) in injection::windows(&self.injection_anchors, text) {
                self.injection.find(text, from, to, wanted, spans);
            }
        }
        self.find_secrets(text, wanted, spans)
    }

    fn find_secrets(&self, text: &[u8], wanted: u64, spans: &mut Vec<Span>) -> PemBlock {
        if wanted & bits(Guard::Secrets) == 0 {
            return PemBlock::Closed;
        }
        let block = self.secrets.find(text, wanted, spans);
        if wanted & Category::ConnectionString.bit() != 0 {
            secrets::credentials::find(text, spans);
        }
        if wanted & Category::Entropy.bit() != 0 {
            random_words(text, spans);
        }
        block
    }
}

/// The rows of this sensitivity, in English and in other languages.
fn injection_rows(sensitivity: Sensitivity) -> Vec<&'static PatternRow> {
    injection::rows().filter(|row| row.from <= sensitivity).collect()
}

/// The categories of a guard, as a bit set.
pub(super) fn bits(guard: Guard) -> u64 {
    let (first, last) = match guard {
        Guard::Secrets => (Category::AwsAccessKey, Category::Entropy),
        Guard::Pii => (Category::Email, Category::MacAddress),
        Guard::Injection => (Category::Delimiter, Category::HiddenText),
    };
    (last.bit() << 1) - first.bit()
}

/// Finds words of the length of a key that have high entropy.
fn random_words(text: &[u8], spans: &mut Vec<Span>) {
    let is_part =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-' | b'=');
    let mut start = 0;
    for word in text.split(|byte| !is_part(byte)) {
        let end = start + word.len();
        let kinds: [fn(&u8) -> bool; 3] =
            [u8::is_ascii_uppercase, u8::is_ascii_lowercase, u8::is_ascii_digit];
        let mixed = kinds.iter().all(|kind| word.iter().any(kind));
        // The base64 form of the label `[redacted:`, used where the protocol requires base64.
        let ours = word.starts_with(b"W3JlZGFjdGVkOi");
        if (20..=200).contains(&word.len()) && mixed && !ours && checks::entropy(word) >= least(word.len()) {
            spans.push(Span { start, end, category: Category::Entropy });
        }
        start = end + 1;
    }
}

/// The entropy threshold for a word of this length. Short words cannot reach that of long ones.
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
    use super::anchors::AnchorSet;
    use super::{Category, Guard, bits, injection};

    #[test]
    fn every_word_of_an_injection_is_long_enough_for_the_search() {
        let short: Vec<String> =
            injection::anchors().into_iter().filter(|word| word.len() < AnchorSet::SHORTEST).collect();
        assert!(short.is_empty(), "{short:?}");
    }

    #[test]
    fn every_category_is_among_the_bits_of_its_guard_alone() {
        for category in Category::all() {
            for guard in Guard::ALL {
                assert_eq!(bits(guard) & category.bit() != 0, guard == category.guard(), "{category:?}");
            }
        }
    }
}
