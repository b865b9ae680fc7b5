//! Tests poll or inject a clock. A fixed wait of 300 ms or more slows every run and still fails on a busy machine.
//!
//! A pause that is the point of a test (a slow peer, a finger held down) has a name: the check looks at literals alone.

use crate::problem::Problem;
use crate::rust::{Kind, Token, tokens};
use crate::tree::{read, shown, sources};

/// The shortest literal wait that is refused.
const LONGEST_MS: u64 = 300;

pub(super) fn check() -> Vec<Problem> {
    let folders = ["crates", "servers", "emulators", "tests"];
    sources(&folders, "rs")
        .iter()
        .filter_map(|path| read(path).ok().map(|text| (shown(path), text)))
        .flat_map(|(path, text)| {
            let found = literal_waits(&tests_of(&path, &text)).into_iter();
            found.map(move |(line, wait)| {
                let what = format!("{path}:{line}: a fixed wait of {wait} ms");
                Problem::new(what, "poll with a deadline, inject the clock, or name the pause in a constant")
            })
        })
        .collect()
}

/// The tests in a file: the whole of a file below `tests`, otherwise its test module. Lines keep their numbers.
fn tests_of(path: &str, text: &str) -> String {
    if path.split('/').skip(1).any(|part| part == "tests") {
        return text.to_owned();
    }
    match text.split_once("#[cfg(test)]") {
        Some((before, tests)) => "\n".repeat(before.matches('\n').count()) + tests,
        None => String::new(),
    }
}

/// Lines with `sleep(Duration::from_…(literal))`, and how long each waits in milliseconds.
fn literal_waits(source: &str) -> Vec<(usize, u64)> {
    let mut code = tokens(source);
    code.retain(|token| token.kind != Kind::Comment);
    let calls = code.iter().enumerate().filter(|(_, token)| token.text == "sleep");
    calls.filter_map(|(at, token)| Some((token.line, wait(code.get(at + 1..)?)?))).collect()
}

fn wait(after: &[Token<'_>]) -> Option<u64> {
    let unit = after.iter().take(12).position(|token| token.text.starts_with("from_"))?;
    let only_a_path =
        after.get(..unit)?.iter().all(|token| matches!(token.text, "(" | ":") || token.kind == Kind::Word);
    let [unit, open, literal, close, ..] = after.get(unit..)? else { return None };
    let is_call = open.text == "(" && literal.kind == Kind::Literal && close.text == ")";
    let number: u64 = literal.text.replace('_', "").parse().ok()?;
    let milliseconds = match unit.text {
        "from_millis" => number,
        "from_secs" => number.saturating_mul(1_000),
        _ => return None,
    };
    (only_a_path && is_call && milliseconds >= LONGEST_MS).then_some(milliseconds)
}

#[cfg(test)]
mod tests {
    use super::{literal_waits, tests_of};

    #[test]
    fn only_tests_are_checked() {
        let text = "sleep(a);\n#[cfg(test)]\nmod tests { sleep(b); }";
        assert_eq!(tests_of("crates/a/src/b.rs", text), "\n\nmod tests { sleep(b); }");
        assert_eq!(tests_of("crates/a/tests/b.rs", text), text);
        assert_eq!(tests_of("crates/a/src/b.rs", "sleep(a);"), "");
    }

    #[test]
    fn long_literal_waits_are_found_and_polls_are_not() {
        for (source, found) in [
            ("tokio::time::sleep(Duration::from_millis(1_500)).await;", vec![(1, 1_500)]),
            ("\nstd::thread::sleep(std::time::Duration::from_secs(5));", vec![(2, 5_000)]),
            ("sleep(Duration::from_millis(20)).await;", vec![]),
            ("sleep(HELD_DOWN).await; let limit = Duration::from_secs(5);", vec![]),
            ("sleep(pause.min(Duration::from_secs(5))).await;", vec![]),
            ("let code = \"sleep(Duration::from_secs(5))\";", vec![]),
            ("// sleep(Duration::from_secs(5))", vec![]),
        ] {
            assert_eq!(literal_waits(source), found, "{source}");
        }
    }
}
