//! A rule, as RFC 5545 writes it.

use std::fmt;

use jiff::civil::{Date, Weekday};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frequency {
    Daily,
    Weekly,
    Monthly,
    Yearly,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Counted from the due date (`every`) rather than from the day it was done (`after`).
    pub(crate) every: bool,
    pub(crate) frequency: Frequency,
    pub(crate) interval: i32,
    /// Days of the week, with which of the month they are meant, from its end when negative.
    pub(crate) days: Vec<(Option<i8>, Weekday)>,
    /// Days of the month, from its end when negative.
    pub(crate) month_days: Vec<i8>,
    pub(crate) until: Option<Date>,
    pub(crate) count: Option<u32>,
}

impl Rule {
    pub(crate) fn new(every: bool, frequency: Frequency, interval: i32) -> Rule {
        Rule { every, frequency, interval, days: vec![], month_days: vec![], until: None, count: None }
    }

    /// A rule as it is written below, of an `every` recurrence.
    pub(crate) fn parse(text: &str) -> Option<Rule> {
        let mut rule = Rule::new(true, Frequency::Daily, 1);
        let mut named = false;
        for part in text.trim().split(';') {
            let (name, value) = part.split_once('=')?;
            match name.to_ascii_uppercase().as_str() {
                "FREQ" => {
                    rule.frequency = frequency(value)?;
                    named = true;
                }
                "INTERVAL" => {
                    rule.interval = value.parse().ok().filter(|interval| (1..=1_000).contains(interval))?
                }
                "BYDAY" => rule.days = value.split(',').map(day).collect::<Option<_>>()?,
                "BYMONTHDAY" => rule.month_days = value.split(',').map(month_day).collect::<Option<_>>()?,
                "UNTIL" => rule.until = Some(until(value)?),
                "COUNT" => rule.count = Some(value.parse().ok().filter(|count| *count > 0)?),
                "WKST" => {}
                _ => return None,
            }
        }
        named.then_some(rule)
    }
}

fn frequency(text: &str) -> Option<Frequency> {
    Some(match text.to_ascii_uppercase().as_str() {
        "DAILY" => Frequency::Daily,
        "WEEKLY" => Frequency::Weekly,
        "MONTHLY" => Frequency::Monthly,
        "YEARLY" => Frequency::Yearly,
        _ => return None,
    })
}

fn day(text: &str) -> Option<(Option<i8>, Weekday)> {
    let place = text.find(|character: char| character.is_ascii_alphabetic())?;
    let (which, name) = text.split_at(place);
    let weekday = DAYS.iter().find(|(short, _)| short.eq_ignore_ascii_case(name))?.1;
    let which = if which.is_empty() { None } else { Some(which.parse().ok()?) };
    Some((which, weekday))
}

fn month_day(text: &str) -> Option<i8> {
    text.parse().ok().filter(|day: &i8| *day != 0 && (-31..=31).contains(day))
}

/// 20270101 or 20270101T000000Z.
fn until(text: &str) -> Option<Date> {
    Date::strptime("%Y%m%d", text.get(..8)?).ok()
}

const DAYS: [(&str, Weekday); 7] = [
    ("MO", Weekday::Monday),
    ("TU", Weekday::Tuesday),
    ("WE", Weekday::Wednesday),
    ("TH", Weekday::Thursday),
    ("FR", Weekday::Friday),
    ("SA", Weekday::Saturday),
    ("SU", Weekday::Sunday),
];

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frequency = match self.frequency {
            Frequency::Daily => "DAILY",
            Frequency::Weekly => "WEEKLY",
            Frequency::Monthly => "MONTHLY",
            Frequency::Yearly => "YEARLY",
        };
        write!(out, "FREQ={frequency};INTERVAL={}", self.interval)?;
        let short =
            |weekday: Weekday| DAYS.iter().find(|(_, day)| *day == weekday).map_or("", |(short, _)| short);
        let days: Vec<String> = self
            .days
            .iter()
            .map(|(which, weekday)| {
                format!("{}{}", which.map_or_else(String::new, |which| which.to_string()), short(*weekday))
            })
            .collect();
        if !days.is_empty() {
            write!(out, ";BYDAY={}", days.join(","))?;
        }
        if !self.month_days.is_empty() {
            let days: Vec<String> = self.month_days.iter().map(i8::to_string).collect();
            write!(out, ";BYMONTHDAY={}", days.join(","))?;
        }
        if self.frequency == Frequency::Weekly {
            write!(out, ";WKST=MO")?;
        }
        if let Some(until) = self.until {
            write!(out, ";UNTIL={}T000000", until.strftime("%Y%m%d"))?;
        }
        if let Some(count) = self.count {
            write!(out, ";COUNT={count}")?;
        }
        Ok(())
    }
}
