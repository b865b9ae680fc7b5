//! The keywords that look at one value and apply no other schema.

use std::cmp::Ordering;

use failwell_fault::Rule;
use serde_json::Value;

use crate::schema::equality::{are_equal, are_unique};
use crate::schema::findings::{Findings, Flow};
use crate::schema::number;
use crate::schema::tree::{Keyword, Measure, NumberLimit};

pub(super) fn assertion(keyword: &Keyword, value: &Value, findings: &mut Findings<'_>) -> Flow {
    match (keyword, value) {
        (Keyword::False, _) => findings.add(Rule::Schema),
        (Keyword::Type(types), _) if !types.iter().any(|one| one.holds(value)) => findings.add_type(types),
        (Keyword::Const(expected), _) if !are_equal(expected, value) => {
            findings.add_limited(Rule::Constant, expected)
        }
        (Keyword::Enum(options), _) if !is_among(options, value) => {
            findings.add_limited(Rule::Choice, options)
        }
        (Keyword::Minimum(bound), Value::Number(number)) => {
            let order = number::compare(number, &bound.limit);
            check_bound(bound, order, Ordering::Less, Rule::Minimum, findings)
        }
        (Keyword::Maximum(bound), Value::Number(number)) => {
            let order = number::compare(number, &bound.limit);
            check_bound(bound, order, Ordering::Greater, Rule::Maximum, findings)
        }
        (Keyword::MultipleOf(divisor), Value::Number(number)) if !number::is_multiple(number, divisor) => {
            findings.add_counted(Rule::MultipleOf, divisor.as_f64().unwrap_or(f64::NAN))
        }
        (Keyword::Pattern(pattern), Value::String(text)) if !pattern.is_match(text) => {
            findings.add(Rule::Pattern)
        }
        (Keyword::UniqueItems, Value::Array(items)) if !are_unique(items) => findings.add(Rule::UniqueItems),
        (Keyword::AtLeast(measure, least), _) => match size(*measure, value) {
            Some(size) if size < *least => too_small(*measure, *least, findings),
            _ => Flow::Continue(()),
        },
        (Keyword::AtMost(measure, most), _) => match size(*measure, value) {
            Some(size) if size > *most => too_large(*measure, *most, findings),
            _ => Flow::Continue(()),
        },
        _ => Flow::Continue(()),
    }
}

fn is_among(options: &Value, value: &Value) -> bool {
    options.as_array().is_some_and(|options| options.iter().any(|option| are_equal(option, value)))
}

fn check_bound(
    bound: &NumberLimit,
    order: Ordering,
    beyond: Ordering,
    rule: Rule,
    findings: &mut Findings<'_>,
) -> Flow {
    if order == beyond || (bound.is_exclusive && order == Ordering::Equal) {
        return findings.add_limited(rule, &Value::Number(bound.limit.clone()));
    }
    Flow::Continue(())
}

fn size(measure: Measure, value: &Value) -> Option<u64> {
    let size = match (measure, value) {
        (Measure::Length, Value::String(text)) => text.chars().count(),
        (Measure::Items, Value::Array(items)) => items.len(),
        (Measure::Properties, Value::Object(members)) => members.len(),
        _ => return None,
    };
    u64::try_from(size).ok()
}

fn too_small(measure: Measure, least: u64, findings: &mut Findings<'_>) -> Flow {
    match measure {
        Measure::Length => findings.add_counted(Rule::MinLength, least),
        Measure::Items => findings.add_counted(Rule::MinItems, least),
        Measure::Properties => findings.add(Rule::Schema),
    }
}

fn too_large(measure: Measure, most: u64, findings: &mut Findings<'_>) -> Flow {
    match measure {
        Measure::Length => findings.add_counted(Rule::MaxLength, most),
        Measure::Items => findings.add_counted(Rule::MaxItems, most),
        Measure::Properties => findings.add(Rule::Schema),
    }
}
