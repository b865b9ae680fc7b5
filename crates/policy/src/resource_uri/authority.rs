//! Authorities: user, host and port.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::Form;
use super::escape::{self, Part};

/// The port that a scheme implies. Hosts of these schemes are names of the network.
pub(super) fn default_port(scheme: &str) -> Option<&'static str> {
    match scheme {
        "http" | "ws" => Some("80"),
        "https" | "wss" => Some("443"),
        "ftp" => Some("21"),
        _ => None,
    }
}

pub(super) struct Authority {
    pub(super) key: String,
    pub(super) sent: String,
    /// The authority without its user, if it has one.
    pub(super) bare: Option<String>,
}

impl Authority {
    pub(super) fn parse(scheme: &str, text: &str, form: Form) -> Option<Authority> {
        let text = escape::normalize(text, Part::Authority, form)?;
        let (user, place) = match text.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, text.as_str()),
        };
        let lower = in_lower_case(place);
        let (key, sent) = match default_port(scheme) {
            Some(port) => {
                let place = network_place(&lower, port, form)?;
                (place.clone(), place)
            }
            None => (lower, place.to_owned()),
        };
        let whole = |place: &str| user.map_or_else(|| place.to_owned(), |user| format!("{user}@{place}"));
        Some(Authority { key: whole(&key), sent: whole(&sent), bare: user.map(|_| key) })
    }
}

/// The host of a file, empty for this machine.
pub(super) fn of_file(text: &str, form: Form) -> Option<String> {
    let host = in_lower_case(&escape::normalize(text, Part::Authority, form)?);
    match host.as_str() {
        "localhost" => Some(String::new()),
        _ if form == Form::Pattern => Some(host),
        _ if host.contains(['@', ':']) => None,
        _ => Some(host),
    }
}

/// Host and port of the network. Names are ASCII here; a browser's mapping of other names is not ours to
/// guess.
fn network_place(place: &str, default_port: &str, form: Form) -> Option<String> {
    if form != Form::Uri && place.contains(['*', '{']) {
        return Some(place.to_owned());
    }
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            let address: Ipv6Addr = address.parse().ok()?;
            (format!("[{address}]"), port.strip_prefix(':').or(Some("").filter(|_| port.is_empty()))?)
        }
        None => {
            let (host, port) = place.split_once(':').unwrap_or((place, ""));
            (network_host(host)?, port)
        }
    };
    if !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let port = port.trim_start_matches('0');
    Some(if port.is_empty() || port == default_port { host } else { format!("{host}:{port}") })
}

/// Clients of the network read `2130706433`, `0x7f.1` and `127.1` as addresses too.
fn network_host(host: &str) -> Option<String> {
    let host = host.strip_suffix('.').unwrap_or(host);
    if host.is_empty() || host.contains('%') {
        return None;
    }
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_number = last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit());
    match is_number {
        true => host.parse::<Ipv4Addr>().ok().map(|address| address.to_string()),
        false => Some(host.to_owned()),
    }
}

/// The digits of escapes stay in upper case.
fn in_lower_case(text: &str) -> String {
    let mut digits = 0;
    let lower = |c: char| {
        let is_digit = digits > 0;
        digits = if c == '%' { 2 } else { usize::saturating_sub(digits, 1) };
        if is_digit { c } else { c.to_ascii_lowercase() }
    };
    text.chars().map(lower).collect()
}
