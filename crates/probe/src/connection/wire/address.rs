//! The address of an HTTP server: `http[s]://host[:port][/path]`, nothing cleverer.

/// Where to connect and what to ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerAddress {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) path: String,
    /// Whether it is spoken to over TLS.
    pub(crate) is_secure: bool,
}

impl ServerAddress {
    /// Reads a URL; the error says what is wrong with it.
    pub(crate) fn parse(url: &str) -> Result<Self, &'static str> {
        let (is_secure, rest) = match url.split_once("://") {
            Some(("http", rest)) => (false, rest),
            Some(("https", rest)) => (true, rest),
            _ => return Err("the address must begin with http:// or https://"),
        };
        let cut = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at(cut);
        let tail = tail.split('#').next().unwrap_or_default();
        let path = if tail.starts_with('/') { tail.to_owned() } else { format!("/{tail}") };
        if authority.contains('@') || path.contains(|letter: char| letter.is_control() || letter == ' ') {
            return Err("the address must hold no user name, space or control character");
        }
        let (host, port) = split_port(authority, if is_secure { 443 } else { 80 })?;
        if host.is_empty() {
            return Err("the address names no host");
        }
        Ok(Self { host, port, path, is_secure })
    }

    /// The host as name resolution and certificates have it, an IPv6 address without brackets.
    pub(crate) fn host_name(&self) -> &str {
        self.host.trim_matches(['[', ']'])
    }

    /// The value of the `Host` header.
    pub(crate) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Whether the server listens on this machine only, where DNS rebinding is the threat.
    pub(crate) fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host.starts_with("127.") || self.host == "[::1]"
    }
}

fn split_port(authority: &str, default: u16) -> Result<(String, u16), &'static str> {
    let after_bracket = authority.rfind(']').map_or(0, |at| at + 1);
    let (head, tail) = authority.split_at(after_bracket);
    match tail.rsplit_once(':') {
        Some((name, port)) => {
            let port = port.parse().map_err(|_| "the port must be a number between 0 and 65535")?;
            Ok((format!("{head}{name}"), port))
        }
        None => Ok((authority.to_owned(), default)),
    }
}

#[cfg(test)]
mod tests {
    use super::ServerAddress;

    fn check(url: &str, expected: Result<(&str, u16, &str), &str>) {
        let found = ServerAddress::parse(url);
        let found =
            found.as_ref().map(|at| (at.host.as_str(), at.port, at.path.as_str())).map_err(|why| *why);
        assert_eq!(found, expected, "{url}");
    }

    #[test]
    fn addresses_are_read_or_refused() {
        check("http://127.0.0.1:8484/mcp", Ok(("127.0.0.1", 8484, "/mcp")));
        check("http://localhost", Ok(("localhost", 80, "/")));
        check("http://[::1]:9/x?y=1#z", Ok(("[::1]", 9, "/x?y=1")));
        check("http://host?q", Ok(("host", 80, "/?q")));
        check("https://host/", Ok(("host", 443, "/")));
        check("https://host:8443/mcp", Ok(("host", 8443, "/mcp")));
        check("host:80", Err("the address must begin with http:// or https://"));
        check("http://:80/", Err("the address names no host"));
        check("http://host:99999/", Err("the port must be a number between 0 and 65535"));
        check("http://me@host/", Err("the address must hold no user name, space or control character"));
    }
}
