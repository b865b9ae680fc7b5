//! A resource or a resource template: its definition and its reader.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use failwell_fault::Fault;
use serde_json::{Value, json};

use crate::content::ResourceContents;
use crate::context::Context;
use crate::tool::Work;

type ResourceReader = Arc<dyn Fn(Address, Context) -> Work<Vec<ResourceContents>> + Send + Sync>;

/// A resource at one URI, or a template with `{names}` for many URIs.
#[derive(Clone)]
pub struct Resource {
    pub(crate) uri: &'static str,
    name: &'static str,
    description: &'static str,
    mime_type: &'static str,
    reader: ResourceReader,
}

/// The requested URI, and the values of the template's variables.
#[derive(Debug, Clone)]
pub struct Address {
    /// The complete URI.
    pub uri: String,
    /// The values of the variables, by name.
    pub parts: BTreeMap<String, String>,
}

impl Resource {
    /// Creates a resource, or a template if the URI contains `{names}`.
    pub fn new<F, W>(
        uri: &'static str,
        name: &'static str,
        description: &'static str,
        mime_type: &'static str,
        reader: F,
    ) -> Resource
    where
        F: Fn(Address, Context) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Vec<ResourceContents>, Fault>> + Send + 'static,
    {
        let reader: ResourceReader = Arc::new(move |address, cx| Box::pin(reader(address, cx)));
        Resource { uri, name, description, mime_type, reader }
    }

    pub(crate) fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    pub(crate) fn definition(&self) -> Value {
        let key = if self.is_template() { "uriTemplate" } else { "uri" };
        json!({
            key: self.uri, "name": self.name, "description": self.description, "mimeType": self.mime_type,
        })
    }

    pub(crate) fn read(&self, address: Address, cx: Context) -> Work<Vec<ResourceContents>> {
        (self.reader)(address, cx)
    }

    /// Matches a URI against this URI or template. A variable matches one or more characters except a slash.
    /// `{?a,b}` at the end matches a query with some of these names.
    pub(crate) fn matches(&self, uri: &str) -> Option<Address> {
        let mut parts = BTreeMap::new();
        let (mut pattern, mut rest) = (self.uri, uri);
        while let Some((literal, after)) = pattern.split_once('{') {
            rest = rest.strip_prefix(literal)?;
            let (name, tail) = after.split_once('}')?;
            if let Some(names) = name.strip_prefix('?') {
                read_query(rest, names, &mut parts)?;
                return tail.is_empty().then(|| Address { uri: uri.to_owned(), parts });
            }
            let stop = tail.chars().next();
            let end = rest.find(|c| c == '/' || Some(c) == stop).unwrap_or(rest.len());
            let (value, remaining) = rest.split_at_checked(end)?;
            if value.is_empty() {
                return None;
            }
            parts.insert(name.to_owned(), value.to_owned());
            (pattern, rest) = (tail, remaining);
        }
        (pattern == rest).then(|| Address { uri: uri.to_owned(), parts })
    }
}

/// Reads a query such as `?a=1&b=2`. Other names are refused.
fn read_query(rest: &str, names: &str, parts: &mut BTreeMap<String, String>) -> Option<()> {
    for pair in rest.strip_prefix('?')?.split('&') {
        let (name, value) = pair.split_once('=')?;
        if !names.split(',').any(|known| known == name) {
            return None;
        }
        parts.insert(name.to_owned(), unescaped(value)?);
    }
    Some(())
}

/// Decodes `%41` and `+`.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                u8::try_from(digit(rest.next())? * 16 + digit(rest.next())?).ok()?
            }
            plain => plain,
        });
    }
    String::from_utf8(bytes).ok()
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resource").field("uri", &self.uri).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Resource;

    fn check(template: &'static str, uri: &str, expected: Option<&[(&str, &str)]>) {
        let resource = Resource::new(template, "n", "d", "text/plain", |_, _| async { Ok(Vec::new()) });
        let found = resource.matches(uri).map(|address| address.parts);
        let expected = expected.map(|parts| {
            parts
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect::<std::collections::BTreeMap<_, _>>()
        });
        assert_eq!(found, expected, "{template} against {uri}");
    }

    #[test]
    fn templates_match_whole_uris_only() {
        check("test://static", "test://static", Some(&[]));
        check("test://static", "test://static/more", None);
        check("test://t/{id}/data", "test://t/123/data", Some(&[("id", "123")]));
        check("test://t/{id}/data", "test://t//data", None);
        check("test://t/{id}/data", "test://t/1/2/data", None);
        check("x://t{?f,g}", "x://t?f=a%20b%2F%C3%A9", Some(&[("f", "a b/é")]));
        check("x://t{?f,g}", "x://t?g=1&f=2+3", Some(&[("f", "2 3"), ("g", "1")]));
        check("x://t{?f}", "x://t?other=1", None);
        check("x://t{?f}", "x://t", None);
        check("x://t{?f}", "x://t?f=%zz", None);
        check("x://{a}-{b}", "x://1-2", Some(&[("a", "1"), ("b", "2")]));
    }
}
