//! `state`: the store that several nodes share.

use std::fmt;

use failwell_fault::Secret;
use failwell_gateway::Trust;
use http::Uri;

use super::parse::reader::{Reader, Section, SourceValue};
use super::servers::upstream::authorities;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum StateConfig {
    /// Each node has its own state.
    #[default]
    Memory,
    /// A Redis or Valkey server.
    Redis {
        /// The address. It may contain a password.
        url: Secret<String>,
        /// The certificate authorities for TLS.
        trust: Trust,
    },
}

impl fmt::Display for StateConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StateConfig::Redis { url, .. } = self else { return f.write_str("memory") };
        let uri: Option<Uri> = url.expose().parse().ok();
        let authority = uri.as_ref().and_then(Uri::authority).map_or("", |authority| authority.as_str());
        let host = authority.rsplit('@').next().unwrap_or_default();
        let scheme = uri.as_ref().and_then(Uri::scheme_str).unwrap_or("redis");
        write!(f, "{scheme}://{host}{}", uri.as_ref().map_or("", Uri::path).trim_end_matches('/'))
    }
}

pub(super) fn read(reader: &mut Reader<'_>, root: &Section<'_>) -> StateConfig {
    if Reader::is_table(root, "state") {
        return in_table(reader, root).unwrap_or_default();
    }
    let Some(text) = reader.text(root, "state") else { return StateConfig::Memory };
    if text.value == "memory" {
        return StateConfig::Memory;
    }
    let Some(url) = address(reader, &text) else { return StateConfig::Memory };
    StateConfig::Redis { url, trust: Trust::default() }
}

fn in_table(reader: &mut Reader<'_>, root: &Section<'_>) -> Option<StateConfig> {
    let section = reader.table(root, "state")?;
    if !section.has("url") {
        let help = "write state = { url = \"rediss://…\", ca_file = \"…\" }";
        reader.missing(&section, "url", "`state` has no `url`", help);
    }
    let trust = authorities(reader, &section).map(|ca| ca.trust).unwrap_or_default();
    let text = reader.text(&section, "url")?;
    let url = address(reader, &text)?;
    if section.has("ca_file") && !url.expose().starts_with("rediss://") {
        let help = "write rediss://, or remove it";
        let message = "`ca_file` has no effect without TLS";
        reader.wrong(&section.key_span("ca_file"), &section.path("ca_file"), message, help);
    }
    Some(StateConfig::Redis { url, trust })
}

fn address(reader: &mut Reader<'_>, text: &SourceValue<String>) -> Option<Secret<String>> {
    let value = reader.filled(text)?;
    if let Err((message, help)) = judge(&value) {
        reader.wrong(&text.span, &text.key, message, help);
    }
    Some(Secret::new(value))
}

fn judge(text: &str) -> Result<(), (&'static str, &'static str)> {
    let example = "write \"memory\", or an address such as \"redis://127.0.0.1:6379\"";
    let uri: Uri = text.parse().map_err(|_| ("`state` is not an address", example))?;
    match uri.scheme_str() {
        Some("redis" | "rediss") => {}
        _ => return Err(("`state` is neither memory nor an address of Redis", example)),
    }
    let authority = uri.authority().ok_or(("`state` is not an address", example))?.as_str();
    let host_and_port = authority.rsplit('@').next().unwrap_or_default();
    let port_is_wrong = uri.port_u16().is_none() && host_and_port != uri.host().unwrap_or_default();
    if uri.host().is_none_or(str::is_empty) || port_is_wrong {
        return Err(("`state` has no valid host and port", example));
    }
    let database = uri.path().trim_start_matches('/');
    if uri.query().is_some() || !(database.is_empty() || database.parse::<u16>().is_ok()) {
        return Err((
            "`state` has more than a database number after its host",
            "write the number of the database, such as \"redis://127.0.0.1:6379/2\", or nothing",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{StateConfig, judge};
    use failwell_fault::Secret;
    use failwell_gateway::Trust;

    #[test]
    fn addresses_are_of_redis_and_shown_without_their_password() {
        for (good, shown) in [
            ("redis://127.0.0.1:6379", "redis://127.0.0.1:6379"),
            ("redis://h", "redis://h"),
            ("redis://[::1]:7/3", "redis://[::1]:7/3"),
            ("redis://user:SECRET@h:1/0", "redis://h:1/0"),
            ("redis://:SECRET@h/", "redis://h"),
            ("rediss://:SECRET@h:6380/1", "rediss://h:6380/1"),
        ] {
            assert_eq!(judge(good), Ok(()), "{good}");
            let (url, trust) = (Secret::new(good.to_owned()), Trust::default());
            assert_eq!(StateConfig::Redis { url, trust }.to_string(), shown);
        }
        for bad in [
            "",
            "h:6379",
            "http://h",
            "rediss://",
            "redis://",
            "redis://h:x",
            "redis://h:99999",
            "redis://h/a",
            "redis://h/1/2",
            "redis://h?x=1",
        ] {
            assert!(judge(bad).is_err(), "{bad}");
        }
    }
}
