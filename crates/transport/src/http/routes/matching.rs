//! Finds the row of a path, and the action of a method. In a path, `{name}` matches one segment and `{name*}`
//! matches several.

use std::fmt;

use super::{Action, METADATA, Route, RoutePlace, RouteTable, table};

impl RouteTable {
    /// The paths of every server, and these.
    pub const fn with(added: &'static [Route]) -> RouteTable {
        RouteTable { added }
    }

    /// All paths. A path with a suffix comes before a path that would also match it.
    pub fn iter(self) -> impl Iterator<Item = &'static Route> {
        table::FIRST.iter().chain(self.added).chain(table::LAST)
    }

    /// The row of a path.
    pub fn find(self, path: &str) -> Option<&'static Route> {
        let found = self.iter().find(|route| route.leads(path))?;
        // Metadata exists only for paths that accept tokens.
        let of_nothing =
            || path.strip_prefix(METADATA).is_some_and(|of| !of.is_empty() && !self.takes_tokens(of));
        if found.place == RoutePlace::Metadata && of_nothing() { None } else { Some(found) }
    }

    fn takes_tokens(self, path: &str) -> bool {
        self.find(path).is_some_and(|route| {
            matches!(route.place, RoutePlace::Mcp | RoutePlace::Rpc | RoutePlace::Tools | RoutePlace::Tool)
        })
    }
}

impl fmt::Debug for RouteTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|route| route.path)).finish()
    }
}

impl Route {
    fn leads(&self, path: &str) -> bool {
        fits(self.path, path) || self.place == RoutePlace::Mcp && path == "/mcp/"
    }

    /// The decoded value of a path parameter.
    pub fn part(&self, path: &str, name: &str) -> String {
        part(self.path, path, name).map(decoded).unwrap_or_default()
    }

    /// The action of a method. `HEAD` is allowed wherever `GET` is.
    pub fn action(&self, verb: &str) -> Option<&'static Action> {
        let verb = if verb == "HEAD" && self.place != RoutePlace::Mcp { "GET" } else { verb };
        self.actions.iter().find(|action| action.verb == verb)
    }

    /// Returns true for an `OPTIONS` request, which lists the methods.
    pub fn is_asked_for_verbs(&self, verb: &str) -> bool {
        verb == "OPTIONS" && self.place != RoutePlace::Mcp
    }

    /// The methods of the path. In the modern era, MCP has no session to listen to or to end.
    pub fn allows(&self, modern: bool) -> Vec<&'static str> {
        if self.place == RoutePlace::Mcp {
            return if modern {
                vec!["POST"]
            } else {
                self.actions.iter().map(|action| action.verb).collect()
            };
        }
        let with_head = |action: &Action| match action.verb {
            "GET" => vec!["GET", "HEAD"],
            verb => vec![verb],
        };
        self.actions.iter().flat_map(with_head).chain(["OPTIONS"]).collect()
    }

    /// The parameter names of the path.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        names(self.path)
    }
}

fn fits(template: &str, path: &str) -> bool {
    walk(template, path, |_, _| {})
}

/// The raw value of a path parameter.
fn part<'p>(template: &str, path: &'p str, name: &str) -> Option<&'p str> {
    let mut found = None;
    let fits = walk(template, path, |known, text| {
        if known == name {
            found = Some(text);
        }
    });
    found.filter(|_| fits)
}

/// The parameter names of a template.
fn names(template: &'static str) -> impl Iterator<Item = &'static str> {
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
