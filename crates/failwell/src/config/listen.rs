//! The address to listen on, as people write it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// What a wrong address should have been.
const LISTEN_HELP: &str = "write an IP address and a port, such as 127.0.0.1:8484 or [::1]:8484; 8484 alone is a port of this machine";

/// Parses an IP address with a port. Without an address, only this machine can connect.
pub(crate) fn listen_address(text: &str) -> Result<SocketAddr, &'static str> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let port = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
    let port = port.parse().ok().filter(|_| is_number);
    port.map(|port| (Ipv4Addr::LOCALHOST, port).into()).ok_or(LISTEN_HELP)
}

/// The address at which this machine reaches a program that listens there: one that listens everywhere is here too.
pub(crate) fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

#[cfg(test)]
mod tests {
    use super::{listen_address, reachable};

    #[test]
    fn a_program_that_listens_everywhere_is_asked_here() {
        for (listen, asked) in
            [("0.0.0.0:80", "127.0.0.1:80"), ("[::]:80", "[::1]:80"), ("10.0.0.5:80", "10.0.0.5:80")]
        {
            assert_eq!(reachable(listen.parse().expect("an address")).to_string(), asked);
        }
    }

    #[test]
    fn addresses_are_understood_as_people_write_them() {
        for (text, address) in [
            ("127.0.0.1:8484", Some("127.0.0.1:8484")),
            ("0.0.0.0:1", Some("0.0.0.0:1")),
            ("[::1]:8484", Some("[::1]:8484")),
            ("localhost:8484", Some("127.0.0.1:8484")),
            (":0", Some("127.0.0.1:0")),
            ("8484", Some("127.0.0.1:8484")),
            ("", None),
            (":", None),
            ("localhost", None),
            ("localhost:", None),
            ("localhost:+1", None),
            ("127.0.0.1", None),
            ("65536", None),
            ("tools.example:8484", None),
        ] {
            let wanted = address.map(|address| address.parse().expect("an address"));
            assert_eq!(listen_address(text).ok(), wanted, "{text}");
        }
    }
}
