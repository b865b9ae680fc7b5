use super::matching::{day_of, within_of};
use super::{Field, Filter, Operator, Relation};
use jiff::Zoned;

/// Hints about unexpected effects of a filter. The service does not report them: it returns no tasks.
pub(crate) fn lint(filter: &Filter, now: &Zoned) -> Vec<String> {
    let terms = filter.terms();
    let mut hints: Vec<String> = terms.iter().filter_map(|term| hint(term, now)).collect();
    let says_status = terms
        .iter()
        .any(|term| matches!(term.operator, Operator::Status | Operator::When(Field::Completed, _)));
    if !says_status {
        hints.push("without status:incomplete, completed tasks are found too".to_owned());
    }
    hints
}

fn hint(term: &super::Term, now: &Zoned) -> Option<String> {
    let value = term.value.to_ascii_lowercase();
    match term.operator {
        Operator::When(_, Relation::Within) => within_of(&value, now).is_none().then(|| {
            format!("`{}` is no span: write \"7 days of today\" or \"1 week of tomorrow\"", term.value)
        }),
        Operator::When(field, relation) if value.ends_with(" ago") => {
            let name = format!("{field:?}").to_ascii_lowercase();
            let side = if relation == Relation::After { "the last" } else { "older ones: NOT the last" };
            let days = value.trim_end_matches(" ago");
            Some(format!(
                "`{}` matches no task at the service; for {side} {days} write {name}Within:\"{days} of today\"",
                term.value
            ))
        }
        Operator::When(_, relation) if relation != Relation::Within && value != "never" => {
            day_of(&value, now)
                .is_none()
                .then(|| format!("`{}` may not be a date to the service: write it as 2026-11-20", term.value))
        }
        Operator::Status if !matches!(value.as_str(), "incomplete" | "completed") => {
            Some("status is incomplete or completed".to_owned())
        }
        Operator::Priority
            if !matches!(value.as_str(), "1" | "2" | "3" | "none" | "n" | "high" | "medium" | "low") =>
        {
            Some("priority is 1, 2, 3 or none".to_owned())
        }
        Operator::IsTagged
        | Operator::IsLocated
        | Operator::IsRepeating
        | Operator::HasNotes
        | Operator::HasAttachments
        | Operator::HasTimeEstimate
        | Operator::IsShared
        | Operator::IsReceived
        | Operator::IsSubtask
        | Operator::HasSubtasks
        | Operator::IncludeArchived
            if !matches!(value.as_str(), "true" | "false") =>
        {
            Some(format!("`{}` should be true or false", term.value))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::lint;
    use crate::filter::parse;

    #[test]
    fn traps_are_named() {
        let now = "2026-11-15T12:00:00+01:00[Europe/Berlin]".parse().expect("a moment");
        for (text, expected) in [
            ("status:incomplete AND due:today", None),
            ("completedAfter:\"7 days ago\"", Some("completedWithin:\"7 days of today\"")),
            ("due:today", Some("completed tasks are found too")),
            ("status:done", Some("status is incomplete or completed")),
            ("status:incomplete AND priority:9", Some("priority is 1, 2, 3 or none")),
            ("status:incomplete AND hasNotes:yes", Some("true or false")),
            ("status:incomplete AND dueWithin:\"7 days\"", Some("is no span")),
            ("status:incomplete AND dueBefore:whenever", Some("may not be a date")),
        ] {
            let hints = lint(&parse(text).expect("understood"), &now);
            match expected {
                None => assert!(hints.is_empty(), "{text}: {hints:?}"),
                Some(part) => assert!(hints.iter().any(|hint| hint.contains(part)), "{text}: {hints:?}"),
            }
        }
    }
}
