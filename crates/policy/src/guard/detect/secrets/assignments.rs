//! Secrets that a name announces: `password = "…"`, `Authorization: Bearer …`, `aws_secret_access_key=…`.

use memchr::memmem;

use super::{is_placeholder, last_forty};
use crate::guard::detect::checks::entropy;
use crate::guard::detect::encoded::decode;
use crate::guard::detect::pattern::before;

/// A kind of name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretName {
    Password,
    Secret,
    /// A key or token of an interface.
    Key,
    Bearer,
    Basic,
}

impl SecretName {
    pub(super) const ALL: [SecretName; 5] =
        [SecretName::Password, SecretName::Secret, SecretName::Key, SecretName::Bearer, SecretName::Basic];

    /// Its words, in any case.
    pub(super) fn words(self) -> &'static [&'static str] {
        match self {
            SecretName::Password => &["password", "passwd", "passphrase", "pwd", "passwort", "kennwort"],
            SecretName::Secret => &["secret"],
            SecretName::Key => &[
                "api_key",
                "apikey",
                "api-key",
                "api key",
                "access_token",
                "access-token",
                "accesstoken",
                "auth_token",
                "auth-token",
                "authtoken",
                "refresh_token",
                "refreshtoken",
                "bot_token",
                "api_token",
                "apitoken",
                "private_token",
                "access_key",
                "encryption_key",
                "signing_key",
            ],
            SecretName::Bearer => &["bearer "],
            SecretName::Basic => &["basic "],
        }
    }
}

/// Words of connection strings, in any case.
pub(super) const SETTINGS: &[&str] = &[
    "server=",
    "host=",
    "hostaddr=",
    "data source=",
    "user id=",
    "uid=",
    "user=",
    "username=",
    "database=",
    "dbname=",
    "initial catalog=",
    "sslmode=",
    "jdbc:",
];

/// The most characters of a name after its word: `password_for_the_database`.
const NAME: usize = 24;
/// The longest value.
const VALUE: usize = 512;

/// An AWS secret access key after its name, also in a sentence.
pub(super) fn aws_secret(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let mut at = end;
    let is_access = skip_word(text, &mut at, b"access");
    let is_key = skip_word(text, &mut at, b"key");
    let ahead = text.get(start.saturating_sub(4)..start).unwrap_or_default();
    let is_aws = ahead.windows(3).any(|part| part.eq_ignore_ascii_case(b"aws"));
    if !(is_key || is_aws && !is_access) {
        return None;
    }
    let between = |at: usize, most: usize| {
        let rest = text.get(at..).unwrap_or_default();
        let is_code = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+');
        Some(rest.iter().take(most).take_while(|byte| !is_code(byte)).count()).filter(|count| *count > 0)
    };
    at += between(at, 12)?;
    const VERBS: [&[u8]; 3] = [b"is", b"was", b"of"];
    let verb = VERBS.iter().find(|verb| {
        text.get(at..at + verb.len()).is_some_and(|word| word.eq_ignore_ascii_case(verb))
            && between(at + verb.len(), 6).is_some()
    });
    if let Some(verb) = verb {
        at += verb.len() + between(at + verb.len(), 6)?;
    }
    let value = text.get(at..at + 40)?;
    let fits = value.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'+'));
    fits.then(|| last_forty(text, at + 40)).flatten()
}

/// Skips a word, and one character before it.
fn skip_word(text: &[u8], at: &mut usize, word: &[u8]) -> bool {
    for gap in [0, 1] {
        let from = *at + gap;
        if text.get(from..from + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word)) {
            *at = from + word.len();
            return true;
        }
    }
    false
}

/// A value in quotes, or after an equals sign without spaces.
pub(super) fn credential(text: &[u8], name: SecretName, start: usize, end: usize) -> Option<(usize, usize)> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let rest = text.get(end..)?;
    let tail = rest.iter().take(NAME).take_while(is_part).count();
    if is_other_name(rest.get(..tail)?) {
        return None;
    }
    let mut at = end + tail;
    at += count(text, at, 2, |byte| matches!(byte, b'"' | b'\'' | b'`' | b']' | b'*' | b')'));
    let spaces = count(text, at, 8, |byte| matches!(byte, b' ' | b'\t'));
    let signs = count(text, at + spaces, 3, |byte| matches!(byte, b'=' | b':' | b'>'));
    if signs == 0 {
        return None;
    }
    let at = at + spaces + signs;
    let after = count(text, at, 8, |byte| matches!(byte, b' ' | b'\t'));
    let at = at + after;
    let quote = text.get(at).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    let begin = at + usize::from(quote.is_some());
    let ends = |byte: u8| match quote {
        Some(quote) => byte == quote || byte == b'\n' || byte == b'\\',
        None => {
            byte.is_ascii_whitespace()
                || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'&' | b'<' | b')' | b'}' | b'=')
        }
    };
    let length = count(text, begin, VALUE, |byte| !ends(byte));
    let value = text.get(begin..begin + length)?;
    let closed = quote.is_none() || text.get(begin + length) == quote.as_ref();
    let is_call = text.get(begin + length) == Some(&b'(') || value.contains(&b'(') && quote.is_none();
    let glued =
        before(text, start).is_some_and(|byte| byte.is_ascii_alphabetic()) && name != SecretName::Password;
    let least = match (name, quote) {
        (SecretName::Password, Some(_)) => 6,
        (SecretName::Password, None) => 8,
        _ => 16,
    };
    let fits = closed && !is_call && !glued && length >= least;
    (fits && is_credential(value, name, quote.is_some())).then_some((begin, begin + length))
}

fn count(text: &[u8], at: usize, most: usize, is_part: impl Fn(u8) -> bool) -> usize {
    text.get(at..).unwrap_or_default().iter().take(most).take_while(|byte| is_part(**byte)).count()
}

/// Names that contain the word and hold no secret: `password_hash`, `secret_name`, `token_url`.
fn is_other_name(tail: &[u8]) -> bool {
    const OTHERS: [&[u8]; 22] = [
        b"hash", b"file", b"path", b"url", b"uri", b"name", b"id", b"type", b"field", b"length", b"policy",
        b"prompt", b"hint", b"label", b"ref", b"arn", b"version", b"expires", b"count", b"input", b"regex",
        b"env",
    ];
    let last = tail.rsplit(|byte| matches!(byte, b'_' | b'-' | b'.')).next().unwrap_or_default();
    OTHERS.iter().any(|other| last.eq_ignore_ascii_case(other))
        || OTHERS.iter().any(|other| {
            let split = last.len().saturating_sub(other.len());
            split == 0 && last.eq_ignore_ascii_case(other)
                || last.get(split..).is_some_and(|end| {
                    end.first().is_some_and(u8::is_ascii_uppercase) && end.eq_ignore_ascii_case(other)
                })
        })
}

fn is_credential(value: &[u8], name: SecretName, quoted: bool) -> bool {
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_sign = |byte: &&u8| {
        matches!(**byte, b'!' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'?' | b'~' | b'@' | b'+')
    };
    let signs = value.iter().filter(is_sign).count();
    if letters == 0 || digits + signs == 0 || value.iter().any(u8::is_ascii_whitespace) || is_stand_in(value)
    {
        return false;
    }
    match name {
        SecretName::Password => quoted || digits > 0 && !is_expression(value),
        _ => digits >= 2 && value.iter().all(|byte| is_key_character(*byte)) && entropy(value) >= 3.0,
    }
}

fn is_key_character(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'-' | b'+' | b'/' | b'=' | b'.' | b'~' | b'!' | b'@' | b'$')
}

/// An expression of a program: a path, an index, a member of an object.
fn is_expression(value: &[u8]) -> bool {
    matches!(value.first(), Some(b'/' | b'.' | b'\\' | b'~' | b'&' | b'*'))
        || value.iter().any(|byte| matches!(byte, b'[' | b'{' | b'|' | b':' | b'\\'))
        || memmem::find(value, b"->").is_some()
        || value.contains(&b'.')
            && value.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'))
}

/// Values of examples and templates.
fn is_stand_in(value: &[u8]) -> bool {
    const WORDS: [&[u8]; 12] = [
        b"your",
        b"example",
        b"placeholder",
        b"redacted",
        b"changeme",
        b"xxxx",
        b"****",
        b"....",
        b"insert",
        b"${",
        b"{{",
        b"://",
    ];
    let lower = value.to_ascii_lowercase();
    is_placeholder(value)
        || WORDS.iter().any(|word| memmem::find(&lower, word).is_some())
        || lower.starts_with(b"env.")
        || lower.starts_with(b"process.")
}

/// The token of an `Authorization` header.
pub(super) fn bearer(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    if before(text, start).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let is_part = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~' | b'+' | b'/' | b'-' | b'=')
    };
    let length = count(text, end, 4_096, is_part);
    let value = text.get(end..end + length)?;
    let near = value.get(..length.min(VALUE))?;
    let digits = near.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = near.iter().any(u8::is_ascii_alphabetic);
    (length >= 16 && letters && digits >= 2 && !is_stand_in(near)).then_some((end, end + length))
}

/// The base64 of a name and a password in an `Authorization` header.
pub(super) fn basic(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    if before(text, start).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
    let length = count(text, end, VALUE, is_part);
    let padding = count(text, end + length, 2, |byte| byte == b'=');
    let mut pair = Vec::new();
    decode(text.get(end..end + length)?, 0, &mut pair);
    let colon = pair.iter().position(|byte| *byte == b':')?;
    let visible = pair.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ');
    (length >= 8 && colon > 0 && colon + 1 < pair.len() && visible).then_some((end, end + length + padding))
}
