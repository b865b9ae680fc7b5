//! Credentials that can be told by their shape alone, taken out when no better redactor is at hand.

/// Beginnings of well-known credentials, and how many characters follow at least.
const SHAPES: [(&str, usize); 14] = [
    ("ghp_", 30),
    ("gho_", 30),
    ("ghs_", 30),
    ("github_pat_", 30),
    ("glpat-", 18),
    ("sk-", 20),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("AKIA", 16),
    ("AIza", 30),
    ("eyJ", 40),
    ("-----BEGIN ", 20),
];

/// The text with such credentials, and passwords within URLs, replaced. Linear in the length of the text.
pub fn without_credentials(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(word_end) = next_word(rest) {
        let (word, after) = rest.split_at(word_end);
        match credential(word, after) {
            Some(length) => {
                clean.push_str("[redacted]");
                rest = rest.get(length..).unwrap_or_default();
            }
            None => {
                push_url(&mut clean, word);
                rest = after;
            }
        }
    }
    clean
}

/// The end of the first word, with what stands before it: a word is what may be part of a credential.
fn next_word(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    if !is_part(first) && first != '-' {
        return Some(first.len_utf8());
    }
    Some(text.find(|c: char| !is_part(c) && !"-:/@%?&=+~".contains(c)).unwrap_or(text.len()))
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.')
}

/// How many bytes a credential at the beginning of `word` takes; a private key goes to its end.
fn credential(word: &str, after: &str) -> Option<usize> {
    let (begin, _) = SHAPES.iter().find(|(begin, least)| {
        let word = if begin.ends_with(' ') { format!("{word} ") } else { word.to_owned() };
        word.starts_with(begin) && (begin.ends_with(' ') || word.len() >= begin.len() + least)
    })?;
    if !begin.ends_with(' ') {
        return Some(word.len());
    }
    let end = after.find("-----END ").map_or(after.len(), |at| {
        let tail = after.get(at + 9..).unwrap_or_default();
        at + 9 + tail.find("-----").map_or(tail.len(), |close| close + 5)
    });
    Some(word.len() + end)
}

/// A password between `://` and `@` is replaced, and a credential after `=`, `:` or `/` too.
fn push_url(clean: &mut String, word: &str) {
    if let Some((scheme, rest)) = word.split_once("://")
        && let Some((user, host)) = rest.split_once('@')
        && user.contains(':')
    {
        let name = user.split(':').next().unwrap_or_default();
        clean.push_str(&format!("{scheme}://{name}:[redacted]@{host}"));
        return;
    }
    let mut parts = word.split_inclusive(['=', ':', '/', '&', '?', '@']);
    for part in &mut parts {
        let bare = part.trim_end_matches(['=', ':', '/', '&', '?', '@']);
        match credential(bare, "") {
            Some(_) => clean.push_str(&part.replace(bare, "[redacted]")),
            None => clean.push_str(part),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::without_credentials;

    #[test]
    fn credentials_go_and_everything_else_stays() {
        let token = format!("ghp_{}", "a1".repeat(18));
        for (text, clean) in [
            (
                "nothing here, naïve “quotes”\n\ttab".to_owned(),
                "nothing here, naïve “quotes”\n\ttab".to_owned(),
            ),
            (format!("token={token};"), "token=[redacted];".to_owned()),
            (format!("\"{token}\""), "\"[redacted]\"".to_owned()),
            (format!("https://api/x?key={token}&y=1"), "https://api/x?key=[redacted]&y=1".to_owned()),
            ("postgres://bob:hunter2@db/x".to_owned(), "postgres://bob:[redacted]@db/x".to_owned()),
            ("sk-short".to_owned(), "sk-short".to_owned()),
            (
                "a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b".to_owned(),
                "a [redacted] b".to_owned(),
            ),
        ] {
            assert_eq!(without_credentials(&text), clean, "{text}");
        }
    }
}
