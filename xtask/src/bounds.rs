//! `docs/bounds.md`: each row names the constant, field or configuration key that its value comes from.

use std::path::{Path, PathBuf};

use crate::catalogue;
use crate::problem::Problem;
use crate::tree::{read, root};

const HELP: &str = "run `cargo xtask bounds`, or correct the last column of the row";

fn path() -> PathBuf {
    root().join("docs/bounds.md")
}

/// Writes the values that the sources have now.
pub(crate) fn write() -> Vec<Problem> {
    let (page, mut problems) = match read(&path()) {
        Ok(text) => page_of(&text, &root()),
        Err(problem) => return vec![problem],
    };
    if let Err(error) = std::fs::write(path(), page) {
        problems.push(Problem::new(format!("docs/bounds.md cannot be written: {error}"), "make it writable"));
    }
    problems
}

/// Reports values that differ from the sources, and rows without a source.
pub(crate) fn check() -> Vec<Problem> {
    let text = match read(&path()) {
        Ok(text) => text,
        Err(problem) => return vec![problem],
    };
    let (page, mut problems) = page_of(&text, &root());
    match read(&catalogue::path()) {
        Ok(manual) => problems.extend(unknown_reasons(&text, &manual)),
        Err(problem) => problems.push(problem),
    }
    let differs = text.lines().zip(page.lines()).filter(|(now, right)| now != right);
    problems.extend(
        differs
            .map(|(now, right)| Problem::new(format!("docs/bounds.md has {now} instead of {right}"), HELP)),
    );
    problems
}

/// The page with the values that the sources have now, and a problem for each row without a source.
fn page_of(text: &str, root: &Path) -> (String, Vec<Problem>) {
    let mut problems = Vec::new();
    let lines = text.lines().map(|line| {
        if !line.starts_with("| ") || line.starts_with("| limit |") {
            return line.to_owned();
        }
        match row(line, root) {
            Some(row) => row,
            None => {
                problems.push(Problem::new(format!("docs/bounds.md: no source for {line}"), HELP));
                line.to_owned()
            }
        }
    });
    let mut page = lines.collect::<Vec<_>>().join("\n");
    page.push('\n');
    (page, problems)
}

/// The reasons in the table that the manual of failures does not have.
fn unknown_reasons(page: &str, manual: &str) -> Vec<Problem> {
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let quoted = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
    let is_reason = |name: &&str| name.split_once('/').is_some_and(|(_, id)| id.chars().all(is_shouted));
    let unknown = quoted.filter(is_reason).filter(|name| !manual.contains(&format!("#### {name}\n")));
    let help = "name a reason of docs/errors.md";
    unknown.map(|name| Problem::new(format!("docs/bounds.md: no reason is called {name}"), help)).collect()
}

fn is_shouted(letter: char) -> bool {
    letter.is_ascii_uppercase() || letter == '_'
}

/// A row with its current value; `None` if the source does not exist.
fn row(line: &str, root: &Path) -> Option<String> {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let &[limit, stated, at_limit, from] = cells.as_slice() else { return None };
    let mut quoted = from.split('`').skip(1).step_by(2);
    let (file, name) = (quoted.next()?, quoted.next()?);
    let value = find(&read(&root.join(file)).ok()?, name)?;
    let shown = match value {
        Value::Millis(ms) => time(ms),
        Value::Number(seconds) if name.ends_with("_s") => time(seconds * 1_000),
        Value::Number(ms) if name.ends_with("_ms") => time(ms),
        Value::Number(size) if stated.ends_with("iB") => bytes(size),
        Value::Number(count) => with_commas(count),
    };
    Some(format!("| {limit} | {shown} | {at_limit} | {from} |"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Number(u64),
    Millis(u64),
}

/// The value of a constant, of a field of a default, or of a configuration key.
fn find(source: &str, name: &str) -> Option<Value> {
    let constant = source.split_once(&format!("const {name}: ")).and_then(|(_, rest)| rest.split_once(" = "));
    if let Some((_, rest)) = constant {
        return evaluate(rest);
    }
    if let Some((_, rest)) = source.split_once(&format!("name: \"{name}\",")) {
        return evaluate(rest.split_once("default: ")?.1);
    }
    let field = format!("{name}: ");
    source.match_indices(&field).find_map(|(at, _)| evaluate(source.get(at + field.len()..)?))
}

/// The value of an expression of literals, `*`, `<<` and `Duration`.
fn evaluate(rest: &str) -> Option<Value> {
    let text = rest.split(['\n', ';', ',', '}']).next()?.trim();
    let inside = |of: &str| text.strip_prefix(of)?.strip_suffix(')');
    if let Some(seconds) = inside("Duration::from_secs(") {
        return Some(Value::Millis(number(seconds)? * 1_000));
    }
    if let Some(ms) = inside("Duration::from_millis(") {
        return Some(Value::Millis(number(ms)?));
    }
    number(text).map(Value::Number)
}

fn number(text: &str) -> Option<u64> {
    let literal = |text: &str| text.trim().replace('_', "").parse::<u64>().ok();
    if let Some((number, bits)) = text.split_once("<<") {
        return literal(number)?.checked_shl(u32::try_from(literal(bits)?).ok()?);
    }
    text.split('*').try_fold(1u64, |product, factor| product.checked_mul(literal(factor)?))
}

fn time(ms: u64) -> String {
    const MINUTE: u64 = 60_000;
    match ms {
        ms if ms >= 10 * MINUTE && ms.is_multiple_of(MINUTE) => format!("{} min", with_commas(ms / MINUTE)),
        ms if ms.is_multiple_of(1_000) => format!("{} s", with_commas(ms / 1_000)),
        ms => format!("{} ms", with_commas(ms)),
    }
}

fn bytes(size: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let whole = units.into_iter().find(|(bits, _)| size >= 1 << bits && size.is_multiple_of(1 << bits));
    match whole {
        Some((bits, unit)) => format!("{} {unit}", size >> bits),
        None => with_commas(size),
    }
}

fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let groups = digits.char_indices().map(|(at, digit)| match at {
        at if at > 0 && at % 3 == first => format!(",{digit}"),
        _ => digit.to_string(),
    });
    groups.collect()
}

#[cfg(test)]
mod tests {
    use super::{Value, bytes, find, page_of, time, unknown_reasons, with_commas};
    use crate::tree::root;

    #[test]
    fn values_come_from_constants_fields_and_keys() {
        for (source, name, value) in [
            ("pub(crate) const MOST: usize = 4_096;", "MOST", Some(Value::Number(4_096))),
            ("const LARGEST: usize = 64 << 20;", "LARGEST", Some(Value::Number(64 << 20))),
            ("const WAIT: Duration = Duration::from_secs(30);", "WAIT", Some(Value::Millis(30_000))),
            (
                "pub body: usize,\n Self { body: 16 * 1024 * 1024, x: 1 }",
                "body",
                Some(Value::Number(16 << 20)),
            ),
            ("name: \"queue\",\n from: 0,\n default: 16,\n", "queue", Some(Value::Number(16))),
            ("const MOST: usize = OTHER / 8;", "MOST", None),
            ("", "MOST", None),
        ] {
            assert_eq!(find(source, name), value, "{source}");
        }
    }

    #[test]
    fn values_are_written_with_their_units() {
        let shown = [
            time(250),
            time(300_000),
            time(1_800_000),
            bytes(16 << 20),
            with_commas(1_234_567),
            with_commas(256),
        ];
        assert_eq!(shown, ["250 ms", "300 s", "30 min", "16 MiB", "1,234,567", "256"]);
    }

    #[test]
    fn a_reason_that_does_not_exist_is_reported() {
        let row = |reason: &str| format!("| depth | 7 | `{reason}` | `crates/x.rs` `MOST` |");
        assert!(unknown_reasons(&row("rpc/TOO_DEEP"), "#### rpc/TOO_DEEP\n").is_empty());
        assert_eq!(unknown_reasons(&row("rpc/TOO_HIGH"), "#### rpc/TOO_DEEP\n").len(), 1);
    }

    #[test]
    fn a_wrong_value_is_corrected_and_a_missing_source_reported() {
        let from = "`crates/rpc/src/scan/limits.rs` `max_depth`";
        let (page, problems) = page_of(&format!("| depth | 7 | `rpc/TOO_DEEP` | {from} |"), &root());
        assert_eq!(
            (page.as_str(), problems.len()),
            (&*format!("| depth | 128 | `rpc/TOO_DEEP` | {from} |\n"), 0)
        );
        for from in ["`crates/rpc/src/scan/limits.rs` `max_nothing`", "`nowhere.rs` `MOST`", "`rpc`"] {
            let (_, problems) = page_of(&format!("| depth | 7 | `rpc/TOO_DEEP` | {from} |"), &root());
            assert_eq!(problems.len(), 1, "{from}");
        }
    }
}
