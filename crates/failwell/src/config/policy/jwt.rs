//! `[jwt]`: tokens of an OAuth issuer.

use std::path::PathBuf;

use failwell_gateway::Trust;
use failwell_policy::{KeySet, TokenRules};

use crate::config::parse::reader::{Reader, Section, SourceValue};
use crate::config::servers::upstream::{address_at, authorities, is_exposed};
use crate::config::settings::Endpoint;

/// Maximum size of a JWKS file, in bytes.
const LARGEST_FILE: u64 = 256 * 1024;

/// The settings of tokens.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct JwtConfig {
    pub(crate) rules: TokenRules,
    pub(crate) jwks: Jwks,
    /// The resource identifier of this server, which clients use.
    pub(crate) resource: Option<String>,
}

/// The location of the issuer's keys.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Jwks {
    File(PathBuf),
    Url(String, Trust),
}

pub(in crate::config) fn read(reader: &mut Reader<'_>, root: &Section<'_>) -> Option<JwtConfig> {
    let section = reader.table(root, "jwt")?;
    for name in ["issuer", "audience", "jwks"] {
        if !section.has(name) {
            let help = "write issuer = \"https://…\", audience = \"…\" and jwks = \"https://…\"";
            reader.missing(&section, name, &format!("[jwt] has no `{name}`"), help);
        }
    }
    // Only checked: a token must name the issuer exactly as it is written here.
    address_at(reader, &section, "issuer");
    let issuer = reader.text(&section, "issuer").filter(|_| !reader.is_noted(&section.path("issuer")));
    let audience = full(reader, &section, "audience");
    let jwks = jwks(reader, &section);
    let roles_claim = full(reader, &section, "roles_claim").unwrap_or_else(|| "roles".to_owned());
    let scopes = scopes(reader, &section);
    let resource = resource(reader, &section);
    let (issuer, audience, jwks) = (issuer?.value, audience?, jwks?);
    Some(JwtConfig { rules: TokenRules { issuer, audience, roles_claim, scopes }, jwks, resource })
}

fn full(reader: &mut Reader<'_>, section: &Section<'_>, name: &str) -> Option<String> {
    let text = reader.text(section, name)?;
    if text.value.trim().is_empty() {
        reader.wrong(&text.span, &text.key, format!("`{name}` is empty"), "give it a value, or remove it");
        return None;
    }
    Some(text.value)
}

fn jwks(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Jwks> {
    let text = reader.text(section, "jwks")?;
    if !text.value.contains("://") {
        if section.has("ca_file") {
            let help = "remove it, or give the address of the keys";
            let (span, key) = (section.key_span("ca_file"), section.path("ca_file"));
            reader.wrong(&span, &key, "`ca_file` has no effect with keys in a file", help);
        }
        return file(reader, &text);
    }
    let Endpoint(url) = address_at(reader, section, "jwks")?;
    if is_exposed(&Endpoint(url.clone())) {
        let help = "begin it with https://: an attacker who replaces the keys could impersonate any caller";
        reader.wrong(&text.span, &text.key, "`jwks` is not encrypted", help);
    }
    let trust = authorities(reader, section).map_or_else(Trust::default, |ca| ca.trust);
    Some(Jwks::Url(url.to_string(), trust))
}

fn file(reader: &mut Reader<'_>, text: &SourceValue<String>) -> Option<Jwks> {
    let path = reader.folder.join(&text.value);
    let is_small = path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST_FILE);
    let found = if is_small { std::fs::read(&path).ok() } else { None };
    match found.map(|bytes| KeySet::parse(&bytes)) {
        Some(Some(_)) => Some(Jwks::File(path)),
        Some(None) => {
            let help = "use a JSON Web Key Set with a key for RS256, ES256 or EdDSA";
            reader.wrong(&text.span, &text.key, "`jwks` has no usable key", help);
            None
        }
        None => {
            let help = "give an address, https://…, or a file that can be read, at most 256 KiB";
            reader.wrong(&text.span, &text.key, "`jwks` cannot be read", help);
            None
        }
    }
}

/// Scopes must be scope tokens (RFC 6749, 3.3), because they go into a header.
fn scopes(reader: &mut Reader<'_>, section: &Section<'_>) -> Vec<String> {
    let found = reader.texts(section, "scopes").unwrap_or_default();
    for scope in &found {
        let fits = |c: char| matches!(c, '!' | '#'..='[' | ']'..='~');
        if scope.value.is_empty() || !scope.value.chars().all(fits) {
            let help = "use one word of printable ASCII without quotes and backslashes for each";
            reader.wrong(&scope.span, &scope.key, "this cannot be a scope", help);
        }
    }
    found.into_iter().map(|scope| scope.value).collect()
}

fn resource(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<String> {
    let Endpoint(url) = address_at(reader, section, "resource")?;
    if url.query().is_some() || !matches!(url.path(), "" | "/") {
        let help = "remove everything after the host";
        let text = reader.text(section, "resource")?;
        reader.wrong(&text.span, &text.key, "`resource` has more than a host", help);
    }
    Some(url.to_string())
}
