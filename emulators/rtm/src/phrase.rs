//! Dates, times and lengths of time in the English words the service understands.

mod date;
mod span;
mod time;
mod words;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

use crate::account::{Account, When};

pub(crate) use date::date_in;
pub(crate) use span::{Span, Unit, seconds, span};
pub(crate) use words::{month, number, ordinal, weekday, words};

/// What words like `today` refer to.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) now: Timestamp,
    pub(crate) zone: TimeZone,
    /// Whether 5/9 is the fifth of September.
    pub(crate) day_first: bool,
}

impl Context {
    pub(crate) fn of(account: &Account, now: Timestamp) -> Context {
        Context { now, zone: account.zone(), day_first: account.day_first }
    }

    pub(crate) fn local(&self) -> DateTime {
        self.zone.to_datetime(self.now)
    }

    pub(crate) fn today(&self) -> Date {
        self.local().date()
    }

    fn moment(&self, local: DateTime) -> Option<When> {
        let at = self.zone.to_ambiguous_zoned(local).compatible().ok()?.timestamp();
        Some(When { at, timed: true })
    }
}

/// A day or a moment in words, in the account's time zone.
pub(crate) fn when(text: &str, context: &Context) -> Option<When> {
    let text = text.trim();
    if let Some(exact) = exact(text, context) {
        return Some(exact);
    }
    let words = words(text);
    in_words(&words.iter().map(String::as_str).collect::<Vec<_>>(), context)
}

/// ISO 8601: with a zone, without one, or a date alone.
pub(crate) fn exact(text: &str, context: &Context) -> Option<When> {
    if !text.starts_with(|first: char| first.is_ascii_digit()) || text.len() < 10 {
        return None;
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Timestamp::from_second(at.as_second()).ok().map(|at| When { at, timed: true });
    }
    if text.len() == 10 {
        return When::day(text.parse().ok()?, &context.zone);
    }
    context.moment(text.parse().ok()?)
}

/// What a program sends: a time without a zone is one of UTC, a date alone one of the account's time zone.
pub(crate) fn sent(text: &str, context: &Context) -> Option<When> {
    let zone = if text.trim().len() == 10 { context.zone.clone() } else { TimeZone::UTC };
    exact(text.trim(), &Context { zone, ..context.clone() })
}

/// Everything that was said, in any order, each once; words nobody knows make nothing of the whole.
fn in_words(words: &[&str], context: &Context) -> Option<When> {
    if words == ["now"] {
        return Some(When { at: context.now, timed: true });
    }
    let (mut day, mut hour): (Option<Date>, Option<Time>) = (None, None);
    let mut rest = words;
    while !rest.is_empty() {
        if let Some((at, used)) =
            span::moment_from_now(rest, context).filter(|_| day.is_none() && hour.is_none())
        {
            rest = rest.get(used..)?;
            return rest.is_empty().then_some(When { at, timed: true });
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
        (Some(day), None) => When::day(day, &context.zone),
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
