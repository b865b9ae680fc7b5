//! Passwords in URLs: `scheme://user:password@host`.

use memchr::memmem;

use super::pattern::Span;
use super::secrets::is_password;
use crate::guard::category::Category;

/// Maximum length of user and password together.
const LONGEST: usize = 1_024;
/// Maximum length of a password that contains a slash. Such a URL is invalid, and a longer search costs time.
const LONGEST_WITH_SLASH: usize = 128;

pub(in crate::guard) fn may_be_in(text: &[u8]) -> bool {
    memmem::find_iter(text, b"://").any(|at| password(text, at + 3).is_some())
}

pub(in crate::guard) fn find(text: &[u8], spans: &mut Vec<Span>) {
    for at in memmem::find_iter(text, b"://") {
        if let Some((start, end)) = password(text, at + 3) {
            spans.push(Span { start, end, category: Category::ConnectionString });
        }
    }
}

/// The range of the password in a URL whose authority begins at `authority`.
fn password(text: &[u8], authority: usize) -> Option<(usize, usize)> {
    let rest = text.get(authority..)?;
    let rest = rest.get(..LONGEST.min(rest.len()))?;
    let colon =
        rest.iter().position(|byte| ends(byte) || matches!(byte, b':' | b'/' | b'?' | b'#' | b'@'))?;
    let after = rest.get(colon + 1..).filter(|_| rest.get(colon) == Some(&b':'))?;
    let length = after.iter().position(|byte| ends(byte) || matches!(byte, b'/' | b'?' | b'#'));
    let own = after.get(..length.unwrap_or(after.len()))?;
    let at = match own.iter().rposition(|byte| *byte == b'@') {
        Some(at) => at,
        // The password contains a slash. A port number is not a password.
        None if own.iter().all(u8::is_ascii_digit) => return None,
        None => {
            let near = after.get(..LONGEST_WITH_SLASH.min(after.len()))?;
            near.iter()
                .position(|byte| *byte == b'@' || ends(byte))
                .filter(|at| near.get(*at) == Some(&b'@'))?
        }
    };
    let start = authority + colon + 1;
    is_password(after.get(..at)?).then_some((start, start + at))
}

/// Bytes that end a URL.
fn ends(byte: &u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | 0)
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn passwords_are_found_and_ports_are_not() {
        for (text, password) in [
            ("postgres://app:s3cr3t@db:5432/x", Some("s3cr3t")),
            ("redis://:pw@h", Some("pw")),
            ("mongodb+srv://u:p@ss@h/db", Some("p@ss")),
            ("amqp://u:a/b@h", Some("a/b")),
            ("http://h:8080/a@b", None),
            ("http://h/x:y@z", None),
            ("https://user@h/", None),
            ("postgres://u:${PW}@h", None),
            ("postgres://u:****@h", None),
            ("see https://h and u:p@h", None),
        ] {
            let mut spans = Vec::new();
            find(text.as_bytes(), &mut spans);
            assert_eq!(spans.first().map(|s| &text[s.start..s.end]), password, "{text}");
        }
    }
}
