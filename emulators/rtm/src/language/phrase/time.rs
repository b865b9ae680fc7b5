//! Times of day in words.

use jiff::civil::Time;

/// The time these words begin with, and how many of them say it.
pub(super) fn time_in(words: &[&str]) -> Option<(Time, usize)> {
    match words {
        ["at" | "@", word, half @ ("am" | "pm"), ..] => {
            clock(&format!("{word}{half}"), BareNumber::Allowed).map(|time| (time, 3))
        }
        ["at" | "@", word, ..] => clock(word, BareNumber::Allowed).map(|time| (time, 2)),
        [word, half @ ("am" | "pm"), ..] => {
            clock(&format!("{word}{half}"), BareNumber::Refused).map(|time| (time, 2))
        }
        [word, ..] => {
            let word = word.strip_prefix('@').unwrap_or(word);
            clock(word, BareNumber::Refused).map(|time| (time, 1))
        }
        [] => None,
    }
}

/// Whether `9` alone is a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BareNumber {
    Allowed,
    Refused,
}

fn clock(word: &str, bare: BareNumber) -> Option<Time> {
    match word {
        "noon" | "midday" => return Time::new(12, 0, 0, 0).ok(),
        "midnight" => return Time::new(0, 0, 0, 0).ok(),
        _ => {}
    }
    let half = ["am", "pm", "a", "p"].into_iter().find(|half| word.ends_with(half));
    let digits = half.map_or(word, |half| word.trim_end_matches(half));
    let colon = digits.contains([':', '.', 'h']);
    let (hour, minute) = digits.split_once([':', '.', 'h']).unwrap_or((digits, "0"));
    if half.is_none() && !word.contains(':') && (bare == BareNumber::Refused || colon) {
        return None;
    }
    let hour: i8 = hour.parse().ok()?;
    let minute: i8 = minute.parse().ok()?;
    let hour = match half {
        None => hour,
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some("am" | "a") => hour % 12,
        Some(_) => hour % 12 + 12,
    };
    Time::new(hour, minute, 0, 0).ok()
}
