//! Validated names. No other text becomes part of a URI or a path.

use std::fmt;

use failwell_fault::{Echo, Fault, reason};

/// The prefix of all URIs of the blob store.
pub const SCHEME: &str = "resource://";

/// A resource type: a lower-case letter, then up to 31 lower-case letters, digits, `_` or `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceType(Box<str>);

impl ResourceType {
    const LONGEST: usize = 32;

    pub fn new(name: &str) -> Result<ResourceType, Fault> {
        let mut bytes = name.bytes();
        let begins = bytes.next().is_some_and(|first| first.is_ascii_lowercase());
        let goes_on = bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-'));
        match begins && goes_on && name.len() <= Self::LONGEST {
            true => Ok(ResourceType(name.into())),
            false => Err(bad_name("type", name)),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The file extension of a resource, with its dot: `.png`. It may be empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Extension(Box<str>);

impl Extension {
    const LONGEST: usize = 16;

    /// Checks an extension, with or without its dot: up to 16 lower-case letters and digits.
    pub fn new(ending: &str) -> Result<Extension, Fault> {
        let bare = ending.strip_prefix('.').unwrap_or(ending);
        let plain = bare.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        match plain && (1..=Self::LONGEST).contains(&bare.len()) {
            true => Ok(Extension(format!(".{bare}").into_boxed_str())),
            false => Err(bad_name("extension", ending)),
        }
    }

    pub fn none() -> Extension {
        Extension::default()
    }

    /// The extension with its dot, or an empty string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A SHA-256 in lower-case hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Sha256Hex(Box<str>);

impl Sha256Hex {
    pub(crate) fn from_bytes(hash: &[u8]) -> Sha256Hex {
        Sha256Hex(hex::encode(hash).into_boxed_str())
    }

    pub(crate) fn parse(text: &str) -> Option<Sha256Hex> {
        let small = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (text.len() == 64 && text.bytes().all(small)).then(|| Sha256Hex(text.into()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The URI of a resource: its type, hash and extension.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BlobUri {
    pub(crate) kind: ResourceType,
    pub(crate) digest: Sha256Hex,
    pub(crate) extension: Extension,
}

impl BlobUri {
    /// Reads a URI. A well-formed URI without a hash names no resource; any other text is malformed.
    pub fn parse(uri: &str) -> Result<BlobUri, Fault> {
        let malformed = || Fault::new(&reason::SHELF_BAD_URI).fact("uri", Echo::of_caller(uri));
        let (kind, file) =
            uri.strip_prefix(SCHEME).and_then(|rest| rest.split_once('/')).ok_or_else(malformed)?;
        let kind = ResourceType::new(kind).map_err(|_| malformed())?;
        let (name, extension) = split(file).ok_or_else(malformed)?;
        let digest = Sha256Hex::parse(name).ok_or_else(|| unknown(uri))?;
        Ok(BlobUri { kind, digest, extension })
    }

    pub(crate) fn file_name(&self) -> String {
        format!("{}{}", self.digest.as_str(), self.extension.as_str())
    }

    /// The URI of a file with this name.
    pub(crate) fn from_file_name(kind: &ResourceType, file: &str) -> Option<BlobUri> {
        let (name, extension) = split(file)?;
        Some(BlobUri { kind: kind.clone(), digest: Sha256Hex::parse(name)?, extension })
    }

    /// The fault for a URI without a resource.
    pub(crate) fn unknown(&self) -> Fault {
        unknown(&self.to_string())
    }
}

impl fmt::Display for BlobUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}{}", self.kind.as_str(), self.digest.as_str(), self.extension.as_str())
    }
}

/// Splits a file name into a plain name and its extension.
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

pub(crate) fn bad_name(what: &'static str, name: &str) -> Fault {
    Fault::new(&reason::SHELF_BAD_NAME).fact("what", what).fact("name", Echo::of_caller(name))
}

#[cfg(test)]
mod tests {
    use super::{BlobUri, Extension, ResourceType};

    const HASH: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn types_are_names() {
        for good in ["a", "screenshots", "run_2-x", &"x".repeat(32)] {
            assert!(ResourceType::new(good).is_ok(), "{good}");
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
            assert!(ResourceType::new(bad).is_err(), "{bad:?}");
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
            let read = BlobUri::parse(&uri);
            assert_eq!(read.as_ref().err().map(|fault| fault.reason().id), wanted, "{uri:?}");
            if let Ok(address) = read {
                assert_eq!(address.to_string(), uri);
            }
        }
    }
}
