//! Tests poll or inject a clock. A fixed wait of 300 ms or more slows every run and still fails on a busy machine.
//!
//! The check looks at literals alone: a pause that is the point of a test (a slow peer, a finger held down) has a named
//! constant, or a comment that begins with `waits:` and gives the reason, on its line or on the line before.

use crate::problem::Problem;
use crate::rust::{Kind, Token};
use crate::tree::{is_python, root, shown, texts_below};
use crate::{python, rust};

/// The shortest literal wait that is refused.
const LONGEST_MS: u64 = 300;

/// How a comment begins that gives the reason for a wait.
const MARK: &str = "waits:";

/// What a test module begins with, in halves so that this file is not cut here.
const TEST_MODULE: &str = concat!("#[cfg", "(test)]");

/// Projects that a test runs: what hangs in them is the case.
const UNDER_TEST: &str = "tests/pytest/fixtures/";

pub(super) fn check() -> Vec<Problem> {
    texts_below(&root())
        .iter()
        .flat_map(|(path, text)| {
            let shown = shown(path);
            let found = if is_python(path, text) { in_script(&shown, text) } else { in_source(&shown, text) };
            found.into_iter().map(move |(line, wait)| {
                let what = format!("{shown}:{line}: a fixed wait of {wait} ms");
                let help =
                    "poll with a deadline, inject the clock, or give the reason in a comment: `waits: …`";
                Problem::new(what, help)
            })
        })
        .collect()
}

fn in_script(path: &str, text: &str) -> Vec<(usize, u64)> {
    let is_test = is_below_tests(path) && !path.starts_with(UNDER_TEST);
    if is_test { unexplained(&python::tokens(text), in_seconds) } else { Vec::new() }
}

fn in_source(path: &str, text: &str) -> Vec<(usize, u64)> {
    if !path.ends_with(".rs") {
        return Vec::new();
    }
    unexplained(&rust::tokens(&tests_of(path, text)), in_duration)
}

fn is_below_tests(path: &str) -> bool {
    path.split('/').any(|part| part == "tests")
}

/// The tests in a file: the whole of a file below `tests`, otherwise its test module. Lines keep their numbers.
fn tests_of(path: &str, text: &str) -> String {
    if is_below_tests(path) || path.ends_with("/tests.rs") {
        return text.to_owned();
    }
    match text.split_once(TEST_MODULE) {
        Some((before, tests)) => "\n".repeat(before.matches('\n').count()) + tests,
        None => String::new(),
    }
}

/// Lines with a `sleep` of a literal length without a reason, and how long each waits in milliseconds.
fn unexplained(tokens: &[Token<'_>], length: fn(&[Token<'_>]) -> Option<f64>) -> Vec<(usize, u64)> {
    let explained = |line: usize| {
        let near = tokens.iter().filter(|token| token.line == line || token.line + 1 == line);
        near.into_iter().any(|token| token.kind == Kind::Comment && is_reason(token.text))
    };
    let code: Vec<Token<'_>> = tokens.iter().filter(|token| token.kind != Kind::Comment).copied().collect();
    let calls = code.iter().enumerate().filter(|(_, token)| token.text == "sleep");
    let waits = calls.filter_map(|(at, token)| {
        let milliseconds = (length(code.get(at + 1..)?)? * 1_000.0).round() as u64;
        (milliseconds >= LONGEST_MS && !explained(token.line)).then_some((token.line, milliseconds))
    });
    waits.collect()
}

/// Whether a comment gives a reason: a mark alone is none.
fn is_reason(comment: &str) -> bool {
    let text = comment.trim_start_matches(['/', '#', '*', ' ']);
    text.strip_prefix(MARK).is_some_and(|reason| reason.split_whitespace().count() >= 2)
}

/// The seconds of `(literal)` after a `sleep` of Python.
fn in_seconds(after: &[Token<'_>]) -> Option<f64> {
    let [open, literal, end, ..] = after else { return None };
    let is_call = open.text == "(" && matches!(end.text, ")" | ",");
    if is_call { number(literal) } else { None }
}

/// The seconds of `(Duration::from_…(literal))` after a `sleep` of Rust.
fn in_duration(after: &[Token<'_>]) -> Option<f64> {
    let unit = after.iter().take(12).position(|token| token.text.starts_with("from_"))?;
    let only_a_path =
        after.get(..unit)?.iter().all(|token| matches!(token.text, "(" | ":") || token.kind == Kind::Word);
    let [unit, open, literal, rest @ ..] = after.get(unit..)? else { return None };
    // A number with a point is three tokens.
    let (fraction, close) = match rest {
        [point, fraction, close, ..] if point.text == "." => {
            (number(fraction)? / 10f64.powi(digits(fraction)), close)
        }
        [close, ..] => (0.0, close),
        [] => return None,
    };
    let whole = number(literal)? + fraction;
    let seconds = match unit.text {
        "from_millis" => whole / 1_000.0,
        "from_secs" | "from_secs_f32" | "from_secs_f64" => whole,
        _ => return None,
    };
    (only_a_path && open.text == "(" && close.text == ")").then_some(seconds)
}

fn number(token: &Token<'_>) -> Option<f64> {
    (token.kind == Kind::Literal).then(|| token.text.replace('_', "").parse().ok()).flatten()
}

fn digits(token: &Token<'_>) -> i32 {
    i32::try_from(token.text.len()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{in_script, in_source, tests_of};

    #[test]
    fn only_tests_are_checked() {
        let text = "sleep(a);\n#[cfg(test)]\nmod tests { sleep(b); }";
        assert_eq!(tests_of("crates/a/src/b.rs", text), "\n\nmod tests { sleep(b); }");
        for whole in [
            "crates/a/tests/b.rs",
            "tests/suite/src/bin/b.rs",
            "tests/suite/src/b.rs",
            "xtask/src/b/tests.rs",
        ] {
            assert_eq!(tests_of(whole, text), text, "{whole}");
        }
        assert_eq!(tests_of("crates/a/src/b.rs", "sleep(a);"), "");
        assert_eq!(in_script("servers/pytest/python/a.py", "time.sleep(5)"), []);
        assert_eq!(in_script("tests/pytest/fixtures/hang/test_a.py", "time.sleep(5)"), []);
    }

    #[test]
    fn long_literal_waits_are_found_and_polls_are_not() {
        for (source, found) in [
            ("tokio::time::sleep(Duration::from_millis(1_500)).await;", vec![(1, 1_500)]),
            ("\nstd::thread::sleep(std::time::Duration::from_secs(5));", vec![(2, 5_000)]),
            ("sleep(Duration::from_secs_f64(1.25));", vec![(1, 1_250)]),
            ("sleep(Duration::from_millis(20)).await;", vec![]),
            ("sleep(HELD_DOWN).await; let limit = Duration::from_secs(5);", vec![]),
            ("sleep(pause.min(Duration::from_secs(5))).await;", vec![]),
            ("let code = \"sleep(Duration::from_secs(5))\";", vec![]),
            ("// sleep(Duration::from_secs(5))", vec![]),
            ("// waits: the peer is slow\nsleep(Duration::from_secs(5));", vec![]),
            ("sleep(Duration::from_secs(5)); // waits: the peer is slow", vec![]),
            ("// waits: why\nlet a = 1;\nsleep(Duration::from_secs(5));", vec![(3, 5_000)]),
            ("// waits:\nsleep(Duration::from_secs(5));", vec![(2, 5_000)]),
        ] {
            assert_eq!(in_source("tests/suite/src/bin/a.rs", source), found, "{source}");
        }
    }

    #[test]
    fn python_is_checked_too() {
        for (source, found) in [
            ("import time\ntime.sleep(1)\n", vec![(2, 1_000)]),
            ("    await asyncio.sleep(0.5, result=None)\n", vec![(1, 500)]),
            ("time.sleep(.3)\n", vec![(1, 300)]),
            ("time.sleep(0.05)\n", vec![]),
            ("time.sleep(DRAIN / 2)\n", vec![]),
            ("run([\"-c\", \"import time; time.sleep(600)\"])\n", vec![]),
            ("time.sleep(2)  # waits: it must stay silent meanwhile\n", vec![]),
            ("# waits: it must stay silent meanwhile\ntime.sleep(2)\n", vec![]),
            ("time.sleep(2)  # the page is busy by now\n", vec![(1, 2_000)]),
        ] {
            assert_eq!(in_script("tests/promises/a.py", source), found, "{source}");
        }
    }
}
