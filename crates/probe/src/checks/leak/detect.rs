//! Detectors: each gives the place of what should not be there.

const ROOTS: [&str; 12] = [
    "/home/",
    "/root/",
    "/usr/",
    "/var/",
    "/opt/",
    "/Users/",
    "/private/",
    "/app/",
    "/srv/",
    "/tmp/",
    "/mnt/",
    "/etc/",
];
const PLACES: [&str; 5] = ["site-packages", "dist-packages", "node_modules", ".cargo/registry", "file:///"];

/// An absolute path that `known` does not excuse.
pub(super) fn path(text: &str, known: impl Fn(&str) -> bool) -> Option<usize> {
    let rooted = ROOTS.iter().flat_map(|root| text.match_indices(root)).map(|(at, _)| at);
    let windows = text.match_indices(":\\").filter(|(at, _)| follows_drive(text, *at)).map(|(at, _)| at - 1);
    let places = PLACES.iter().flat_map(|place| text.match_indices(place)).map(|(at, _)| at);
    rooted
        .filter(|at| begins_path(text, *at))
        .chain(windows)
        .chain(places)
        .find(|at| !known(whole_path(text, *at)))
}

/// Whether nothing before the slash makes it part of an address or a longer path.
fn begins_path(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|head| head.chars().next_back());
    !before
        .is_some_and(|letter| letter.is_alphanumeric() || matches!(letter, '/' | '.' | '-' | '_' | '~' | '}'))
}

fn follows_drive(text: &str, colon: usize) -> bool {
    let mut before = text.get(..colon).unwrap_or_default().chars().rev();
    before.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && !before.next().is_some_and(char::is_alphanumeric)
}

fn whole_path(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    let end = rest.find(|letter: char| letter.is_whitespace() || "\"'`<>(),;:[]".contains(letter));
    // A drive letter's colon is part of the path; what follows decides nothing here.
    rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest).trim_end_matches('.')
}

/// A stack trace or a panic message, by the marks of the common runtimes.
pub(super) fn stack_trace(text: &str) -> Option<usize> {
    const MARKS: [&str; 5] = [
        "Traceback (most recent call last)",
        "panicked at ",
        "stack backtrace:",
        "goroutine 1 [",
        "Exception in thread \"",
    ];
    let marked = MARKS.iter().find_map(|mark| text.find(mark));
    marked.or_else(|| text.match_indices("at ").find(|(at, _)| is_frame(text, *at)).map(|(at, _)| at))
}

/// `at name (file:12:3)`, `at file:///x.js:12:3`, `at com.x.Y(Y.java:12)`.
fn is_frame(text: &str, at: usize) -> bool {
    let line = text.get(at..).unwrap_or_default().lines().next().unwrap_or_default();
    let start_of_line =
        text.get(..at).is_none_or(|head| head.is_empty() || head.ends_with(['\n', ' ', '\t']));
    let inside = line.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(inside, _)| inside);
    let place = inside.unwrap_or_else(|| {
        line.trim_start_matches("at ")
            .trim_start_matches("async ")
            .split_whitespace()
            .next()
            .unwrap_or_default()
    });
    let mut parts = place.rsplit(':');
    let number = |part: Option<&str>| {
        part.is_some_and(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
    };
    let last = number(parts.next());
    let java = inside.is_some()
        && last
        && (place.contains(".java:") || place.contains(".kt:") || place.contains(".scala:"));
    start_of_line
        && (java
            || last
                && number(parts.next())
                && (place.contains('/') || place.contains('.') || place.contains('\\')))
}

/// The raw words of zod, pydantic or serde. Where a parser stopped is the caller's own text and no dump.
pub(super) fn validator_dump(text: &str) -> Option<usize> {
    const MARKS: [&str; 16] = [
        "ZodError",
        "\"code\": \"invalid_",
        "\"code\":\"invalid_",
        "invalid_type",
        "invalid_union",
        "unrecognized_keys",
        "errors.pydantic.dev",
        " validation error for ",
        " validation errors for ",
        "[type=",
        "input_value=",
        "missing field `",
        "unknown field `",
        "unknown variant `",
        "did not match any variant",
        "untagged enum",
    ];
    MARKS.iter().find_map(|mark| text.find(mark))
}

#[cfg(test)]
mod tests {
    use super::{path, stack_trace, validator_dump};

    fn check(detect: impl Fn(&str) -> Option<usize>, found: &[&str], clean: &[&str]) {
        for text in found {
            assert!(detect(text).is_some(), "missed: {text}");
        }
        for text in clean {
            assert_eq!(detect(text), None, "false alarm: {text}");
        }
    }

    #[test]
    fn paths() {
        check(
            |text| path(text, |_| false),
            &[
                "open '/home/ann/a'",
                "/root/x",
                "C:\\Users\\ann",
                "lib/site-packages/mcp",
                "x/node_modules/y",
                "(file:///srv/a.js)",
            ],
            &[
                "https://example.com/home/x",
                "either/or",
                "and/usr/or",
                "see docs:\\n",
                "a/tmp/b",
                "Unknown tool: x",
            ],
        );
    }

    #[test]
    fn traces() {
        check(
            stack_trace,
            &[
                "Traceback (most recent call last):\n  File",
                "Error: x\n    at call (/srv/a.js:10:3)",
                "at async file:///a/b.js:1:2",
                "thread 'main' panicked at src/main.rs:1:2",
                "\tat com.acme.Main.run(Main.java:12)",
            ],
            &[
                "look at (this)",
                "at 10:30 today",
                "expected value at line 1 column 2",
                "at most 3",
                "that (a:b)",
            ],
        );
    }

    #[test]
    fn dumps() {
        check(
            validator_dump,
            &[
                "[{\"code\": \"invalid_type\"}]",
                "1 validation error for Args\nname\n  Field required [type=missing, input_value={}]",
                "missing field `name` at line 1 column 40",
            ],
            &["name must be a string", "invalid arguments", "Parse error: EOF at line 1 column 49"],
        );
    }
}
