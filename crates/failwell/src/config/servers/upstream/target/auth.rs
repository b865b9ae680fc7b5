//! Certificate authorities and OAuth client credentials of an upstream.

use std::collections::BTreeMap;

use failwell_fault::Secret;
use failwell_gateway::Trust;

use super::address::address_at;
use crate::config::parse::reader::{Reader, Section};
use crate::config::settings::{Auth, Authorities, Endpoint};

/// Maximum size of a PEM file, in bytes.
const LARGEST_FILE: u64 = 1 << 20;

/// Reads the certificates of `ca_file`.
pub(in crate::config) fn authorities(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Authorities> {
    let text = reader.text(section, "ca_file")?;
    let path = reader.folder.join(&text.value);
    let is_small = path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST_FILE);
    let found = if is_small { std::fs::read(&path).ok() } else { None };
    let Some(found) = found else {
        let help =
            "name a file that can be read, at most 1 MiB; relative paths start at the folder of this file";
        reader.wrong(&text.span, &text.key, "`ca_file` cannot be used", help);
        return None;
    };
    let trust = Trust::pem(found);
    if trust.is_none() {
        let help = "use certificates of authorities as PEM: -----BEGIN CERTIFICATE-----";
        reader.wrong(&text.span, &text.key, "`ca_file` holds no certificates that can be used", help);
    }
    trust.map(|trust| Authorities { path, trust })
}

/// Reads the table `auth`.
pub(super) fn auth(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    headers: &BTreeMap<String, Secret<String>>,
) -> Option<Auth> {
    let inner = reader.table(section, "auth")?;
    for name in ["token_url", "client_id", "client_secret"] {
        if !inner.has(name) {
            let message = format!("`auth` without `{name}`");
            let help = "write auth = { token_url = \"…\", client_id = \"…\", client_secret = \"${NAME}\" }";
            reader.missing(&inner, name, &message, help);
        }
    }
    if headers.contains_key("authorization") {
        let help = "keep `auth` for tokens that are fetched, or the header for one that never changes";
        let message = "the upstream has both `auth` and a header `authorization`";
        reader.wrong(&section.key_span("auth"), &section.path("auth"), message, help);
    }
    let token_url = address_at(reader, &inner, "token_url");
    if let Some(url) = token_url.as_ref().filter(|url| is_exposed(url)) {
        let help =
            format!("begin it with https://: a secret is sent to {}", url.0.host().unwrap_or_default());
        let span = reader.text(&inner, "token_url").map_or(inner.span.clone(), |text| text.span);
        reader.wrong(&span, &inner.path("token_url"), "`token_url` is not encrypted", help);
    }
    let client_id = plain(reader, &inner, "client_id");
    let client_secret = plain(reader, &inner, "client_secret").map(Secret::new);
    let optional = ["scope", "audience", "resource"].map(|name| plain(reader, &inner, name));
    let [scope, audience, resource] = optional;
    let (token_url, client_id, client_secret) = (token_url?, client_id?, client_secret?);
    Some(Auth { token_url, client_id, client_secret, scope, audience, resource })
}

/// Reads a text that is not empty and expands its placeholders.
pub(in crate::config) fn plain(reader: &mut Reader<'_>, section: &Section<'_>, name: &str) -> Option<String> {
    let text = reader.text(section, name)?;
    let value = reader.filled(&text)?;
    if value.trim().is_empty() {
        reader.wrong(&text.span, &text.key, format!("`{name}` is empty"), "give it a value, or remove it");
        return None;
    }
    Some(value)
}

/// Whether requests are readable on the network: plain HTTP to another machine.
pub(in crate::config) fn is_exposed(url: &Endpoint) -> bool {
    let host = url.0.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let is_here = host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    url.0.scheme_str() == Some("http") && !is_here
}
