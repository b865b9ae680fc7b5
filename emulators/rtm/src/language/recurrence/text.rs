//! Rules in words: `every 2 weeks`, `after 3 days`, `every 1st friday until 1/1/2028`.

use jiff::civil::Weekday;

use super::{Frequency, Rule};
use crate::language::phrase::{DateContext, date_in, number, ordinal, weekday, words};

/// The rule these words say, if they say one.
pub(crate) fn read(text: &str, context: &DateContext) -> Option<Rule> {
    if text.trim().to_ascii_uppercase().starts_with("FREQ=") {
        return Rule::parse(text);
    }
    let words = words(text);
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "and").collect();
    let (body, until, count) = bounded(&words, context)?;
    let rule = match body {
        ["after", rest @ ..] => Rule { every: false, ..plain(rest)? },
        ["every" | "each", rest @ ..] => plain(rest)?,
        [only] => adverb(only).or_else(|| plain(body))?,
        _ => plain(body)?,
    };
    Some(Rule { until, count, ..rule })
}

type BoundedText<'a> = (&'a [&'a str], Option<jiff::civil::Date>, Option<u32>);

/// Cuts off `until DATE` and `for N times`.
fn bounded<'a>(words: &'a [&'a str], context: &DateContext) -> Option<BoundedText<'a>> {
    if let Some(place) = words.iter().position(|word| *word == "until") {
        let (date, used) = date_in(words.get(place + 1..)?, context)?;
        return (place + 1 + used == words.len()).then_some((words.get(..place)?, Some(date), None));
    }
    if let [body @ .., "for", count, "times" | "time"] = words {
        let count = u32::try_from(number(count)?).ok().filter(|count| *count > 0)?;
        return Some((body, None, Some(count)));
    }
    Some((words, None, None))
}

fn adverb(word: &str) -> Option<Rule> {
    let (frequency, interval) = match word {
        "daily" => (Frequency::Daily, 1),
        "weekly" => (Frequency::Weekly, 1),
        "biweekly" | "fortnightly" => (Frequency::Weekly, 2),
        "monthly" => (Frequency::Monthly, 1),
        "quarterly" => (Frequency::Monthly, 3),
        "yearly" | "annually" => (Frequency::Yearly, 1),
        _ => return None,
    };
    Some(Rule::new(true, frequency, interval))
}

/// Parses the words after `every`.
fn plain(words: &[&str]) -> Option<Rule> {
    match words {
        ["other", rest @ ..] => with_interval(2, rest),
        [first, rest @ ..] if number(first).is_some() && !rest.is_empty() => {
            with_interval(number(first)?, rest)
        }
        ["weekday" | "weekdays"] => Some(on_days(1, WORKDAYS)),
        ["weekend" | "weekends"] => Some(on_days(1, &[Weekday::Saturday, Weekday::Sunday])),
        _ => all_weekdays(words)
            .map(|days| on_days(1, &days))
            .or_else(|| with_interval(1, words))
            .or_else(|| of_month(1, words)),
    }
}

const WORKDAYS: &[Weekday] =
    &[Weekday::Monday, Weekday::Tuesday, Weekday::Wednesday, Weekday::Thursday, Weekday::Friday];

fn on_days(interval: i32, days: &[Weekday]) -> Rule {
    let days = days.iter().map(|day| (None, *day)).collect();
    Rule { days, ..Rule::new(true, Frequency::Weekly, interval) }
}

fn all_weekdays(words: &[&str]) -> Option<Vec<Weekday>> {
    if words.is_empty() {
        return None;
    }
    words.iter().map(|word| weekday(word)).collect()
}

/// `2 weeks`, `week on monday`, `month on the 4th`.
fn with_interval(interval: i32, words: &[&str]) -> Option<Rule> {
    if !(1..=1_000).contains(&interval) {
        return None;
    }
    match words {
        ["day" | "days"] => Some(Rule::new(true, Frequency::Daily, interval)),
        ["week" | "weeks"] => Some(Rule::new(true, Frequency::Weekly, interval)),
        ["month" | "months"] => Some(Rule::new(true, Frequency::Monthly, interval)),
        ["year" | "years"] => Some(Rule::new(true, Frequency::Yearly, interval)),
        ["week" | "weeks", "on", rest @ ..] => Some(on_days(interval, &all_weekdays(rest)?)),
        ["month" | "months", "on", "the", rest @ ..] | ["month" | "months", "on", rest @ ..] => {
            of_month(interval, rest)
        }
        _ => None,
    }
}

/// `4th`, `1st friday`, `last day`, `last monday`, with or without `of the month`.
fn of_month(interval: i32, words: &[&str]) -> Option<Rule> {
    let words = match words {
        [rest @ .., "of", "the" | "each" | "every", "month"] | [rest @ .., "of", "month"] => rest,
        _ => words,
    };
    let rule = Rule::new(true, Frequency::Monthly, interval);
    match words {
        ["last", "day"] | ["last"] => Some(Rule { month_days: vec![-1], ..rule }),
        ["last", day] => Some(Rule { days: vec![(Some(-1), weekday(day)?)], ..rule }),
        [which, day] if weekday(day).is_some() => {
            let which = ordinal(which).filter(|which| *which <= 5)?;
            Some(Rule { days: vec![(Some(which), weekday(day)?)], ..rule })
        }
        _ => {
            let days: Vec<i8> = words.iter().map(|word| ordinal(word)).collect::<Option<_>>()?;
            (!days.is_empty()).then_some(Rule { month_days: days, ..rule })
        }
    }
}
