//! What is taken out of foreign text before it is kept.

use std::sync::Arc;

use serde_json::Value;

/// Takes secrets out of a text.
pub type Redactor = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Takes out of a body that is kept what may not be kept of it.
pub type BodyRedactor = Arc<dyn Fn(&KeptBody<'_>) -> String + Send + Sync>;

/// A body on its way to disk.
#[derive(Debug, Clone, Copy)]
pub struct KeptBody<'a> {
    /// What it is.
    pub sort: BodySort,
    /// The server it was for, where guards tell servers apart.
    pub server: &'a str,
    /// The body, perhaps cut.
    pub text: &'a str,
}

/// What a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodySort {
    /// What came in.
    Request,
    /// A result.
    Result,
    /// An error.
    Error,
}

/// Text on its way to disk.
#[derive(Clone)]
pub(crate) struct Redact {
    redactor: Redactor,
    bodies: Option<BodyRedactor>,
}

impl std::fmt::Debug for Redact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redact")
    }
}

impl Redact {
    pub(crate) fn new(redactor: Redactor) -> Redact {
        Redact { redactor, bodies: None }
    }

    /// Bodies are held to more than other texts.
    pub(crate) fn with_bodies(mut self, bodies: Option<BodyRedactor>) -> Redact {
        self.bodies = bodies;
        self
    }

    /// A body without what may not be kept of it.
    pub(crate) fn body(&self, sort: BodySort, server: &str, bytes: &[u8], most: usize) -> String {
        let text = String::from_utf8_lossy(bytes);
        match &self.bodies {
            Some(bodies) => capped(bodies(&KeptBody { sort, server, text: &text }), most),
            None => self.text(&text, most),
        }
    }

    /// The text without secrets, cut to at most `most` bytes; what was cut is counted. Redacted before it is
    /// cut: half a secret is not recognised.
    pub(crate) fn text(&self, text: &str, most: usize) -> String {
        capped((self.redactor)(text), most)
    }

    /// Bytes as text, without secrets.
    pub(crate) fn bytes(&self, bytes: &[u8], most: usize) -> String {
        self.text(&String::from_utf8_lossy(bytes), most)
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

fn capped(mut clean: String, most: usize) -> String {
    if clean.len() > most {
        let whole = clean.len();
        let end = (0..=most).rev().find(|end| clean.is_char_boundary(*end)).unwrap_or(0);
        clean.truncate(end);
        clean.push_str(&format!("… ({whole} bytes in all)"));
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::Redact;
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn redaction_comes_before_the_cut_and_reaches_names() {
        let redact = Redact::new(Arc::new(|text: &str| text.replace("SECRET", "[x]")));
        assert_eq!(redact.text("abc SECRET", 7), "abc [x]");
        assert_eq!(redact.text("ééé", 3), "é… (6 bytes in all)");
        let clean = redact.value(json!({"SECRET": ["a SECRET", 1]}), 100);
        assert_eq!(clean, json!({"[x]": ["a [x]", 1]}));
    }
}
