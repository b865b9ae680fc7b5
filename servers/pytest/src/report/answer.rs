//! The text of an answer within its budget: worst failures first, each cause once, and the number of omitted
//! items.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::arguments::Detail;
use crate::report::failure::round;
use crate::report::group::{Group, groups, skips};
use crate::report::{CollectionError, Report, Test};

/// Maximum number of test ids listed per cause. Further ones are counted.
const MOST_IDS: usize = 10;
const MOST_SKIP_REASONS: usize = 10;
const LONGEST_MESSAGE: usize = 600;
const LONGEST_TRACEBACK: usize = 2_500;

/// The remaining number of characters.
#[derive(Debug)]
pub(crate) struct CharBudget(usize);

impl CharBudget {
    pub(crate) fn new(characters: usize) -> CharBudget {
        CharBudget(characters)
    }

    /// Spends up to `part` of the budget. The unspent part is returned.
    fn share(&mut self, part: usize, spend: impl FnOnce(&mut CharBudget)) {
        let given = self.0.min(part);
        let mut share = CharBudget(given);
        spend(&mut share);
        self.0 -= given - share.0;
    }

    /// The value, if it fits.
    pub(crate) fn afford<T: Serialize>(&mut self, value: T) -> Option<Value> {
        let value = serde_json::to_value(value).ok()?;
        let cost = value.to_string().len() + 1;
        if cost > self.0 {
            return None;
        }
        self.0 -= cost;
        Some(value)
    }

    pub(crate) fn left(&self) -> usize {
        self.0
    }
}

/// The head and the tail of a text.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(most / 2);
    let tail = text.ceil_char_boundary(text.len() - most / 2);
    let (begin, end) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    format!("{begin}\n[… {} of {} bytes left out …]\n{end}", tail - head, text.len())
}

pub(crate) fn summary(report: &Report, duration: f64) -> Value {
    let counts = report.counts();
    let mut summary = json!({
        "total": counts.total(), "passed": counts.passed, "failed": counts.failed, "skipped": counts.skipped,
        "errors": counts.errors, "duration": round(duration),
    });
    if let Some(members) = summary.as_object_mut() {
        let extra = [("xfailed", counts.xfailed), ("xpassed", counts.xpassed)];
        for (name, count) in extra.into_iter().filter(|(_, count)| *count > 0) {
            members.insert(name.to_owned(), json!(count));
        }
        if report.deselected > 0 {
            members.insert("deselected".to_owned(), json!(report.deselected));
        }
    }
    summary
}

/// The lists of an answer, in the order of their importance.
pub(crate) fn lists(report: &Report, detail: Detail, budget: &mut CharBudget) -> Map<String, Value> {
    let mut members = Map::new();
    let half = budget.left() / 2;
    budget.share(half, |budget| collection_errors(report, budget, &mut members));
    let groups = groups(report);
    let third = budget.left() * 2 / 5;
    budget.share(third, |budget| causes(&groups, budget, &mut members));
    if detail == Detail::Summary {
        members.insert("tests".to_owned(), json!([]));
        omitted(report, &std::collections::HashMap::new(), &mut members);
    } else {
        tests(report, &groups, detail, budget, &mut members);
    }
    let reasons = skips(report);
    if !reasons.is_empty() {
        let rows: Vec<Value> = reasons
            .iter()
            .take(MOST_SKIP_REASONS)
            .filter_map(|(reason, count)| budget.afford(json!({"reason": cut(reason, 200), "count": count})))
            .collect();
        members.insert("skip_reasons".to_owned(), json!(rows));
    }
    members
}

pub(crate) fn collection_errors(report: &Report, budget: &mut CharBudget, members: &mut Map<String, Value>) {
    let all = &report.collection_errors;
    let share = if all.is_empty() { 0 } else { (budget.left() / all.len()).clamp(500, 6_000) };
    let rows: Vec<Value> = all.iter().map_while(|error| budget.afford(uncollected(error, share))).collect();
    if rows.len() < all.len() {
        members.insert("collection_errors_omitted".to_owned(), json!(all.len() - rows.len()));
    }
    members.insert("collection_errors".to_owned(), json!(rows));
}

fn uncollected(error: &CollectionError, share: usize) -> Value {
    json!({
        "file": error.file, "error_type": error.error_type, "message": cut(&error.message, share / 4),
        "line": error.line, "traceback": cut(&error.traceback, share / 2),
    })
}

fn causes(groups: &[Group<'_>], budget: &mut CharBudget, members: &mut Map<String, Value>) {
    if groups.is_empty() {
        return;
    }
    let rows: Vec<Value> = groups.iter().map_while(|group| budget.afford(cause(group))).collect();
    if rows.len() < groups.len() {
        members.insert("causes_omitted".to_owned(), json!(groups.len() - rows.len()));
    }
    members.insert("causes".to_owned(), json!(rows));
}

fn cause(group: &Group<'_>) -> Value {
    let ids: Vec<&str> = group.tests.iter().take(MOST_IDS).map(|test| test.id.as_str()).collect();
    let mut cause = json!({
        "error_type": group.error_type, "phase": group.first.phase, "place": group.first.place,
        "message": cut(first_line(&group.first.message), 200), "count": group.tests.len(), "node_ids": ids,
    });
    if let Some(members) = cause.as_object_mut()
        && group.tests.len() > MOST_IDS
    {
        members.insert("node_ids_omitted".to_owned(), json!(group.tests.len() - MOST_IDS));
    }
    cause
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Failing tests first, then skipped, then passed ones. Each cause has one traceback.
fn tests(
    report: &Report,
    groups: &[Group<'_>],
    detail: Detail,
    budget: &mut CharBudget,
    members: &mut Map<String, Value>,
) {
    let firsts: std::collections::HashSet<*const Test> =
        groups.iter().filter_map(|group| group.tests.first().map(|test| std::ptr::from_ref(*test))).collect();
    let limits = match detail {
        Detail::Full => (16_000, 64_000),
        _ => (LONGEST_MESSAGE, LONGEST_TRACEBACK),
    };
    let bad = groups.iter().flat_map(|group| group.tests.iter().copied());
    let of = |word: &'static str| report.tests.iter().filter(move |test| test.outcome.word() == word);
    let mut rows = Vec::new();
    let mut listed = std::collections::HashMap::new();
    for test in bad.chain(of("skipped")).chain(of("passed")) {
        let whole = detail == Detail::Full || firsts.contains(&std::ptr::from_ref(test));
        let short = || described(test, (200, 0), false);
        let value = budget.afford(described(test, limits, whole)).or_else(|| budget.afford(short()));
        let Some(value) = value else { break };
        *listed.entry(test.outcome.word()).or_insert(0usize) += 1;
        rows.push(value);
    }
    members.insert("tests".to_owned(), json!(rows));
    omitted(report, &listed, members);
}

fn described(test: &Test, (message, traceback): (usize, usize), whole: bool) -> Value {
    let story = test.story.as_deref();
    let summary = story.map(|story| story.message.as_str()).filter(|text| !text.is_empty());
    let trace = story
        .filter(|_| whole && traceback > 0)
        .map(|story| story.traceback.as_str())
        .filter(|text| !text.is_empty());
    json!({
        "node_id": test.id, "outcome": test.outcome.word(), "duration": fine(test.duration),
        "message": summary.map(|text| cut(text, message)), "traceback": trace.map(|text| cut(text, traceback)),
    })
}

/// The number of tests per outcome that are not listed.
fn omitted(
    report: &Report,
    listed: &std::collections::HashMap<&str, usize>,
    members: &mut Map<String, Value>,
) {
    let counts = report.counts();
    let mut missing = Map::new();
    for (word, count) in [
        ("passed", counts.passed),
        ("failed", counts.failed),
        ("skipped", counts.skipped),
        ("error", counts.errors),
    ] {
        let left = count - listed.get(word).copied().unwrap_or(0).min(count);
        if left > 0 {
            missing.insert(word.to_owned(), json!(left));
        }
    }
    if !missing.is_empty() {
        members.insert("tests_omitted".to_owned(), Value::Object(missing));
    }
}

pub(crate) fn slowest(report: &Report, count: usize) -> Value {
    let mut tests: Vec<&Test> = report.tests.iter().collect();
    tests.sort_by(|a, b| b.duration.total_cmp(&a.duration));
    let rows: Vec<Value> = tests
        .iter()
        .take(count)
        .map(|test| json!({"node_id": test.id, "duration": fine(test.duration)}))
        .collect();
    json!(rows)
}

/// Rounds to 10 µs, because tests often take less than a millisecond.
fn fine(seconds: f64) -> f64 {
    (seconds * 100_000.0).round() / 100_000.0
}

/// Foreign text in a code fence that it cannot close.
pub(crate) fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

/// The failures as text for the model, within a number of characters.
pub(crate) fn failures_text(report: &Report, most: usize) -> Option<String> {
    let groups = groups(report);
    let mut text = String::new();
    for error in &report.collection_errors {
        let line = error.line.map(|line| format!(":{line}")).unwrap_or_default();
        text.push_str(&format!(
            "{}{line}: {}: {}\n",
            error.file,
            error.error_type,
            cut(first_line(&error.message), 200)
        ));
        if text.len() > most / 2 {
            break;
        }
    }
    for (index, group) in groups.iter().enumerate() {
        let place = group.first.place.as_deref().unwrap_or("unknown place");
        let mut part = format!("{}. {place} ({}×)\n", index + 1, group.tests.len());
        for line in cut(&group.first.message, 400).lines().take(12) {
            part.push_str(&format!("   E {line}\n"));
        }
        for test in group.tests.iter().take(3) {
            part.push_str(&format!("   {}\n", test.id));
        }
        if group.tests.len() > 3 {
            part.push_str(&format!("   … and {} more\n", group.tests.len() - 3));
        }
        if text.len() + part.len() > most {
            text.push_str(&format!("… and {} more causes\n", groups.len() - index));
            break;
        }
        text.push_str(&part);
    }
    (!text.is_empty()).then(|| fenced(&text))
}

#[cfg(test)]
mod tests {
    use super::{CharBudget, cut, fenced};

    #[test]
    fn long_texts_keep_both_ends() {
        assert_eq!(cut("short", 10), "short");
        let long = format!("{}é{}", "a".repeat(500), "b".repeat(500));
        let short = cut(&long, 100);
        assert!(
            short.starts_with("aaa") && short.ends_with("bbb") && short.contains("902 of 1002"),
            "{short}"
        );
        cut(&"é".repeat(1_000), 101);
    }

    #[test]
    fn a_fence_cannot_be_closed_from_inside() {
        assert_eq!(fenced("a"), "```text\na\n```");
        assert_eq!(fenced("a\n````\nb"), "`````text\na\n````\nb\n`````");
    }

    #[test]
    fn what_is_not_spent_comes_back() {
        let mut budget = CharBudget::new(100);
        budget.share(50, |share| {
            assert!(share.afford("x".repeat(60)).is_none());
            assert!(share.afford("12345").is_some());
        });
        assert_eq!(budget.left(), 92);
    }
}
