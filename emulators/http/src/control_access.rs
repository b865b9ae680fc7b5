//! Who may use `/_control/`: a program of this machine, but no web page. A browser sends `Origin` with a request of a
//! foreign page, and the page's own name as `Host` when that name was made to point here (DNS rebinding).

use std::net::IpAddr;

use http::header::{HOST, ORIGIN};
use http::request::Parts;
use http::uri::Authority;

use crate::control::ControlError;

/// Refuses a request that names another host, or that comes from a page of another host.
pub(crate) fn check(head: &Parts, listening: IpAddr) -> Result<(), ControlError> {
    let of_ours = stated_host(head).is_some_and(|host| is_our_host(host, listening));
    if !of_ours {
        return Err(ControlError(403, "the Host header must name this machine".to_owned()));
    }
    let origins = head.headers.get_all(ORIGIN).iter();
    let foreign = origins.map(|origin| origin.to_str().unwrap_or_default()).find(|origin| {
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        !host.is_some_and(|host| is_our_host(host, listening))
    });
    match foreign {
        Some(_) => Err(ControlError(403, "the request comes from a page of another host".to_owned())),
        None => Ok(()),
    }
}

/// The one host that a request names. An absolute target overrides the header.
fn stated_host(head: &Parts) -> Option<&str> {
    let mut hosts = head.headers.get_all(HOST).iter();
    let header = hosts.next().and_then(|host| host.to_str().ok());
    match (hosts.next(), head.uri.authority()) {
        (Some(_), _) => None,
        (None, Some(target)) => Some(target.as_str()),
        (None, None) => header,
    }
}

fn is_our_host(stated: &str, listening: IpAddr) -> bool {
    let Ok(authority) = stated.parse::<Authority>() else { return false };
    if stated.contains('@') {
        return false;
    }
    let name = authority.host();
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let is_loopback = ["localhost", "127.0.0.1", "::1"].iter().any(|ours| bare.eq_ignore_ascii_case(ours));
    is_loopback || bare.parse() == Ok(listening)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use http::Request;

    use super::check;

    #[test]
    fn hosts_and_origins() {
        let ours: &[(&str, &str)] = &[("host", "127.0.0.1:8585")];
        for (target, headers, expected) in [
            ("/_control/dump", ours, true),
            ("/_control/dump", &[("host", "localhost")], true),
            ("/_control/dump", &[("host", "LOCALHOST:1")], true),
            ("/_control/dump", &[("host", "[::1]:8585")], true),
            ("/_control/dump", &[("host", "127.0.0.5:8585")], true),
            ("/_control/dump", &[], false),
            ("/_control/dump", &[("host", "")], false),
            ("/_control/dump", &[("host", "rebound.example:8585")], false),
            ("/_control/dump", &[("host", "localhost.rebound.example")], false),
            ("/_control/dump", &[("host", "localhost@rebound.example")], false),
            ("/_control/dump", &[("host", "127.0.0.1"), ("host", "rebound.example")], false),
            ("http://rebound.example/_control/dump", ours, false),
            ("/_control/dump", &[("host", "localhost"), ("origin", "http://localhost:3000")], true),
            ("/_control/dump", &[("host", "localhost"), ("origin", "https://127.0.0.1")], true),
            ("/_control/dump", &[("host", "localhost"), ("origin", "https://page.example")], false),
            ("/_control/dump", &[("host", "localhost"), ("origin", "null")], false),
            ("/_control/dump", &[("host", "localhost"), ("origin", "file://localhost")], false),
            (
                "/_control/dump",
                &[("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://page.example")],
                false,
            ),
        ] {
            let mut request = Request::builder().uri(target);
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let Ok(request) = request.body(()) else { panic!("{target} {headers:?}") };
            let (head, ()) = request.into_parts();
            let listening = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 5));
            assert_eq!(check(&head, listening).is_ok(), expected, "{target} {headers:?}");
        }
    }
}
