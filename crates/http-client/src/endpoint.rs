use http::{HeaderMap, HeaderName, HeaderValue};

/// The address of a server: `http[s]://host[:port][/path]`, and headers for every request to it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) is_tls: bool,
    /// Every request is made below it. It has no slash at its end.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
}

impl Endpoint {
    pub fn parse(url: &str) -> Option<Endpoint> {
        let uri: http::Uri = url.parse().ok()?;
        let is_tls = match uri.scheme_str()? {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let host = uri.host()?.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let path = uri.path().trim_end_matches('/').to_owned();
        Some(Endpoint { host, port, is_tls, path, headers: HeaderMap::new() })
    }

    /// A port of this machine, without TLS.
    pub fn localhost(port: u16) -> Endpoint {
        let host = "127.0.0.1".to_owned();
        Endpoint { host, port, is_tls: false, path: String::new(), headers: HeaderMap::new() }
    }

    /// Adds a header whose value is not printed; `None` if it cannot be sent.
    pub fn with_secret_header(mut self, name: &str, value: &str) -> Option<Endpoint> {
        let mut value = HeaderValue::from_str(value).ok()?;
        value.set_sensitive(true);
        self.headers.insert(HeaderName::try_from(name).ok()?, value);
        Some(self)
    }

    pub(crate) fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match (self.is_tls, self.port) {
            (true, 443) | (false, 80) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Endpoint;

    #[test]
    fn endpoints_are_parsed_with_their_ports_and_paths() {
        for (url, expected) in [
            ("http://127.0.0.1:4723", Some(("127.0.0.1:4723", 4723, false, ""))),
            ("https://farm.example/wd/hub/", Some(("farm.example", 443, true, "/wd/hub"))),
            ("https://api.example", Some(("api.example", 443, true, ""))),
            ("http://[::1]:9515/", Some(("[::1]:9515", 9515, false, ""))),
            ("ftp://x", None),
            ("nonsense", None),
        ] {
            let endpoint = Endpoint::parse(url);
            let shown = endpoint.as_ref().map(|it| (it.authority(), it.port, it.is_tls, it.path.clone()));
            let expected = expected.map(|(a, b, c, d)| (a.to_owned(), b, c, d.to_owned()));
            assert_eq!(shown, expected, "{url}");
        }
    }

    #[test]
    fn a_secret_header_is_not_printed_and_a_broken_one_is_refused() {
        let endpoint = Endpoint::localhost(1);
        let shown = format!("{:?}", endpoint.clone().with_secret_header("x-key", "t0ken"));
        assert!(shown.contains("x-key") && !shown.contains("t0ken"), "{shown}");
        assert!(endpoint.clone().with_secret_header("x key", "v").is_none());
        assert!(endpoint.with_secret_header("x-key", "a\nb").is_none());
    }
}
