//! How many texts of a corpus are truly different: a sentence with other words in its gaps is the same text again.

use std::collections::BTreeSet;

/// The words of a text in small letters; numbers and long identifiers are all one word. Scripts without spaces have pairs
/// of signs in place of words.
pub(crate) fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let signs: Vec<char> = word.to_lowercase().chars().collect();
        let digits = signs.iter().filter(|c| c.is_numeric()).count();
        let is_hex = digits > 0 && signs.iter().all(char::is_ascii_hexdigit);
        if is_hex || (signs.len() > 12 && digits > 1) {
            words.insert("#".to_owned());
        } else if signs.iter().any(|c| has_no_spaces(*c)) {
            words.extend(signs.windows(2.min(signs.len())).map(|pair| pair.iter().collect::<String>()));
        } else {
            words.insert(signs.into_iter().collect());
        }
    }
    words
}

/// Kana, Han and Hangul.
fn has_no_spaces(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// The share of words that two texts have in common.
pub(crate) fn likeness(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let common = one.intersection(other).count();
    let all = one.len() + other.len() - common;
    if all == 0 { 1.0 } else { common as f64 / all as f64 }
}

/// The texts that are less than so much like every earlier one that counts.
pub(crate) fn distinct<'a>(texts: impl IntoIterator<Item = &'a str>, most: f64) -> Vec<&'a str> {
    let mut counted: Vec<(&str, BTreeSet<String>)> = Vec::new();
    for text in texts {
        let words = words(text);
        if counted.iter().all(|(_, earlier)| likeness(earlier, &words) < most) {
            counted.push((text, words));
        }
    }
    counted.into_iter().map(|(text, _)| text).collect()
}
