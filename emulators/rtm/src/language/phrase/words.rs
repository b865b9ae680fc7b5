//! Single words.

use jiff::civil::Weekday;

/// Lower case words; commas fall away.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|character: char| character.is_whitespace() || character == ',')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

pub(crate) fn weekday(word: &str) -> Option<Weekday> {
    // Plurals too: `mondays`, `tues`.
    Some(match word.trim_end_matches('s') {
        "monday" | "mon" | "mo" => Weekday::Monday,
        "tuesday" | "tue" | "tu" => Weekday::Tuesday,
        "wednesday" | "wed" | "we" => Weekday::Wednesday,
        "thursday" | "thur" | "thu" | "th" => Weekday::Thursday,
        "friday" | "fri" | "fr" => Weekday::Friday,
        "saturday" | "sat" | "sa" => Weekday::Saturday,
        "sunday" | "sun" | "su" => Weekday::Sunday,
        _ => return None,
    })
}

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// A month by its name or at least three letters of it.
pub(crate) fn month(word: &str) -> Option<i8> {
    let word = word.trim_end_matches('.');
    if word.len() < 3 {
        return None;
    }
    let place = MONTHS.iter().position(|month| month.starts_with(word))?;
    i8::try_from(place + 1).ok()
}

/// `1st`, `2nd`, `third`.
pub(crate) fn ordinal(word: &str) -> Option<i8> {
    const WORDS: &[&str] = &["first", "second", "third", "fourth", "fifth"];
    if let Some(place) = WORDS.iter().position(|known| *known == word) {
        return i8::try_from(place + 1).ok();
    }
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending))?;
    digits.parse().ok().filter(|day| (1..=31).contains(day))
}

/// The most of anything that is counted. More years than this there are not.
const MOST: i32 = 9_999;

/// A count, in digits or as a word.
pub(crate) fn number(word: &str) -> Option<i32> {
    const WORDS: &[&str] = &[
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    if matches!(word, "a" | "an") {
        return Some(1);
    }
    if let Some(place) = WORDS.iter().position(|known| *known == word) {
        return i32::try_from(place).ok();
    }
    word.parse().ok().filter(|count| (0..=MOST).contains(count))
}
