//! Removes secret values and terminal escapes from returned text.

use std::borrow::Cow;

/// Parts of names that mark a variable as secret.
const TELLING: [&str; 8] =
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "PRIVATE"];
/// Minimum length of a secret value. Shorter texts occur by chance.
const SHORTEST: usize = 6;
/// Prefixes of well-known credentials, each with the minimum number of following characters.
const SHAPES: [(&str, usize); 9] = [
    ("ghp_", 30),
    ("gho_", 30),
    ("github_pat_", 30),
    ("glpat-", 18),
    ("sk-", 20),
    ("xoxb-", 20),
    ("AKIA", 16),
    ("AIza", 30),
    ("eyJ", 40),
];

/// Values to remove from every returned text. It has no `Debug`, so that it cannot print them.
#[derive(Clone, Default)]
pub(crate) struct Scrubber(Vec<(String, String)>);

impl Scrubber {
    /// Creates a scrubber from variables.
    pub(crate) fn new(variables: impl IntoIterator<Item = (String, String)>) -> Scrubber {
        let secret = |name: &str| {
            let name = name.to_ascii_uppercase();
            TELLING.iter().any(|part| name.contains(part))
        };
        let mut values: Vec<(String, String)> = variables
            .into_iter()
            .filter(|(name, value)| secret(name) && value.trim().len() >= SHORTEST)
            .map(|(name, value)| (value.trim().to_owned(), format!("[{name}]")))
            .collect();
        // A value that contains another one comes first.
        values.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        Scrubber(values)
    }

    /// Adds another text, such as a private path.
    pub(crate) fn and(mut self, text: String, name: &str) -> Scrubber {
        self.0.insert(0, (text, name.to_owned()));
        self
    }

    /// Creates a scrubber from the environment of this process.
    pub(crate) fn of_environment() -> Scrubber {
        Scrubber::new(
            std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
        )
    }

    /// The text without secrets, escape sequences and NULs.
    pub(crate) fn clean(&self, text: &str) -> String {
        let mut clean: Cow<'_, str> = without_escapes(text);
        for (value, name) in &self.0 {
            if clean.contains(value.as_str()) {
                clean = Cow::Owned(clean.replace(value.as_str(), name));
            }
        }
        without_shapes(&clean).into_owned()
    }
}

/// Removes terminal escape sequences and control characters other than line break and tab.
fn without_escapes(text: &str) -> Cow<'_, str> {
    let plain = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        if c == '\u{1b}' && characters.peek() == Some(&'[') {
            characters.next();
            while characters.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
        } else if plain(c) {
            kept.push(c);
        } else if c == '\0' {
            kept.push('\u{2400}');
        }
    }
    Cow::Owned(kept)
}

fn without_shapes(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (beginning, least) in SHAPES {
        let mut from = 0;
        while let Some(found) = text.get(from..).and_then(|rest| rest.find(beginning)) {
            let start = from + found;
            let body = text.get(start + beginning.len()..).unwrap_or_default();
            let length = body
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')))
                .unwrap_or(body.len());
            let alone = text
                .get(..start)
                .and_then(|before| before.chars().next_back())
                .is_none_or(|c| !c.is_alphanumeric());
            from = start + beginning.len();
            if length >= least && alone {
                let end = from + length;
                text = Cow::Owned(format!(
                    "{}[credential]{}",
                    text.get(..start).unwrap_or_default(),
                    text.get(end..).unwrap_or_default()
                ));
                from = start;
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::Scrubber;

    fn check(text: &str, expected: &str) {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let scrubber = Scrubber::new([
            pair("API_TOKEN", "hunter2hunter2"),
            pair("db_password", "hunter2"),
            pair("PATH", "/usr/bin:/bin"),
            pair("EMPTY_KEY", ""),
            pair("SHORT_KEY", "abc"),
        ]);
        assert_eq!(scrubber.clean(text), expected);
    }

    #[test]
    fn secrets_and_escapes_do_not_get_out() {
        check("x=hunter2hunter2;", "x=[API_TOKEN];");
        check("hunter2", "[db_password]");
        check("/usr/bin:/bin abc", "/usr/bin:/bin abc");
        check("\u{1b}[31mred\u{1b}[0m\tb\nc\0d\r", "red\tb\nc\u{2400}d");
        check("key ghp_0123456789012345678901234567890123456 end", "key [credential] end");
        check("ask-me-nothing-of-this-length-please", "ask-me-nothing-of-this-length-please");
        check("sk-short", "sk-short");
    }
}
