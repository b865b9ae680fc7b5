//! Passwords in URLs: `scheme://user:password@host`.

use memchr::{memchr, memmem};

use super::is_password;
use crate::guard::category::Category;
use crate::guard::detect::pattern::{Span, before};

/// Maximum length of a password that contains a slash. Such a URL is invalid, and a longer search costs time.
const LONGEST_WITH_SLASH: usize = 128;

pub(in crate::guard) fn may_be_in(text: &[u8]) -> bool {
    Urls::new(text).next().is_some()
}

pub(in crate::guard) fn find(text: &[u8], spans: &mut Vec<Span>) {
    let category = Category::ConnectionString;
    spans.extend(Urls::new(text).map(|(start, end)| Span { start, end, category }));
}

/// The passwords of a text.
struct Urls<'t> {
    text: &'t [u8],
    at: usize,
    /// The next at sign, which every password needs.
    sign: Option<usize>,
}

impl<'t> Urls<'t> {
    fn new(text: &'t [u8]) -> Urls<'t> {
        Urls { text, at: 0, sign: memchr(b'@', text) }
    }

    /// The next at sign from a position.
    fn sign_from(&mut self, at: usize) -> Option<usize> {
        if self.sign.is_some_and(|sign| sign < at) {
            self.sign = memchr(b'@', self.text.get(at..)?).map(|found| at + found);
        }
        self.sign
    }
}

impl Iterator for Urls<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        loop {
            // A text without another at sign holds no password, however many addresses it holds.
            self.sign?;
            let scheme_end = self.at + memmem::find(self.text.get(self.at..)?, b"://")?;
            self.at = scheme_end + 3;
            let sign = self.sign_from(self.at)?;
            if let Some(found) = password(self.text, scheme_end, sign) {
                return Some(found);
            }
        }
    }
}

/// The range of the password in a URL. User and password contain no slash, so each byte is looked at for one
/// URL only; a password with a slash is short.
fn password(text: &[u8], scheme_end: usize, sign: usize) -> Option<(usize, usize)> {
    let quote = quote_before(text, scheme_end);
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'\\' | 0)
            || quote.map_or(is_quote(*byte), |quote| *byte == quote)
    };
    let authority = scheme_end + 3;
    let rest = text.get(authority..)?;
    let colon = rest
        .iter()
        .position(|byte| ends(byte) || is_quote(*byte) || matches!(byte, b':' | b'/' | b'?' | b'#' | b'@'))?;
    let after = rest.get(colon + 1..).filter(|_| rest.get(colon) == Some(&b':'))?;
    let start = authority + colon + 1;
    if sign < start {
        return None;
    }
    let length = after.iter().position(|byte| ends(byte) || matches!(byte, b'/' | b'?' | b'#'));
    let own = after.get(..length.unwrap_or(after.len()))?;
    let at = match own.iter().rposition(|byte| *byte == b'@') {
        Some(at) => at,
        // The password contains a slash. A port number is not a password.
        None if own.iter().all(u8::is_ascii_digit) || sign - start > LONGEST_WITH_SLASH => return None,
        None => {
            let near = after.get(..LONGEST_WITH_SLASH.min(after.len()))?;
            near.iter()
                .position(|byte| *byte == b'@' || ends(byte) || is_quote(*byte))
                .filter(|at| near.get(*at) == Some(&b'@'))?
        }
    };
    is_password(after.get(..at)?).then_some((start, start + at))
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`')
}

/// The sign that ends a URL in quotes. A URL without quotes may contain some.
fn quote_before(text: &[u8], scheme_end: usize) -> Option<u8> {
    let is_scheme = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let length =
        text.get(scheme_end.saturating_sub(32)..scheme_end)?.iter().rev().take_while(is_scheme).count();
    match before(text, scheme_end - length) {
        Some(b'<') => Some(b'>'),
        Some(quote @ (b'"' | b'\'' | b'`')) => Some(*quote),
        // Within a sentence or an assignment, a quote may be part of a password.
        _ => Some(b'"'),
    }
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn passwords_are_found_and_ports_are_not() {
        let long_user = format!("postgres://{}:Hunter2Pass@db", "u".repeat(3_000));
        for (text, password) in [
            ("postgres://app:s3cr3t@db:5432/x", Some("s3cr3t")),
            ("redis://:pw@h", Some("pw")),
            ("mongodb+srv://u:p@ss@h/db", Some("p@ss")),
            ("amqp://u:a/b@h", Some("a/b")),
            ("postgres://app:$ecret123@db", Some("$ecret123")),
            ("postgres://app:%24ecret123@db", Some("%24ecret123")),
            ("postgres://app:{ecret9@db", Some("{ecret9")),
            ("postgres://app:<ecret9@db", Some("<ecret9")),
            ("postgres://app:[ecret9@db", Some("[ecret9")),
            ("postgres://app:it's4you@db", Some("it's4you")),
            ("'postgres://app:plain4you@db'", Some("plain4you")),
            (long_user.as_str(), Some("Hunter2Pass")),
            ("http://h:8080/a@b", None),
            ("http://h/x:y@z", None),
            ("https://user@h/", None),
            ("postgres://u:${PW}@h", None),
            ("postgres://u:$DB_PASS@h", None),
            ("postgres://u:$password@h", None),
            ("postgres://u:{password}@h", None),
            ("postgres://u:{{ db.pw }}@h", None),
            ("postgres://u:%s@h", None),
            ("postgres://u:<password>@h", None),
            ("postgres://u:****@h", None),
            ("see https://h and u:p@h", None),
            (r#"{"url":"http://h:80","mail":"x@y"}"#, None),
            ("'http://h:80', 'x@y'", None),
        ] {
            let mut spans = Vec::new();
            find(text.as_bytes(), &mut spans);
            assert_eq!(spans.first().map(|s| &text[s.start..s.end]), password, "{text}");
        }
    }
}
