//! Finds the request id in the start of an overlong message.

use failwell_rpc::{Id, Incoming, Limits, UnreadableMessage, read};

/// The top-level `id`, if its value is complete in the given part.
pub fn id_in_start(start: &[u8]) -> Option<Id> {
    let (key, after) = top_level_id(start)?;
    let value = start.get(key + after..)?;
    let end = value_end(value)?;
    // Wrap the value in a small message, so that the strict parser validates it.
    let probe = [br#"{"id":"#, value.get(..end)?, b"}"].concat();
    match read(&probe, &Limits::default()) {
        Incoming::One(Err(UnreadableMessage { id, .. })) => id,
        _ => None,
    }
}

/// The position of the key `"id"` at depth one, and the offset of its value.
fn top_level_id(start: &[u8]) -> Option<(usize, usize)> {
    let (mut depth, mut at) = (0_u32, 0);
    while let Some(byte) = start.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' => {
                let length = string_length(start.get(at..)?)?;
                if depth == 1 && start.get(at..at + length)? == b"\"id\"" {
                    let rest = start.get(at + length..)?;
                    let colon = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
                    if rest.get(colon) == Some(&b':') {
                        return Some((at, length + colon + 1));
                    }
                }
                at += length;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The length of the string at the start of a text, including quotes.
fn string_length(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// The end of a string or number.
fn value_end(value: &[u8]) -> Option<usize> {
    let begin = value.iter().position(|byte| !byte.is_ascii_whitespace())?;
    if value.get(begin) == Some(&b'"') {
        return Some(begin + string_length(value.get(begin..)?)?);
    }
    value.iter().position(|byte| matches!(byte, b',' | b'}'))
}

#[cfg(test)]
mod tests {
    use super::id_in_start;

    #[test]
    fn ids_are_found_at_the_top_only() {
        let check = |start: &str, expected: Option<&str>| {
            let found = id_in_start(start.as_bytes()).map(|id| id.text().to_owned());
            assert_eq!(found.as_deref(), expected, "{start}");
        };
        check(r#"{"jsonrpc":"2.0","id":7,"params":{"x":"yyyy"#, Some("7"));
        check(r#"{"params":{"id":1,"s":"}\""},"id" : "a\"b","m"#, Some(r#""a\"b""#));
        check(r#"{"params":{"id":1,"x":"yyyy"#, None);
        check(r#"{"id":nu"#, None);
        check(r#"{"id":null,"#, None);
        check(r#"{"id":12"#, None);
        check("[[[", None);
    }
}
