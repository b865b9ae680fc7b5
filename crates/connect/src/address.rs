use failwell_fault::{Fault, OrFault, reason};
use http::Uri;
use http::header::HeaderValue;
use http::uri::{PathAndQuery, Scheme};

#[derive(Clone)]
pub(super) struct Address {
    pub(super) secure: Secure,
    /// A host name or IP address, without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// The value of the `Host` header.
    pub(super) authority: HeaderValue,
    /// The path and query of requests.
    pub(super) path: Uri,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Secure {
    Yes,
    No,
}

impl Address {
    /// Accepts `http://…` and `https://…`. Credentials are refused: they belong in a header, which is never
    /// logged.
    pub(super) fn parse(url: &str) -> Result<Address, Fault> {
        let invalid = |why: &'static str| Fault::new(&reason::CONFIG_INVALID).note("url", why);
        let uri: Uri = url.parse().or_fault(&reason::CONFIG_INVALID)?;
        let secure = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => Secure::Yes,
            Some(scheme) if *scheme == Scheme::HTTP => Secure::No,
            _ => return Err(invalid("begins with neither http:// nor https://")),
        };
        let authority = uri.authority().ok_or_else(|| invalid("names no host"))?;
        if authority.as_str().contains('@') {
            return Err(invalid("holds credentials"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let usual = if secure == Secure::Yes { 443 } else { 80 };
        let path = uri.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        Ok(Address {
            secure,
            host,
            port: authority.port_u16().unwrap_or(usual),
            authority: HeaderValue::from_str(authority.as_str()).or_fault(&reason::CONFIG_INVALID)?,
            path: Uri::from(path),
        })
    }
}

impl Address {
    /// Resolves a reference from this server; `None` if it points to another server.
    pub(super) fn resolve(&self, reference: &str) -> Option<Address> {
        let reference = reference.split('#').next().unwrap_or_default();
        let scheme = if self.secure == Secure::Yes { "https:" } else { "http:" };
        let begins_scheme = reference.split(['/', '?']).next().is_some_and(|begin| begin.contains(':'));
        if reference.starts_with("//") || begins_scheme {
            let whole = if begins_scheme { reference.to_owned() } else { format!("{scheme}{reference}") };
            let there = Address::parse(&whole).ok()?;
            let is_same = there.secure == self.secure
                && there.port == self.port
                && there.host.eq_ignore_ascii_case(&self.host);
            return is_same.then_some(there);
        }
        let here = self.path.path();
        let path = match reference.chars().next() {
            Some('/') => reference.to_owned(),
            Some('?') => format!("{here}{reference}"),
            _ => format!("{}/{reference}", here.rsplit_once('/').map_or("", |(folder, _)| folder)),
        };
        let path = Uri::from(path.parse::<PathAndQuery>().ok()?);
        Some(Address { path, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, Secure};

    #[test]
    fn references_stay_with_their_server() {
        let here = Address::parse("http://host:81/a/sse?x=1").expect("an address");
        for (reference, path) in [
            ("/messages?id=1", "/messages?id=1"),
            ("?id=1", "/a/sse?id=1"),
            ("messages/x:y", "/a/messages/x:y"),
            ("http://HOST:81/m#f", "/m"),
            ("//host:81/m", "/m"),
        ] {
            assert_eq!(here.resolve(reference).expect(reference).path, path, "{reference}");
        }
        for elsewhere in
            ["http://other:81/m", "https://host:81/m", "http://host/m", "//other/m", "ftp://host:81/", "a b"]
        {
            assert!(here.resolve(elsewhere).is_none(), "{elsewhere}");
        }
    }

    #[test]
    fn addresses_are_taken_apart() {
        let check = |url: &str, secure, host: &str, port, path: &str| {
            let address = Address::parse(url).expect(url);
            assert_eq!((address.secure, address.host.as_str(), address.port), (secure, host, port), "{url}");
            assert_eq!(address.path, path, "{url}");
        };
        check("http://127.0.0.1:8484/mcp", Secure::No, "127.0.0.1", 8484, "/mcp");
        check("https://example.com", Secure::Yes, "example.com", 443, "/");
        check("http://[::1]/a?b=c", Secure::No, "::1", 80, "/a?b=c");
    }

    #[test]
    fn other_addresses_are_refused() {
        for url in ["ftp://a/", "/mcp", "", "http://user:secret@host/mcp", "http://"] {
            assert!(Address::parse(url).is_err(), "{url}");
        }
    }
}
