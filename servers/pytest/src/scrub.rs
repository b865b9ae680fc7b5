//! What must not leave: values of variables that look like secrets, and what only a terminal understands.

use std::borrow::Cow;

/// Parts of names that mark a variable as secret.
const TELLING: [&str; 8] =
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "PRIVATE"];
/// Shorter values occur by chance.
const SHORTEST: usize = 6;
/// Beginnings of well-known credentials, and how many characters follow at least.
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

/// Values to take out of everything that is returned. Has no `Debug`, so that it cannot print them.
#[derive(Clone, Default)]
pub(crate) struct Scrub(Vec<(String, String)>);

impl Scrub {
    /// From variables by name and value.
    pub(crate) fn of(variables: impl IntoIterator<Item = (String, String)>) -> Scrub {
        let secret = |name: &str| {
            let name = name.to_ascii_uppercase();
            TELLING.iter().any(|part| name.contains(part))
        };
        let mut values: Vec<(String, String)> = variables
            .into_iter()
            .filter(|(name, value)| secret(name) && value.trim().len() >= SHORTEST)
            .map(|(name, value)| (value.trim().to_owned(), format!("[{name}]")))
            .collect();
        // A value that contains another goes first.
        values.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        Scrub(values)
    }

    /// Takes out one more text, such as a private path.
    pub(crate) fn and(mut self, text: String, name: &str) -> Scrub {
        self.0.insert(0, (text, name.to_owned()));
        self
    }

    /// From this process's own environment.
    pub(crate) fn of_environment() -> Scrub {
        Scrub::of(
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

/// Drops terminal escape sequences and control characters other than line break and tab.
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
    use super::Scrub;

    fn check(text: &str, expected: &str) {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let scrub = Scrub::of([
            pair("API_TOKEN", "hunter2hunter2"),
            pair("db_password", "hunter2"),
            pair("PATH", "/usr/bin:/bin"),
            pair("EMPTY_KEY", ""),
            pair("SHORT_KEY", "abc"),
        ]);
        assert_eq!(scrub.clean(text), expected);
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
