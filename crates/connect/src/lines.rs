use std::fmt;

/// The serialized headers of a request. Invalid headers are omitted.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct HeadLines(Vec<u8>);

impl HeadLines {
    /// An empty list with capacity for the usual headers.
    pub fn new() -> HeadLines {
        HeadLines(Vec::with_capacity(512))
    }

    /// Constant header lines, each with its line end.
    pub fn written(lines: &'static str) -> HeadLines {
        let mut all = HeadLines::new();
        all.0.extend_from_slice(lines.as_bytes());
        all
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> HeadLines {
        self.put(name, value);
        self
    }

    /// Adds a header. The caller must not add a name twice.
    pub fn put(&mut self, name: &str, value: impl AsRef<[u8]>) {
        let value = value.as_ref();
        if is_name(name) && is_value(value) {
            write_line(&mut self.0, name, value);
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.split(|byte| *byte == b'\n').any(|line| {
            let (start, rest) = line.split_at_checked(name.len()).unwrap_or_default();
            rest.starts_with(b":") && start.eq_ignore_ascii_case(name.as_bytes())
        })
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

pub(super) fn write_line(head: &mut Vec<u8>, name: &str, value: &[u8]) {
    for part in [name.as_bytes(), b": ", value, b"\r\n"] {
        head.extend_from_slice(part);
    }
}

/// Checks the token syntax of header names.
fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_part)
}

/// Refuses control characters, including those that end a header.
fn is_value(value: &[u8]) -> bool {
    value.iter().all(|byte| *byte == b'\t' || (*byte >= 0x20 && *byte != 0x7f))
}

impl fmt::Debug for HeadLines {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The values contain secrets.
        formatter.debug_struct("HeadLines").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::HeadLines;

    #[test]
    fn what_would_end_a_header_is_left_out() {
        let lines = HeadLines::new()
            .with("accept", "text/plain")
            .with("x-a", "one\r\nx-b: two")
            .with("x-c", "\0")
            .with("x d", "three")
            .with("x:e", "four")
            .with("", "five")
            .with("x-f", "a\tb é");
        assert_eq!(std::str::from_utf8(lines.as_bytes()).ok(), Some("accept: text/plain\r\nx-f: a\tb é\r\n"));
    }

    #[test]
    fn names_are_found_whole_and_in_any_case() {
        let lines = HeadLines::new().with("Content-Type", "x-y: z").with("x-yz", "1");
        for (name, found) in [("content-type", true), ("content", false), ("x-y", false), ("X-YZ", true)] {
            assert_eq!(lines.has(name), found, "{name}");
        }
        assert!(!format!("{lines:?}").contains('z'));
    }
}
