//! Path templates: `{name}` matches one segment, `{name*}` matches several.

pub(super) fn fits(template: &str, path: &str) -> bool {
    walk(template, path, |_, _| {})
}

/// The raw value of a path parameter.
pub(super) fn part<'p>(template: &str, path: &'p str, name: &str) -> Option<&'p str> {
    let mut found = None;
    let fits = walk(template, path, |known, text| {
        if known == name {
            found = Some(text);
        }
    });
    found.filter(|_| fits)
}

/// The parameter names of a template.
pub(super) fn names(template: &'static str) -> impl Iterator<Item = &'static str> {
    let pieces = template.split('{').skip(1);
    pieces.filter_map(|piece| piece.split('}').next()).map(|name| name.trim_end_matches('*'))
}

/// Matches a path against a template, and reports the value of each parameter.
fn walk<'p>(template: &str, path: &'p str, mut tell: impl FnMut(&str, &'p str)) -> bool {
    let (mut template, mut path) = (template, path);
    loop {
        let Some((literal, rest)) = template.split_once('{') else { return template == path };
        let (Some(after), Some((name, next))) = (path.strip_prefix(literal), rest.split_once('}')) else {
            return false;
        };
        let end = match name.strip_suffix('*') {
            // Matches as much as the rest of the template allows.
            Some(_) => after.strip_suffix(next).map(str::len),
            None => after.find('/').or(Some(after.len())),
        };
        let Some((text, left)) = end.filter(|end| *end > 0).and_then(|end| after.split_at_checked(end))
        else {
            return false;
        };
        tell(name.trim_end_matches('*'), text);
        (template, path) = (next, left);
    }
}

/// Percent-decodes a text once.
pub fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| hex(tail.get(..2)?)).flatten();
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digits: &[u8]) -> Option<u8> {
    let plain = digits.iter().all(u8::is_ascii_hexdigit);
    std::str::from_utf8(digits).ok().filter(|_| plain).and_then(|text| u8::from_str_radix(text, 16).ok())
}

#[cfg(test)]
mod tests {
    use super::{decoded, fits, names, part};

    #[test]
    fn names_stand_for_pieces() {
        for (template, path, name, found) in [
            ("/a/{id}", "/a/b", "id", Some("b")),
            ("/a/{id}", "/a/", "id", None),
            ("/a/{id}", "/a/b/c", "id", None),
            ("/a/{id}/c/{key}", "/a/b/c/d", "key", Some("d")),
            ("/a/{id}/c/{key}", "/a/b/c/d", "id", Some("b")),
            ("/a/{id}/c/{key}", "/a/b/c/", "key", None),
            ("/r/{uri*}", "/r/x://y/z", "uri", Some("x://y/z")),
            ("/r/{uri*}/metadata", "/r/x://y/metadata", "uri", Some("x://y")),
            ("/r/{uri*}/metadata", "/r/metadata", "uri", None),
        ] {
            assert_eq!(part(template, path, name), found, "{template} {path}");
        }
        assert!(fits("/a", "/a") && !fits("/a", "/a/") && !fits("/a/{id}", "/b/c"));
        assert_eq!(names("/a/{id}/c/{key*}").collect::<Vec<_>>(), ["id", "key"]);
    }

    #[test]
    fn names_are_decoded_once() {
        for (path, name) in [
            ("echo", "echo"),
            ("a%20b", "a b"),
            ("%2525", "%25"),
            ("%zz%4", "%zz%4"),
            ("%+1", "%+1"),
            ("%2F", "/"),
        ] {
            assert_eq!(decoded(path), name);
        }
    }
}
