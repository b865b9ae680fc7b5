//! The original name of an uploaded file. The name never becomes a path here. It is checked because clients
//! may save a file under it.

use failwell_fault::{Fault, is_deceptive};

use crate::blob_store::uri::{Extension, bad_name};

/// A file name without folders. It contains no separators, no look-alikes of separators and no hidden
/// characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileName(Box<str>);

impl FileName {
    const LONGEST: usize = 255;

    pub fn new(name: &str) -> Result<FileName, Fault> {
        let fits = (1..=Self::LONGEST).contains(&name.len());
        let plain = name.chars().all(|c| !is_deceptive(c) && !is_like_a_separator(c) && c != '\u{FFFD}');
        let says_something = name.chars().any(|c| !matches!(c, '.' | ' '));
        match fits && plain && says_something {
            true => Ok(FileName(name.into())),
            false => Err(bad_name("file name", name)),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The extension in lower case, if it is a valid [`Extension`].
    pub fn extension(&self) -> Option<Extension> {
        let (before, ending) = self.0.rsplit_once('.')?;
        if before.is_empty() {
            return None;
        }
        Extension::new(&ending.to_ascii_lowercase()).ok()
    }
}

/// Separators, and characters that Unicode normalisation turns into a separator or a dot.
fn is_like_a_separator(c: char) -> bool {
    matches!(
        c,
        '/' | '\\' | '\u{2024}'
            ..='\u{2026}'
                | '\u{2044}'
                | '\u{2215}'
                | '\u{2216}'
                | '\u{29F5}'
                | '\u{29F8}'
                | '\u{29F9}'
                | '\u{FE52}'
                | '\u{FE68}'
                | '\u{FF0E}'
                | '\u{FF0F}'
                | '\u{FF3C}'
    )
}

#[cfg(test)]
mod tests {
    use super::FileName;

    #[test]
    fn names_have_no_folders_and_hide_nothing() {
        for (good, ending) in [
            ("a.PNG", Some(".png")),
            ("screen shot 1.png", Some(".png")),
            ("写真.jpeg", Some(".jpeg")),
            ("archive.tar.gz", Some(".gz")),
            ("a..b.txt", Some(".txt")),
            ("README", None),
            (".profile", None),
            ("a.日本", None),
        ] {
            let name = FileName::new(good).expect(good);
            assert_eq!(name.extension().as_ref().map(|e| e.as_str()), ending, "{good}");
        }
        for bad in [
            "",
            ".",
            "..",
            " ",
            "../x",
            "..\\x",
            "/etc/passwd",
            "a/b.png",
            "C:\\x.png",
            "a\0.png",
            "a\r\n.png",
            "a\u{202e}gnp.exe",
            "a\u{200b}.png",
            "．．／x",
            "a∕b",
            "a⁄b",
            "a…b",
            "\u{FFFD}.png",
            &"x".repeat(256),
        ] {
            assert!(FileName::new(bad).is_err(), "{bad:?}");
        }
    }
}
