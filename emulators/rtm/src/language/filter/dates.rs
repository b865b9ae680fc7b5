//! Conditions on dates, fixed when the filter is read.

use jiff::ToSpan;
use jiff::civil::Date;

use super::operators::TaskDateField;
use crate::language::phrase;
use crate::language::phrase::{DateContext, Span, Unit, words};
use crate::state::account::TaskDate;

/// A condition on one date of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DateTest {
    /// Not set at all.
    Never,
    /// On this day, or at this moment.
    On(TaskDate),
    Before(TaskDate),
    After(TaskDate),
    /// From the first day to the last.
    Between(Date, Date),
    /// The date was not understood: nothing matches.
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    On,
    Before,
    After,
    Within,
}

impl DateTest {
    pub(super) fn read(
        field: TaskDateField,
        relation: Relation,
        value: &str,
        context: &DateContext,
    ) -> DateTest {
        let value = value.trim();
        if relation == Relation::On && value == "never" {
            return DateTest::Never;
        }
        let test = match relation {
            Relation::Within => within(field, value, context),
            Relation::On => phrase::when(value, context).map(DateTest::On),
            Relation::Before => phrase::when(value, context).map(DateTest::Before),
            Relation::After => phrase::when(value, context).map(DateTest::After),
        };
        test.unwrap_or(DateTest::Nothing)
    }

    pub(super) fn holds(self, value: Option<TaskDate>, context: &DateContext) -> bool {
        let Some(value) = value else { return self == DateTest::Never };
        let day = value.date(&context.zone);
        match self {
            DateTest::Never | DateTest::Nothing => false,
            DateTest::On(when) if when.timed => value.at == when.at,
            DateTest::On(when) => day == when.date(&context.zone),
            DateTest::Before(when) => value.at < when.at,
            DateTest::After(when) if when.timed => value.at > when.at,
            DateTest::After(when) => day > when.date(&context.zone),
            DateTest::Between(first, last) => (first..=last).contains(&day),
        }
    }
}

/// `1 week of today`: forward for what lies ahead, both ways for what has happened.
fn within(field: TaskDateField, value: &str, context: &DateContext) -> Option<DateTest> {
    let (length, of) = value.split_once(" of ")?;
    let length = words(length);
    let span = phrase::span(&length.iter().map(String::as_str).collect::<Vec<_>>())?;
    let from = phrase::when(of, context)?.date(&context.zone);
    let ahead = shifted(from, span, 1)?;
    let first = match field {
        TaskDateField::Due | TaskDateField::Start => from,
        TaskDateField::Completed | TaskDateField::Added | TaskDateField::Updated => shifted(from, span, -1)?,
    };
    Some(DateTest::Between(first, ahead))
}

fn shifted(date: Date, span: Span, sign: i64) -> Option<Date> {
    let count = span.count.checked_mul(sign)?;
    let length = match span.unit {
        Unit::Second | Unit::Minute | Unit::Hour => 0.days(),
        Unit::Day => count.days(),
        Unit::Week => count.weeks(),
        Unit::Month => count.months(),
        Unit::Year => count.years(),
    };
    date.checked_add(length).ok()
}
