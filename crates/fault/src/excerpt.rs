use crate::fact::is_deceptive;

/// Maximum number of characters.
const LONGEST: usize = 400;
/// Maximum number of lines.
const MOST_LINES: usize = 4;
/// Words that may precede a secret.
const TELLING: [&str; 11] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "token",
    "secret",
    "key",
    "apikey",
    "bearer",
    "basic",
    "authorization",
];
/// A word of this length with letters and digits is treated as a secret.
const LONG: usize = 16;

/// Foreign text that a caller may read because the operator trusts its source. It is short, and without
/// anything that looks like a secret, a path or a host name. Renderers put it into a separate block, never
/// into our own sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt(Box<str>);

impl Excerpt {
    /// Scrubs the error message of a trusted server. `None` if no text is left.
    pub fn of_trusted(text: &str) -> Option<Excerpt> {
        let lines = text.lines().take(MOST_LINES).map(scrubbed);
        let whole = lines.collect::<Vec<_>>().join("\n");
        let mut kept: String = whole.trim().chars().take(LONGEST).collect();
        if kept.len() < whole.trim().len() || text.lines().nth(MOST_LINES).is_some() {
            kept.push('…');
        }
        (!kept.trim_matches('…').is_empty()).then(|| Excerpt(kept.into()))
    }

    /// The text in a code fence that it cannot close.
    pub fn fenced(&self) -> String {
        format!("```\n{}\n```", self.0)
    }
}

fn scrubbed(line: &str) -> String {
    let line: String =
        line.chars().filter(|c| !is_deceptive(*c)).map(|c| if c == '`' { '\'' } else { c }).collect();
    let mut words = Vec::new();
    let mut after_telling = false;
    for word in line.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && !"/~.\\".contains(c));
        words.push(match masked(bare, after_telling) {
            Some(mask) => word.replace(bare, mask),
            None => word.to_owned(),
        });
        after_telling = is_telling(bare);
    }
    words.join(" ")
}

fn is_telling(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let last = word.rsplit(['_', '-', '.']).next().unwrap_or_default();
    TELLING.contains(&last)
}

/// The replacement for a word that must not be shown.
fn masked(word: &str, after_telling: bool) -> Option<&'static str> {
    let mixed = word.chars().any(|c| c.is_ascii_digit()) && word.chars().any(char::is_alphabetic);
    let names_secret = word.split_once(['=', ':']).is_some_and(|(name, value)| {
        let name = name.trim_end_matches(|c: char| !c.is_alphanumeric());
        is_telling(name) && !value.is_empty()
    });
    let is_long = word.chars().count() >= LONG;
    if names_secret && !word.contains("://") {
        return Some("[secret]");
    }
    if word.contains("://") || word.contains('@') || is_address(word) {
        return Some("[address]");
    }
    if is_long && mixed || after_telling && (mixed || is_long) {
        return Some("[secret]");
    }
    let is_path = word.starts_with(['/', '~']) || word.contains('\\') || word.matches('/').count() > 1;
    is_path.then_some("[path]")
}

/// Whether a word looks like a host name or an IP address. Some file names match too.
fn is_address(word: &str) -> bool {
    let labels: Vec<&str> = word.trim_end_matches('.').split(['.', ':']).collect();
    let plain = |label: &&str| {
        label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-') && !label.is_empty()
    };
    let is_number = labels.iter().all(|label| label.chars().all(|c| c.is_ascii_digit()));
    labels.len() > 1
        && labels.iter().all(plain)
        && (labels.len() > 3 || !is_number)
        && labels.iter().any(|label| label.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::Excerpt;

    fn check(text: &str, expected: &str) {
        let excerpt = Excerpt::of_trusted(text).expect("something to read");
        assert_eq!(excerpt.fenced(), format!("```\n{expected}\n```"), "{text}");
    }

    #[test]
    fn what_helps_stays_and_what_must_not_leave_goes() {
        check("Invalid arguments: `limit` must be <= 100", "Invalid arguments: 'limit' must be <= 100");
        check("token expired, log in again", "token expired, log in again");
        check("row 5 of 20 is empty, e.g. the last", "row 5 of 20 is empty, e.g. the last");
        check("connect postgres://admin:hunter2@db.internal failed", "connect [address] failed");
        check("db.internal:5432 and (10.0.0.7) refused", "[address] and ([address]) refused");
        check("token ghp_0123456789abcdef at /srv/app.py line 12", "token [secret] at [path] line 12");
        check("password=hunter2; api_key: abc123", "[secret]; api_key: [secret]");
        check("Authorization: Bearer abcdefghijklmnopqrst", "Authorization: Bearer [secret]");
        check("mail root@example.com or C:\\Users\\me", "mail [address] or [path]");
        check("a\u{202e}b\u{200b}c\u{1b}[31m", "abc[31m");
    }

    #[test]
    fn it_is_short_and_cannot_leave_its_fence() {
        check("```\nout\n```", "'''\nout\n'''");
        check(&"word ".repeat(200), &format!("{}…", "word ".repeat(80)));
        check("1\n2\n3\n4\n5", "1\n2\n3\n4…");
        assert!(Excerpt::of_trusted(" \n\u{200b} ").is_none());
    }
}
