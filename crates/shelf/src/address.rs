//! The checked names: nothing else becomes part of a URI or of a path.

use std::fmt;

use failwell_fault::{Echo, Fault, reason};

/// What every URI of a shelf begins with.
pub const SCHEME: &str = "resource://";

/// A type of resources: a small letter, then up to 31 small letters, digits, `_` or `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(Box<str>);

impl Kind {
    const LONGEST: usize = 32;

    /// Checks a name.
    pub fn new(name: &str) -> Result<Kind, Fault> {
        let mut bytes = name.bytes();
        let begins = bytes.next().is_some_and(|first| first.is_ascii_lowercase());
        let goes_on = bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-'));
        match begins && goes_on && name.len() <= Self::LONGEST {
            true => Ok(Kind(name.into())),
            false => Err(no_name("type", name)),
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The ending of a resource, with its dot: `.png`. It may be empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Extension(Box<str>);

impl Extension {
    const LONGEST: usize = 16;

    /// Checks an ending, with or without its dot: up to 16 small letters and digits.
    pub fn new(ending: &str) -> Result<Extension, Fault> {
        let bare = ending.strip_prefix('.').unwrap_or(ending);
        let plain = bare.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        match plain && (1..=Self::LONGEST).contains(&bare.len()) {
            true => Ok(Extension(format!(".{bare}").into_boxed_str())),
            false => Err(no_name("ending", ending)),
        }
    }

    /// No ending.
    pub fn none() -> Extension {
        Extension::default()
    }

    /// The ending with its dot, or nothing.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A SHA-256 in small hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Digest(Box<str>);

impl Digest {
    pub(crate) fn of(hash: &[u8]) -> Digest {
        let mut text = String::with_capacity(64);
        for byte in hash {
            for half in [byte >> 4, byte & 15] {
                text.push(char::from_digit(u32::from(half), 16).unwrap_or('0'));
            }
        }
        Digest(text.into_boxed_str())
    }

    pub(crate) fn parse(text: &str) -> Option<Digest> {
        let small = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (text.len() == 64 && text.bytes().all(small)).then(|| Digest(text.into()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Where one resource is: its type, its hash and its ending.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Address {
    pub(crate) kind: Kind,
    pub(crate) digest: Digest,
    pub(crate) extension: Extension,
}

impl Address {
    /// Reads a URI. One that could be ours but has no hash in it is of no resource; anything else is malformed.
    pub fn parse(uri: &str) -> Result<Address, Fault> {
        let malformed = || Fault::new(&reason::SHELF_BAD_URI).fact("uri", Echo::of_caller(uri));
        let (kind, file) =
            uri.strip_prefix(SCHEME).and_then(|rest| rest.split_once('/')).ok_or_else(malformed)?;
        let kind = Kind::new(kind).map_err(|_| malformed())?;
        let (name, extension) = split(file).ok_or_else(malformed)?;
        let digest = Digest::parse(name).ok_or_else(|| unknown(uri))?;
        Ok(Address { kind, digest, extension })
    }

    /// The name of its file.
    pub(crate) fn file_name(&self) -> String {
        format!("{}{}", self.digest.as_str(), self.extension.as_str())
    }

    /// The address a file of this name has.
    pub(crate) fn of_file(kind: &Kind, file: &str) -> Option<Address> {
        let (name, extension) = split(file)?;
        Some(Address { kind: kind.clone(), digest: Digest::parse(name)?, extension })
    }

    /// The answer where it is not.
    pub(crate) fn unknown(&self) -> Fault {
        unknown(&self.to_string())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}{}", self.kind.as_str(), self.digest.as_str(), self.extension.as_str())
    }
}

/// A plain name and its ending, if the text is that.
fn split(file: &str) -> Option<(&str, Extension)> {
    let (name, extension) = match file.split_once('.') {
        Some((name, ending)) => (name, Extension::new(ending).ok().filter(|_| !ending.starts_with('.'))?),
        None => (file, Extension::none()),
    };
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    (plain && (1..=64).contains(&name.len())).then_some((name, extension))
}

fn unknown(uri: &str) -> Fault {
    Fault::new(&reason::MCP_UNKNOWN_RESOURCE).fact("uri", Echo::of_caller(uri))
}

pub(crate) fn no_name(what: &'static str, name: &str) -> Fault {
    Fault::new(&reason::SHELF_BAD_NAME).fact("what", what).fact("name", Echo::of_caller(name))
}

#[cfg(test)]
mod tests {
    use super::{Address, Extension, Kind};

    const HASH: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn types_are_names() {
        for good in ["a", "screenshots", "run_2-x", &"x".repeat(32)] {
            assert!(Kind::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "..",
            "../../x",
            "a/b",
            "a\\b",
            "A",
            "1a",
            "-a",
            "a.b",
            "a\0",
            "a\n",
            "a b",
            "ａ",
            "а",
            "a\u{202e}",
            "%2e%2e",
            "con:",
            &"x".repeat(33),
        ] {
            assert!(Kind::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn endings_are_letters_and_digits() {
        assert_eq!(Extension::new("png").map(|e| e.as_str().to_owned()).ok().as_deref(), Some(".png"));
        assert_eq!(Extension::new(".mp4").map(|e| e.as_str().to_owned()).ok().as_deref(), Some(".mp4"));
        for bad in ["", ".", "..", "../x", "PNG", "p/g", "p\0g", "tar.gz", "ｐng", &"x".repeat(17)] {
            assert!(Extension::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_uri_is_ours_unknown_or_malformed() {
        for (uri, wanted) in [
            (format!("resource://screenshots/{HASH}.png"), None),
            (format!("resource://screenshots/{HASH}"), None),
            ("resource://screenshots/abcd1234.png".to_owned(), Some("mcp/UNKNOWN_RESOURCE")),
            (format!("resource://screenshots/{}.png", HASH.to_uppercase()), Some("mcp/UNKNOWN_RESOURCE")),
            (format!("resource://../{HASH}.png"), Some("shelf/BAD_URI")),
            (format!("resource://screenshots/{HASH}.png/../../x"), Some("shelf/BAD_URI")),
            (format!("resource://screenshots/{HASH}.p\0g"), Some("shelf/BAD_URI")),
            (format!("resource://screenshots/{HASH}..png"), Some("shelf/BAD_URI")),
            (format!("resource://screenshots/{HASH}."), Some("shelf/BAD_URI")),
            (format!("resource:/screenshots/{HASH}.png"), Some("shelf/BAD_URI")),
            (format!("resource://screenshots/{}", "a".repeat(65)), Some("shelf/BAD_URI")),
            ("resource://screenshots/".to_owned(), Some("shelf/BAD_URI")),
            ("resource://".to_owned(), Some("shelf/BAD_URI")),
            ("".to_owned(), Some("shelf/BAD_URI")),
        ] {
            let read = Address::parse(&uri);
            assert_eq!(read.as_ref().err().map(|fault| fault.reason().id), wanted, "{uri:?}");
            if let Ok(address) = read {
                assert_eq!(address.to_string(), uri);
            }
        }
    }
}
