//! A line diff of two texts.

/// Number of unchanged lines shown around a change.
const AROUND: usize = 3;
/// Maximum size of the comparison table. Beyond it, all lines between the first and last difference are
/// replaced.
const LARGEST: usize = 4_000_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffLine {
    Same(String),
    /// The line is in the first text only.
    Gone(String),
    /// The line is in the second text only.
    Come(String),
    /// Number of omitted unchanged lines.
    LeftOut(usize),
}

/// The changed lines and their context.
pub fn diff(before: &[String], after: &[String]) -> Vec<DiffLine> {
    let start = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let (old, new) = (before.get(start..).unwrap_or_default(), after.get(start..).unwrap_or_default());
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(one, other)| one == other).count();
    let old = old.get(..old.len() - end).unwrap_or_default();
    let new = new.get(..new.len() - end).unwrap_or_default();
    let same = |lines: &[String]| lines.iter().cloned().map(DiffLine::Same).collect::<Vec<_>>();
    let mut all = same(before.get(..start).unwrap_or_default());
    all.extend(between(old, new));
    all.extend(same(after.get(after.len() - end..).unwrap_or_default()));
    folded(all)
}

/// Keeps the longest common subsequence; the other lines are removed or added.
fn between(old: &[String], new: &[String]) -> Vec<DiffLine> {
    let gone = |lines: &[String]| lines.iter().cloned().map(DiffLine::Gone).collect::<Vec<_>>();
    let come = |lines: &[String]| lines.iter().cloned().map(DiffLine::Come).collect::<Vec<_>>();
    if old.len().saturating_mul(new.len()) > LARGEST {
        return [gone(old), come(new)].concat();
    }
    // The length of the longest common subsequence of two suffixes.
    let width = new.len() + 1;
    let mut common = vec![0u32; (old.len() + 1) * width];
    let at = |row: usize, column: usize| row * width + column;
    let read = |common: &[u32], place: usize| common.get(place).copied().unwrap_or(0);
    for (row, one) in old.iter().enumerate().rev() {
        for (column, other) in new.iter().enumerate().rev() {
            let best = if one == other {
                read(&common, at(row + 1, column + 1)) + 1
            } else {
                read(&common, at(row + 1, column)).max(read(&common, at(row, column + 1)))
            };
            if let Some(place) = common.get_mut(at(row, column)) {
                *place = best;
            }
        }
    }
    let (mut row, mut column, mut all) = (0, 0, Vec::new());
    while let (Some(one), Some(other)) = (old.get(row), new.get(column)) {
        if one == other {
            all.push(DiffLine::Same(one.clone()));
            (row, column) = (row + 1, column + 1);
        } else if read(&common, at(row + 1, column)) >= read(&common, at(row, column + 1)) {
            all.push(DiffLine::Gone(one.clone()));
            row += 1;
        } else {
            all.push(DiffLine::Come(other.clone()));
            column += 1;
        }
    }
    all.extend(gone(old.get(row..).unwrap_or_default()));
    all.extend(come(new.get(column..).unwrap_or_default()));
    all
}

/// Omits lines that are far from a change.
fn folded(all: Vec<DiffLine>) -> Vec<DiffLine> {
    let changes: Vec<usize> = all
        .iter()
        .enumerate()
        .filter(|(_, line)| !matches!(line, DiffLine::Same(_)))
        .map(|(at, _)| at)
        .collect();
    let is_near = |at: usize| {
        let next = changes.partition_point(|change| *change < at.saturating_sub(AROUND));
        changes.get(next).is_some_and(|change| change.abs_diff(at) <= AROUND)
    };
    let mut shown = Vec::new();
    for (at, line) in all.into_iter().enumerate() {
        match (is_near(at), shown.last_mut()) {
            (true, _) => shown.push(line),
            (false, Some(DiffLine::LeftOut(count))) => *count += 1,
            (false, _) => shown.push(DiffLine::LeftOut(1)),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{DiffLine, diff};

    fn check(before: &str, after: &str, wanted: &str) {
        let lines = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        let shown: String = diff(&lines(before), &lines(after))
            .into_iter()
            .map(|line| match line {
                DiffLine::Same(line) => line,
                DiffLine::Gone(line) => format!("-{line}"),
                DiffLine::Come(line) => format!("+{line}"),
                DiffLine::LeftOut(count) => format!("<{count}>"),
            })
            .collect();
        assert_eq!(shown, wanted, "{before} {after}");
    }

    #[test]
    fn lines_go_come_and_stay() {
        check("abc", "abc", "<3>");
        check("", "ab", "+a+b");
        check("ab", "", "-a-b");
        check("abcd", "axcd", "a-b+xcd");
        check("abcdefghijk", "abcdefghixk", "<6>ghi-j+xk");
        check("xabcdefghijklmy", "XabcdefghijklmY", "-x+Xabc<7>klm-y+Y");
        check("abcabba", "cbabac", "-a-bc-ab+aba+c");
    }

    #[test]
    fn huge_texts_are_compared_in_time() {
        let lines = |start: usize| (start..start + 5_000).map(|n| n.to_string()).collect::<Vec<_>>();
        assert_eq!(diff(&lines(0), &lines(5_000)).len(), 10_000);
    }
}
