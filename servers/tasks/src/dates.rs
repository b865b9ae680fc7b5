//! Dates in the account's time zone.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};

use crate::model::Moment;

/// Formats a date as `2026-11-20`, or as `2026-11-20 15:30` if it has a time.
pub(crate) fn shown(moment: Moment, zone: &TimeZone) -> String {
    let local = moment.at.to_zoned(zone.clone());
    if moment.has_time {
        local.strftime("%Y-%m-%d %H:%M").to_string()
    } else {
        local.strftime("%Y-%m-%d").to_string()
    }
}

/// Parses `2026-11-20`, `2026-11-20T15:30`, `2026-11-20 15:30:00` or a timestamp with its zone (`…Z`,
/// `…+01:00`). The service parses all other texts.
pub(crate) fn read(text: &str, zone: &TimeZone) -> Option<Moment> {
    let text = text.trim();
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(Moment { at, has_time: true });
    }
    let is_date = text.len() == 10;
    if is_date {
        let date: Date = text.parse().ok()?;
        return Some(Moment { at: midnight(date, zone)?, has_time: false });
    }
    let starts_with_date = text.get(..10).is_some_and(|date| date.parse::<Date>().is_ok());
    let time: DateTime = if starts_with_date { text.parse().ok()? } else { return None };
    Some(Moment { at: time.to_zoned(zone.clone()).ok()?.timestamp(), has_time: true })
}

/// The start of a day.
pub(crate) fn midnight(date: Date, zone: &TimeZone) -> Option<Timestamp> {
    Some(date.to_zoned(zone.clone()).ok()?.start_of_day().ok()?.timestamp())
}

/// The service's format of a timestamp.
pub(crate) fn iso(at: Timestamp) -> String {
    let at = Timestamp::from_second(at.as_second()).unwrap_or(at);
    at.to_string()
}

/// A range of whole days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Days {
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
}

impl Days {
    pub(crate) fn new(date: Date, zone: &TimeZone) -> Option<Days> {
        Days::between(date, date.tomorrow().ok()?, zone)
    }

    /// The days from `first` up to, but not including, `end`.
    pub(crate) fn between(first: Date, end: Date, zone: &TimeZone) -> Option<Days> {
        Some(Days { from: midnight(first, zone)?, to: midnight(end, zone)? })
    }

    pub(crate) fn contain(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }
}

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Parses a day of a filter: today, tomorrow, friday, `in 3 days`, `nov 20`, 2026-11-20. 20/11/2026 is
/// accepted only if it is unambiguous.
pub(crate) fn day(words: &str, now: &Zoned) -> Option<Date> {
    let words = words.trim().to_ascii_lowercase();
    let today = now.date();
    match words.as_str() {
        "today" | "tod" | "now" => return Some(today),
        "tomorrow" | "tom" => return today.tomorrow().ok(),
        "yesterday" => return today.yesterday().ok(),
        _ => {}
    }
    if let Ok(date) = words.parse::<Date>() {
        return Some(date);
    }
    let parts: Vec<&str> = words.split([' ', ',']).filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [name] => weekday(name, today),
        ["next", name] => weekday(name, today),
        ["in", count, unit] => shifted(today, count.parse().ok()?, unit),
        [count, unit] if count.parse::<i64>().is_ok() && month(unit).is_none() => {
            shifted(today, count.parse().ok()?, unit)
        }
        [month_name, number] if month(month_name).is_some() => month_day(month(month_name)?, number, today),
        [number, month_name] => month_day(month(month_name)?, number, today),
        [month_name, number, year] if month(month_name).is_some() => {
            Date::new(year.parse().ok()?, month(month_name)?, ordinal(number)?).ok()
        }
        [number, month_name, year] => {
            Date::new(year.parse().ok()?, month(month_name)?, ordinal(number)?).ok()
        }
        _ => None,
    }
}

/// The next such weekday after today.
fn weekday(name: &str, today: Date) -> Option<Date> {
    let index = WEEKDAYS.iter().position(|day| *day == name || name.len() >= 3 && day.starts_with(name))?;
    let wanted = i64::try_from(index).ok()?;
    let current = i64::from(today.weekday().to_monday_zero_offset());
    let ahead = (wanted - current + 6).rem_euclid(7) + 1;
    today.checked_add(ahead.days()).ok()
}

pub(crate) fn shifted(today: Date, count: i64, unit: &str) -> Option<Date> {
    if !(-100_000..=100_000).contains(&count) {
        return None;
    }
    let span = match unit.trim_end_matches('s') {
        "day" => count.days(),
        "week" => count.weeks(),
        "month" => count.months(),
        "year" => count.years(),
        _ => return None,
    };
    today.checked_add(span).ok()
}

fn month(name: &str) -> Option<i8> {
    let short = name.get(..3)?;
    let index = MONTHS.iter().position(|month| *month == short)?;
    i8::try_from(index + 1).ok()
}

fn ordinal(number: &str) -> Option<i8> {
    number.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()
}

/// The next such day, including today.
fn month_day(month: i8, number: &str, today: Date) -> Option<Date> {
    let this_year = Date::new(today.year(), month, ordinal(number)?).ok()?;
    if this_year >= today {
        Some(this_year)
    } else {
        Date::new(today.year() + 1, month, ordinal(number)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::{day, iso, read, shown};
    use jiff::tz::TimeZone;

    fn zone() -> TimeZone {
        TimeZone::get("Europe/Berlin").expect("a zone")
    }

    #[test]
    fn dates_are_read_and_shown_in_the_zone() {
        for (text, utc, back) in [
            ("2026-07-01", "2026-06-30T22:00:00Z", "2026-07-01"),
            ("2026-01-01", "2025-12-31T23:00:00Z", "2026-01-01"),
            ("2026-07-01T15:30", "2026-07-01T13:30:00Z", "2026-07-01 15:30"),
            ("2026-07-01 15:30:10", "2026-07-01T13:30:10Z", "2026-07-01 15:30"),
            ("2026-07-01T15:30:00Z", "2026-07-01T15:30:00Z", "2026-07-01 17:30"),
            ("2026-07-01T15:30:00+05:00", "2026-07-01T10:30:00Z", "2026-07-01 12:30"),
        ] {
            let moment = read(text, &zone()).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((iso(moment.at).as_str(), shown(moment, &zone()).as_str()), (utc, back), "{text}");
        }
        for words in ["tomorrow", "friday at 5", "2026-02-30", "2026", ""] {
            assert!(read(words, &zone()).is_none(), "{words}");
        }
    }

    #[test]
    fn days_are_read_from_words() {
        let now = "2026-11-15T12:00:00+01:00[Europe/Berlin]".parse().expect("a moment");
        for (words, expected) in [
            ("today", Some("2026-11-15")),
            ("Tomorrow", Some("2026-11-16")),
            ("yesterday", Some("2026-11-14")),
            ("sunday", Some("2026-11-22")),
            ("mon", Some("2026-11-16")),
            ("in 3 days", Some("2026-11-18")),
            ("2 weeks", Some("2026-11-29")),
            ("nov 20", Some("2026-11-20")),
            ("3 nov", Some("2027-11-03")),
            ("20th november 2028", Some("2028-11-20")),
            ("2026-12-24", Some("2026-12-24")),
            ("someday", None),
            ("7 days ago", None),
        ] {
            assert_eq!(day(words, &now).map(|it| it.to_string()).as_deref(), expected, "{words}");
        }
    }
}
