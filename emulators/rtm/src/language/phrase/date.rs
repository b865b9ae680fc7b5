//! Days in words.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::span::{Unit, unit};
use super::{DateContext, month, number, ordinal, weekday};

/// The day these words begin with, and how many of them say it.
pub(crate) fn date_in(words: &[&str], context: &DateContext) -> Option<(Date, usize)> {
    let today = context.today();
    if let ["on" | "by" | "the", rest @ ..] = words {
        return date_in(rest, context).map(|(date, used)| (date, used + 1));
    }
    let first = *words.first()?;
    let simple = match first {
        "today" | "tod" | "now" => Some(today),
        "tomorrow" | "tom" | "tmr" | "tmrw" => today.tomorrow().ok(),
        "yesterday" => today.yesterday().ok(),
        "eow" => Some(end_of_week(today)?),
        "eom" => Some(today.last_of_month()),
        _ => None,
    };
    simple
        .map(|date| (date, 1))
        .or_else(|| relative(words, today))
        .or_else(|| counted(words, today))
        .or_else(|| numeric(first, context).map(|date| (date, 1)))
        .or_else(|| of_month(words, today))
}

/// `friday`, `next week`, `end of month`.
fn relative(words: &[&str], today: Date) -> Option<(Date, usize)> {
    match words {
        ["end", "of", "the", what, ..] => end_of(what, today).map(|date| (date, 4)),
        ["end", "of", what, ..] => end_of(what, today).map(|date| (date, 3)),
        ["next", "week", ..] => today.checked_add(1.week()).ok().map(|date| (date, 2)),
        ["next", "month", ..] => today.checked_add(1.month()).ok().map(|date| (date, 2)),
        ["next", "year", ..] => today.checked_add(1.year()).ok().map(|date| (date, 2)),
        ["this", day, ..] => {
            let day = weekday(day)?;
            if today.weekday() == day {
                Some((today, 2))
            } else {
                following(today, day).map(|date| (date, 2))
            }
        }
        ["next", day, ..] => {
            let day = weekday(day)?;
            let soon = following(today, day)?;
            // The one of the coming week, which starts on Monday.
            let same_week = soon.weekday().to_monday_zero_offset() > today.weekday().to_monday_zero_offset();
            let date = if same_week { soon.checked_add(1.week()).ok()? } else { soon };
            Some((date, 2))
        }
        [day, ..] => following(today, weekday(day)?).map(|date| (date, 1)),
        [] => None,
    }
}

/// The next such day after this one.
fn following(today: Date, day: Weekday) -> Option<Date> {
    today.nth_weekday(1, day).ok()
}

fn end_of(what: &str, today: Date) -> Option<Date> {
    match what {
        "week" => end_of_week(today),
        "month" => Some(today.last_of_month()),
        "year" => Some(today.last_of_year()),
        _ => None,
    }
}

/// Its Sunday.
fn end_of_week(today: Date) -> Option<Date> {
    let left = i64::from(6 - today.weekday().to_monday_zero_offset());
    today.checked_add(left.days()).ok()
}

/// `in 3 days`, `2 weeks`, `1 month`. `ago` is not understood.
fn counted(words: &[&str], today: Date) -> Option<(Date, usize)> {
    let (rest, used) = match words {
        ["in", rest @ ..] => (rest, 1),
        _ => (words, 0),
    };
    let [count, what, after @ ..] = rest else { return None };
    if matches!(after, ["ago" | "of", ..]) {
        return None;
    }
    let count = i64::from(number(count)?);
    let span = match unit(what)? {
        Unit::Day => count.days(),
        Unit::Week => count.weeks(),
        Unit::Month => count.months(),
        Unit::Year => count.years(),
        Unit::Second | Unit::Minute | Unit::Hour => return None,
    };
    Some((today.checked_add(span).ok()?, used + 2))
}

/// 2026-05-09, 9/5, 9/5/26, 9.5.2026.
fn numeric(word: &str, context: &DateContext) -> Option<Date> {
    let separator = ['/', '-', '.'].into_iter().find(|separator| word.contains(*separator))?;
    let parts: Vec<&str> = word.trim_end_matches('.').split(separator).collect();
    let number = |text: &&str| text.parse::<i16>().ok();
    let numbers: Vec<i16> = parts.iter().map(number).collect::<Option<_>>()?;
    let today = context.today();
    let small = |value: i16| i8::try_from(value).ok();
    match (numbers.as_slice(), parts.first()?.len()) {
        (&[year, month, day], 4) => Date::new(year, small(month)?, small(day)?).ok(),
        (&[first, second, year], _) => {
            let (day, month) = if context.day_first { (first, second) } else { (second, first) };
            let year = if year < 100 { 2000 + year } else { year };
            Date::new(year, small(month)?, small(day)?).ok()
        }
        (&[first, second], _) if separator != '.' || context.day_first => {
            let (day, month) = if context.day_first { (first, second) } else { (second, first) };
            coming(today, small(month)?, small(day)?)
        }
        _ => None,
    }
}

/// `9 may`, `may 9th 2027`, `9th of may`, `9th`.
fn of_month(words: &[&str], today: Date) -> Option<(Date, usize)> {
    let day_of =
        |word: &str| ordinal(word).or_else(|| word.parse().ok()).filter(|day| (1..=31).contains(day));
    let (day, month_number, used) = match words {
        [day, "of", name, ..] if month(name).is_some() => (day_of(day)?, month(name)?, 3),
        [day, name, ..] if month(name).is_some() => (day_of(day)?, month(name)?, 2),
        [name, day, ..] if month(name).is_some() => (day_of(day)?, month(name)?, 2),
        [day, ..] => {
            let day = ordinal(day)?;
            return next_day_of_month(today, day).map(|date| (date, 1));
        }
        [] => return None,
    };
    let year = words.get(used).filter(|word| word.len() == 4).and_then(|word| word.parse::<i16>().ok());
    match year {
        Some(year) => Some((Date::new(year, month_number, day).ok()?, used + 1)),
        None => Some((coming(today, month_number, day)?, used)),
    }
}

/// That day of this year, or of the next when it has passed.
fn coming(today: Date, month: i8, day: i8) -> Option<Date> {
    let years = (0..=8).filter_map(|ahead| Date::new(today.year() + ahead, month, day).ok());
    years.into_iter().find(|date| *date >= today)
}

fn next_day_of_month(today: Date, day: i8) -> Option<Date> {
    let months = (0..=12).filter_map(|ahead: i64| today.first_of_month().checked_add(ahead.months()).ok());
    let days = months.filter_map(|first| Date::new(first.year(), first.month(), day).ok());
    days.into_iter().find(|date| *date >= today)
}
