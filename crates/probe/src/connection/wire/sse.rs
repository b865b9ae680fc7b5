//! A reader of server-sent events, as far as MCP uses them: the `data` of each complete event.

/// Takes the data of every complete event in `body`; an unfinished last event is left out.
///
/// Lines end in LF, CR or CRLF, and one space after the colon is dropped, as the HTML standard says.
pub(crate) fn events(body: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut data: Option<Vec<u8>> = None;
    for line in lines(body) {
        if line.is_empty() {
            found.extend(data.take());
        } else if let Some(value) = field(line, b"data") {
            match &mut data {
                Some(so_far) => {
                    so_far.push(b'\n');
                    so_far.extend_from_slice(value);
                }
                None => data = Some(value.to_vec()),
            }
        }
    }
    found
}

/// The value of `line` when it is the named field.
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(name)?;
    if rest.is_empty() {
        return Some(rest);
    }
    let rest = rest.strip_prefix(b":")?;
    Some(rest.strip_prefix(b" ").unwrap_or(rest))
}

/// The complete lines of `body`, without their ends.
fn lines(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    std::iter::from_fn(move || {
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
        let (line, tail) = rest.split_at(end);
        rest = tail.strip_prefix(b"\r\n").or_else(|| tail.get(1..)).unwrap_or_default();
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::events;

    fn check(body: &str, expected: &[&str]) {
        let found: Vec<String> =
            events(body.as_bytes()).iter().map(|event| String::from_utf8_lossy(event).into_owned()).collect();
        assert_eq!(found, expected, "{body:?}");
    }

    #[test]
    fn events_are_split_at_blank_lines() {
        check("data: a\n\ndata:b\n\n", &["a", "b"]);
        check("event: message\r\nid: 1\r\ndata: {\"x\":1}\r\n\r\n", &["{\"x\":1}"]);
        check("data: one\ndata: two\n\n", &["one\ntwo"]);
        check(": comment\n\nid: 7\ndata:\n\n", &[""]);
        check("\u{feff}data: bom\n\n", &["bom"]);
        check("data: a\rdata: b\r\r", &["a\nb"]);
    }

    #[test]
    fn an_unfinished_event_is_not_an_event() {
        check("data: a\n", &[]);
        check("data: a\n\ndata: cut", &["a"]);
        check("dataset: no\n\n", &[]);
    }
}
