//! The day that comes next.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::{Frequency, Rule};

/// The first day of the rule after this one, which is one of its days or the day it is counted from.
pub(crate) fn next(rule: &Rule, after: Date) -> Option<Date> {
    let date = match rule.frequency {
        Frequency::Daily => after.checked_add(i64::from(rule.interval).days()).ok(),
        Frequency::Weekly => weekly(rule, after),
        Frequency::Monthly => monthly(rule, after),
        Frequency::Yearly => after.checked_add(i64::from(rule.interval).years()).ok(),
    }?;
    rule.until.is_none_or(|until| date <= until).then_some(date)
}

fn weekly(rule: &Rule, after: Date) -> Option<Date> {
    if rule.days.is_empty() {
        return after.checked_add(i64::from(rule.interval).weeks()).ok();
    }
    let wanted = |date: &Date| rule.days.iter().any(|(_, day)| *day == date.weekday());
    let left = 6 - i64::from(after.weekday().to_monday_zero_offset());
    let this_week = (1..=left).filter_map(|ahead| after.checked_add(ahead.days()).ok()).find(wanted);
    this_week.or_else(|| {
        let monday = after.checked_add((left + 1).days()).ok()?;
        let monday = monday.checked_add(i64::from(rule.interval - 1).weeks()).ok()?;
        (0..7).filter_map(|ahead: i64| monday.checked_add(ahead.days()).ok()).find(wanted)
    })
}

fn monthly(rule: &Rule, after: Date) -> Option<Date> {
    if rule.days.is_empty() && rule.month_days.is_empty() {
        return after.checked_add(i64::from(rule.interval).months()).ok();
    }
    let months = (0..=48).map(|turn: i64| turn * i64::from(rule.interval));
    let months = months.filter_map(|ahead| after.first_of_month().checked_add(ahead.months()).ok());
    months.into_iter().find_map(|first| in_month(rule, first).into_iter().find(|date| *date > after))
}

/// The rule's days of a month, in order.
fn in_month(rule: &Rule, first: Date) -> Vec<Date> {
    let length = first.days_in_month();
    let numbered = rule.month_days.iter().filter_map(|day| {
        let day = if *day < 0 { (length + 1 + *day).max(1) } else { (*day).min(length) };
        Date::new(first.year(), first.month(), day).ok()
    });
    let named = rule.days.iter().flat_map(|(which, day)| weekdays(first, *which, *day));
    let mut days: Vec<Date> = numbered.chain(named).collect();
    days.sort();
    days.dedup();
    days
}

fn weekdays(first: Date, which: Option<i8>, day: Weekday) -> Vec<Date> {
    match which {
        Some(which) => first.nth_weekday_of_month(which, day).into_iter().collect(),
        None => (1..=5).filter_map(|which| first.nth_weekday_of_month(which, day).ok()).collect(),
    }
}
