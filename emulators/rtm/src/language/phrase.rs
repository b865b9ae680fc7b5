//! Dates, times and lengths of time in the English words the service understands.

mod date;
mod span;
mod time;
mod words;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

use crate::state::account::{Account, TaskDate};

pub(crate) use date::date_in;
pub(crate) use span::{Span, Unit, seconds, span};
pub(crate) use words::{month, number, ordinal, weekday, words};

/// The moment and time zone that words like `today` refer to.
#[derive(Debug, Clone)]
pub(crate) struct DateContext {
    pub(crate) now: Timestamp,
    pub(crate) zone: TimeZone,
    /// Whether 5/9 is the fifth of September.
    pub(crate) day_first: bool,
}

impl DateContext {
    pub(crate) fn new(account: &Account, now: Timestamp) -> DateContext {
        DateContext { now, zone: account.zone(), day_first: account.day_first }
    }

    pub(crate) fn local(&self) -> DateTime {
        self.zone.to_datetime(self.now)
    }

    pub(crate) fn today(&self) -> Date {
        self.local().date()
    }

    fn moment(&self, local: DateTime) -> Option<TaskDate> {
        let at = self.zone.to_ambiguous_zoned(local).compatible().ok()?.timestamp();
        Some(TaskDate { at, timed: true })
    }
}

/// A day or a moment in words, in the account's time zone.
pub(crate) fn when(text: &str, context: &DateContext) -> Option<TaskDate> {
    let text = text.trim();
    if let Some(exact) = exact(text, context) {
        return Some(exact);
    }
    let words = words(text);
    in_words(&words.iter().map(String::as_str).collect::<Vec<_>>(), context)
}

/// ISO 8601: with a zone, without one, or a date alone.
pub(crate) fn exact(text: &str, context: &DateContext) -> Option<TaskDate> {
    if !text.starts_with(|first: char| first.is_ascii_digit()) || text.len() < 10 {
        return None;
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Timestamp::from_second(at.as_second()).ok().map(|at| TaskDate { at, timed: true });
    }
    if text.len() == 10 {
        return TaskDate::day(text.parse().ok()?, &context.zone);
    }
    context.moment(text.parse().ok()?)
}

/// Parses a date from a program: a time without a zone is in UTC, a date alone is in the account's time zone.
pub(crate) fn sent(text: &str, context: &DateContext) -> Option<TaskDate> {
    let zone = if text.trim().len() == 10 { context.zone.clone() } else { TimeZone::UTC };
    exact(text.trim(), &DateContext { zone, ..context.clone() })
}

/// Parses date and time words in any order, each once. An unknown word makes the whole invalid.
fn in_words(words: &[&str], context: &DateContext) -> Option<TaskDate> {
    if words == ["now"] {
        return Some(TaskDate { at: context.now, timed: true });
    }
    let (mut day, mut hour): (Option<Date>, Option<Time>) = (None, None);
    let mut rest = words;
    while !rest.is_empty() {
        if let Some((at, used)) =
            span::moment_from_now(rest, context).filter(|_| day.is_none() && hour.is_none())
        {
            rest = rest.get(used..)?;
            return rest.is_empty().then_some(TaskDate { at, timed: true });
        } else if let Some((date, used)) = date::date_in(rest, context).filter(|_| day.is_none()) {
            day = Some(date);
            rest = rest.get(used..)?;
        } else if let Some((time, used)) = time::time_in(rest).filter(|_| hour.is_none()) {
            hour = Some(time);
            rest = rest.get(used..)?;
        } else {
            return None;
        }
    }
    match (day, hour) {
        (Some(day), None) => TaskDate::day(day, &context.zone),
        (Some(day), Some(hour)) => context.moment(day.to_datetime(hour)),
        (None, Some(hour)) => {
            let today = context.today().to_datetime(hour);
            let passed = today <= context.local();
            context.moment(if passed { today.tomorrow().ok()? } else { today })
        }
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests;
