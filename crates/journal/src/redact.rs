//! Redacts foreign text before it is stored.

use std::sync::Arc;

use serde_json::Value;

/// Removes secrets from a text.
pub type Redactor = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Removes everything from a body that may not be stored.
pub type BodyRedactor = Arc<dyn Fn(&StoredBody<'_>) -> String + Send + Sync>;

#[derive(Debug, Clone, Copy)]
pub struct StoredBody<'a> {
    pub sort: BodyKind,
    /// The server of the exchange, if guards have settings per server.
    pub server: &'a str,
    /// The body, possibly cut.
    pub text: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyKind {
    Request,
    Result,
    Error,
}

#[derive(Clone)]
pub struct TextRedactor {
    redactor: Redactor,
    bodies: Option<BodyRedactor>,
}

impl std::fmt::Debug for TextRedactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TextRedactor")
    }
}

/// Maximum length of a secret that is recognised across a cut. No private key is longer.
const LONGEST_SECRET: usize = 8 * 1024;

impl TextRedactor {
    /// Texts pass this redactor.
    pub fn new(redactor: Redactor) -> TextRedactor {
        TextRedactor { redactor, bodies: None }
    }

    /// Sets a separate redactor for bodies.
    pub fn with_bodies(mut self, bodies: Option<BodyRedactor>) -> TextRedactor {
        self.bodies = bodies;
        self
    }

    /// Redacts and cuts a body.
    pub fn body(&self, sort: BodyKind, server: &str, bytes: &[u8], most: usize) -> String {
        let text = String::from_utf8_lossy(bytes);
        match &self.bodies {
            Some(bodies) => beginning(&text, most, |text| bodies(&StoredBody { sort, server, text })),
            None => self.text(&text, most),
        }
    }

    /// Redacts a text and cuts it to `most` bytes; the output states the original length. Redaction comes
    /// first, because a cut secret is not recognised. Of a much longer text only the beginning is redacted.
    /// The end of that part is dropped, because a secret may continue after it.
    pub fn text(&self, text: &str, most: usize) -> String {
        beginning(text, most, |text| (self.redactor)(text))
    }

    /// Redacts bytes as text.
    pub fn bytes(&self, bytes: &[u8], most: usize) -> String {
        // One byte more than is redacted, so that the text is known to be cut.
        let window = most.saturating_add(LONGEST_SECRET + 4).min(bytes.len());
        let seen = String::from_utf8_lossy(bytes.get(..window).unwrap_or_default());
        let text = self.text(&seen, most);
        match (window < bytes.len()).then(|| text.rsplit_once("… (")).flatten() {
            Some((kept, _)) => format!("{kept}… ({} bytes in all)", bytes.len()),
            None => text,
        }
    }

    /// Redacts all strings of a JSON value, member names included.
    pub fn value(&self, value: Value, most: usize) -> Value {
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

/// Redacts the beginning of a text and cuts it to `most` bytes.
fn beginning(text: &str, most: usize, clean: impl Fn(&str) -> String) -> String {
    let window = text.floor_char_boundary(most.saturating_add(LONGEST_SECRET));
    let mut clean = clean(text.get(..window).unwrap_or_default());
    let (kept, whole) = match window < text.len() {
        true => (most.min(clean.len().saturating_sub(LONGEST_SECRET)), text.len()),
        false => (most, clean.len()),
    };
    if clean.len() > kept {
        clean.truncate(clean.floor_char_boundary(kept));
        clean.push_str(&format!("… ({whole} bytes in all)"));
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_SECRET, TextRedactor};
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn redaction_comes_before_the_cut_and_reaches_names() {
        let redact = TextRedactor::new(Arc::new(|text: &str| text.replace("SECRET", "[x]")));
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
