//! Lengths of time in words.

use jiff::{SignedDuration, Timestamp};

use super::{DateContext, number};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

/// So many of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) count: i64,
    pub(crate) unit: Unit,
}

pub(crate) fn unit(word: &str) -> Option<Unit> {
    Some(match word.trim_end_matches('.') {
        "s" | "sec" | "secs" | "second" | "seconds" => Unit::Second,
        "m" | "min" | "mins" | "minute" | "minutes" => Unit::Minute,
        "h" | "hr" | "hrs" | "hour" | "hours" => Unit::Hour,
        "d" | "day" | "days" => Unit::Day,
        "w" | "wk" | "wks" | "week" | "weeks" => Unit::Week,
        "month" | "months" | "mth" | "mths" => Unit::Month,
        "y" | "yr" | "yrs" | "year" | "years" => Unit::Year,
        _ => return None,
    })
}

impl Unit {
    fn seconds(self) -> f64 {
        match self {
            Unit::Second => 1.0,
            Unit::Minute => 60.0,
            Unit::Hour => 3_600.0,
            Unit::Day => 86_400.0,
            Unit::Week => 604_800.0,
            Unit::Month => 2_592_000.0,
            Unit::Year => 31_536_000.0,
        }
    }
}

/// One count and one unit: `2 weeks`.
pub(crate) fn span(words: &[&str]) -> Option<Span> {
    let [count, what] = words else { return None };
    Some(Span { count: i64::from(number(count)?), unit: unit(what)? })
}

/// A length in seconds: `2 hours 30 min`, `1.5h`, `1h30m`, `PT1H30M`.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    let lower = text.trim().to_lowercase();
    let lower = lower.strip_prefix("pt").unwrap_or(&lower);
    let mut total = 0.0;
    let mut rest = lower.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|character: char| !character.is_ascii_digit() && character != '.')?;
        let (count, after) = rest.split_at(digits);
        let after = after.trim_start();
        let letters = after.find(|character: char| !character.is_alphabetic()).unwrap_or(after.len());
        let (what, after) = after.split_at(letters);
        total += count.parse::<f64>().ok()? * unit(what)?.seconds();
        rest = after.trim_start_matches([' ', ',']);
    }
    total.is_finite().then_some(total)
}

/// `in 2 hours`, `30 minutes`: a moment, not a day.
pub(super) fn moment_from_now(words: &[&str], context: &DateContext) -> Option<(Timestamp, usize)> {
    let (rest, used) = match words {
        ["in", rest @ ..] => (rest, 1),
        _ => (words, 0),
    };
    let [count, what, after @ ..] = rest else { return None };
    if matches!(after, ["ago", ..]) {
        return None;
    }
    let unit = unit(what).filter(|unit| matches!(unit, Unit::Second | Unit::Minute | Unit::Hour))?;
    let count = f64::from(number(count)?);
    let length = SignedDuration::try_from_secs_f64(count * unit.seconds()).ok()?;
    Some((context.now.checked_add(length).ok()?, used + 2))
}
