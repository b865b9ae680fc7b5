//! Resource URIs in one spelling, so that a rule about a resource holds for every way to write its URI.
//!
//! | step (RFC 3986, section 6) | schemes |
//! |---|---|
//! | scheme in lower case, escapes in upper case, dot segments removed, doubled slashes merged | all |
//! | escaped unreserved characters and sub-delimiters decoded; `:` and `@` in paths and queries, too | all |
//! | host in lower case | all for rules; `file`, `http`, `https`, `ws`, `wss`, `ftp` also for the upstream |
//! | default port, empty path, trailing dot and numeric forms of a host | `http`, `https`, `ws`, `wss`, `ftp` |
//! | fragment removed | `file`, `http`, `https`, `ws`, `wss`, `ftp` |
//! | `localhost` and missing authority, query removed | `file` |
//!
//! Servers of custom schemes take `greeting://World` and `greeting://world` for two resources, so the host keeps
//! its case on the way to them. Some have URIs within URIs, such as `fetch://https://example.org`: doubled slashes
//! stay on the way to a server that no rule is about. Escaped `& = + ;` of a query stay, because they separate it.

mod authority;
mod escape;
mod path;

use failwell_fault::is_deceptive;

use self::authority::Authority;
use self::escape::Part;
use self::path::Slashes;

/// A URI in its normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceUri {
    key: String,
    sent: String,
    also: Vec<String>,
    doubled: Option<DoubledSlashes>,
}

/// A URI as if its doubled slashes meant something.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DoubledSlashes {
    key: String,
    sent: String,
}

/// The kind of text that is normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Uri,
    /// A URI template (RFC 6570). Its expressions stay as they are.
    Template,
    /// A template or URI with wildcards, written by the operator.
    Pattern,
}

impl ResourceUri {
    /// Normalises a URI. `None` for a text that servers may read in different ways: escaped slashes,
    /// backslashes, control and invisible characters, invalid escapes.
    pub fn parse(text: &str) -> Option<ResourceUri> {
        normalize(text, Form::Uri)
    }

    /// Normalises a URI template.
    pub fn parse_template(text: &str) -> Option<ResourceUri> {
        normalize(text, Form::Template)
    }

    /// The spelling that rules and policies compare.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The spelling for the upstream.
    pub fn sent(&self) -> &str {
        &self.sent
    }

    /// The spelling for an upstream that no rule is about: doubled slashes are kept.
    pub fn sent_without_rules(&self) -> &str {
        self.doubled.as_ref().map_or(&self.sent, |doubled| &doubled.sent)
    }

    /// The spelling of rules that were written for doubled slashes, such as `*//private/*`.
    pub(crate) fn with_doubled_slashes(&self) -> Option<&str> {
        self.doubled.as_ref().map(|doubled| doubled.key.as_str())
    }

    /// All spellings that policies judge.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.key()).chain(self.also())
    }

    /// Other URIs that a careless server takes for this one: without a foreign host, a user name or a
    /// trailing slash.
    pub fn also(&self) -> impl Iterator<Item = &str> {
        self.also.iter().map(String::as_str)
    }
}

/// Normalises a pattern of a rule. A pattern without a scheme of its own stays as it is.
pub(crate) fn normalize_pattern(text: &str) -> String {
    if let Some(normal) = normalize(text, Form::Pattern) {
        return normal.key;
    }
    match split_scheme(text) {
        Some((scheme, rest)) => format!("{}:{rest}", scheme.to_ascii_lowercase()),
        None => text.to_owned(),
    }
}

/// Normalises the id of a resource in a policy: `server/uri`.
#[cfg(feature = "cedar")]
pub(crate) fn normalize_id(id: &str) -> String {
    let Some((server, uri)) = id.split_once('/') else { return id.to_owned() };
    let normal = ResourceUri::parse_template(uri);
    format!("{server}/{}", normal.as_ref().map_or(uri, ResourceUri::key))
}

fn normalize(text: &str, form: Form) -> Option<ResourceUri> {
    if text.is_empty() || text.chars().any(|c| c == '\\' || is_deceptive(c)) {
        return None;
    }
    match split_scheme(text) {
        Some((scheme, rest)) => {
            let scheme = scheme.to_ascii_lowercase();
            let parts = UriParts::split(rest, form);
            match scheme.as_str() {
                "file" => file(&parts, form),
                _ => with_scheme(&scheme, &parts, form),
            }
        }
        // Without dots, the rest of such a text could begin with a scheme.
        None if text.contains(':') => None,
        None => {
            // The wildcard of a pattern can stand for a scheme, and the slashes for those behind it.
            let slashes = if text.starts_with('*') { Slashes::Preserved } else { Slashes::Merged };
            let path = path::normalize(text, slashes, form)?;
            let kept = path::normalize(text, Slashes::Preserved, form)?;
            // A decoded colon would make a scheme of its beginning.
            let is_path = !path.is_empty() && !path.contains(':');
            let doubled = (kept != path).then(|| DoubledSlashes { key: kept.clone(), sent: kept });
            is_path.then(|| ResourceUri { key: path.clone(), sent: path, also: Vec::new(), doubled })
        }
    }
}

fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme.then_some((scheme, rest))
}

/// The parts of a URI after its scheme, as they are written.
struct UriParts<'a> {
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
}

impl<'a> UriParts<'a> {
    fn split(rest: &'a str, form: Form) -> UriParts<'a> {
        let (rest, fragment) = split_outside(rest, '#', form);
        let (rest, query) = split_outside(rest, '?', form);
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let (authority, _) = split_outside(rest, '/', form);
                (Some(authority), rest.get(authority.len()..).unwrap_or_default())
            }
            None => (None, rest),
        };
        UriParts { authority, path, query, fragment }
    }
}

/// Splits a text at the first such character that is not in an expression of a template.
fn split_outside(text: &str, at: char, form: Form) -> (&str, Option<&str>) {
    let mut inside = false;
    for (index, c) in text.char_indices() {
        match c {
            '{' if form != Form::Uri => inside = true,
            '}' => inside = false,
            c if c == at && !inside => {
                return (text.get(..index).unwrap_or_default(), text.get(index + c.len_utf8()..));
            }
            _ => {}
        }
    }
    (text, None)
}

/// A file has no query, and its fragment names a part of it. Servers differ in whether they mind the host.
fn file(parts: &UriParts<'_>, form: Form) -> Option<ResourceUri> {
    let host = match parts.authority {
        None | Some("") => String::new(),
        Some(host) => authority::of_file(host, form)?,
    };
    let is_whole = parts.path.starts_with('/') || form == Form::Pattern && !host.is_empty();
    let is_bare_authority = parts.path.is_empty() && parts.authority.is_some();
    if !(is_whole || is_bare_authority) {
        return None;
    }
    let mut path = path::normalize(parts.path, Slashes::Merged, form)?;
    if path.is_empty() && form != Form::Pattern {
        path.push('/');
    }
    let uri = format!("file://{host}{path}");
    let mut also = Vec::new();
    let bare = path.strip_suffix('/').filter(|bare| !bare.is_empty());
    also.extend(bare.map(|bare| format!("file://{host}{bare}")));
    if !host.is_empty() {
        also.push(format!("file://{path}"));
        also.extend(bare.map(|bare| format!("file://{bare}")));
    }
    Some(ResourceUri { key: uri.clone(), sent: uri, also, doubled: None })
}

fn with_scheme(scheme: &str, parts: &UriParts<'_>, form: Form) -> Option<ResourceUri> {
    let is_web = authority::default_port(scheme).is_some();
    let authority = match parts.authority {
        Some(text) => Some(Authority::parse(scheme, text, form)?),
        None => None,
    };
    let mut path = path::normalize(parts.path, Slashes::Merged, form)?;
    let kept = path::normalize(parts.path, Slashes::Preserved, form)?;
    // Such a path would be read as an authority.
    if authority.is_none() && kept.starts_with("//") {
        return None;
    }
    let kept = (kept != path).then_some(kept);
    let ends_open = form == Form::Pattern && parts.authority.is_some_and(|text| text.ends_with('*'));
    if is_web && path.is_empty() && authority.is_some() && !ends_open {
        path.push('/');
    }
    let mut more = String::new();
    if let Some(query) = parts.query {
        more.push('?');
        more.push_str(&escape::normalize(query, Part::Query, form)?);
    }
    if let Some(fragment) = parts.fragment.filter(|_| !is_web) {
        more.push('#');
        more.push_str(&escape::normalize(fragment, Part::Query, form)?);
    }
    let with = |authority: Option<&str>, path: &str| match authority {
        Some(authority) => format!("{scheme}://{authority}{path}{more}"),
        None => format!("{scheme}:{path}{more}"),
    };
    let (key, sent) = (authority.as_ref().map(|of| &*of.key), authority.as_ref().map(|of| &*of.sent));
    let bare = authority.as_ref().and_then(|of| of.bare.as_deref());
    Some(ResourceUri {
        key: with(key, &path),
        sent: with(sent, &path),
        also: bare.map(|bare| with(Some(bare), &path)).into_iter().collect(),
        doubled: kept.map(|kept| DoubledSlashes { key: with(key, &kept), sent: with(sent, &kept) }),
    })
}

#[cfg(test)]
mod tests;
