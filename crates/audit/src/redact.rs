//! What is taken out of foreign text before it is kept.

use std::sync::Arc;

use serde_json::Value;

/// Takes secrets out of a text.
pub type Redactor = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Text on its way to disk.
#[derive(Clone)]
pub(crate) struct Redact {
    redactor: Redactor,
}

impl std::fmt::Debug for Redact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redact")
    }
}

/// A secret longer than this may lose its end unrecognised at a cut; no private key is as long.
const LONGEST_SECRET: usize = 8 * 1024;

/// The last place at or before `most` where a text may be cut.
fn boundary(text: &str, most: usize) -> usize {
    (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0)
}

impl Redact {
    pub(crate) fn new(redactor: Redactor) -> Redact {
        Redact { redactor }
    }

    /// The text without secrets, cut to at most `most` bytes; what was cut is counted. Redacted before it is
    /// cut: half a secret is not recognised. Of a text much longer than that only the beginning is looked at, and
    /// the last of what was looked at never kept: a secret may go on behind it.
    pub(crate) fn text(&self, text: &str, most: usize) -> String {
        let window = boundary(text, most.saturating_add(LONGEST_SECRET));
        let mut clean = (self.redactor)(text.get(..window).unwrap_or_default());
        let (kept, whole) = match window < text.len() {
            true => (most.min(clean.len().saturating_sub(LONGEST_SECRET)), text.len()),
            false => (most, clean.len()),
        };
        if clean.len() > kept {
            clean.truncate(boundary(&clean, kept));
            clean.push_str(&format!("… ({whole} bytes in all)"));
        }
        clean
    }

    /// Bytes as text, without secrets.
    pub(crate) fn bytes(&self, bytes: &[u8], most: usize) -> String {
        // One more than is looked at, so that the text knows it is not whole.
        let window = most.saturating_add(LONGEST_SECRET + 4).min(bytes.len());
        let seen = String::from_utf8_lossy(bytes.get(..window).unwrap_or_default());
        let text = self.text(&seen, most);
        match (window < bytes.len()).then(|| text.rsplit_once("… (")).flatten() {
            Some((kept, _)) => format!("{kept}… ({} bytes in all)", bytes.len()),
            None => text,
        }
    }

    /// A document with every text in it redacted, names of members included.
    pub(crate) fn value(&self, value: Value, most: usize) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text, most)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item, most)).collect(),
            Value::Object(members) => members
                .into_iter()
                .map(|(key, value)| (self.text(&key, most), self.value(value, most)))
                .collect(),
            plain => plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_SECRET, Redact};
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn redaction_comes_before_the_cut_and_reaches_names() {
        let redact = Redact::new(Arc::new(|text: &str| text.replace("SECRET", "[x]")));
        assert_eq!(redact.text("abc SECRET", 7), "abc [x]");
        assert_eq!(redact.text("ééé", 3), "é… (6 bytes in all)");
        let long = format!("{}SECRET{}", "a".repeat(LONGEST_SECRET), "b".repeat(100_000));
        let cut = redact.text(&long, LONGEST_SECRET + 3);
        assert!(cut.ends_with(&format!("… ({} bytes in all)", long.len())) && !cut.contains("SECR"));
        assert_eq!(redact.bytes(long.as_bytes(), LONGEST_SECRET + 3), cut);
        let clean = redact.value(json!({"SECRET": ["a SECRET", 1]}), 100);
        assert_eq!(clean, json!({"[x]": ["a [x]", 1]}));
    }
}
