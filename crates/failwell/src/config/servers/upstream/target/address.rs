//! URLs and HTTP headers.

use http::Uri;

use crate::config::parse::reader::{Pair, Reader, Section, SourceValue};
use crate::config::settings::Endpoint;

/// Headers that the connection or the protocol sets.
const OURS: [&str; 9] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];

/// Reads the URL of an upstream. Placeholders in its query are expanded: no message shows a query.
pub(super) fn address(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<Endpoint> {
    let text = reader.text(section, "url")?;
    let Some((base, _)) = text.value.split_once('?') else { return judged(reader, section, "url", text) };
    let base = base.to_owned();
    let query = text.value.get(base.len()..).unwrap_or_default().to_owned();
    let query = SourceValue { value: query, span: text.span.clone(), key: text.key.clone() };
    let filled = reader.filled(&query)?;
    judged(reader, section, "url", SourceValue { value: base + &filled, ..text })
}

/// Replaced by the example of the key in messages.
const EXAMPLE: &str = "https://tools.example/mcp";

/// Reads the URL of a key.
pub(in crate::config) fn address_at(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    name: &str,
) -> Option<Endpoint> {
    let text = reader.text(section, name)?;
    judged(reader, section, name, text)
}

fn judged(
    reader: &mut Reader<'_>,
    section: &Section<'_>,
    name: &str,
    text: SourceValue<String>,
) -> Option<Endpoint> {
    let (message, help) = match judge(&text.value) {
        Ok(uri) => return Some(Endpoint(uri)),
        Err(complaint) => complaint,
    };
    let is_token = name == "token_url" && message.ends_with("credentials");
    let help = if is_token { "name them in client_id and client_secret" } else { help };
    let help = match section.example(name) {
        Some(example) => help.replace(EXAMPLE, example),
        None => help.to_owned(),
    };
    reader.wrong(&text.span, &text.key, message.replace("url", name), help);
    None
}

fn judge(text: &str) -> Result<Uri, (&'static str, &'static str)> {
    // The caller replaces this example with that of the key.
    let example = "write it in full, such as \"https://tools.example/mcp\"";
    let uri: Uri = text.parse().map_err(|_| ("`url` is no address", example))?;
    let authority = uri.authority().ok_or(("`url` is no address", example))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(("`url` is neither http nor https", "begin it with https:// or http://"));
    }
    if authority.as_str().contains('@') {
        let help = "send them as a header: headers = { Authorization = \"Bearer ${TOKEN}\" }";
        return Err(("`url` holds credentials", help));
    }
    let port_is_wrong = uri.port().is_none() && authority.as_str().trim_end_matches(']').contains("]:")
        || authority.port_u16().is_none() && authority.as_str() != uri.host().unwrap_or_default();
    if uri.host().is_none_or(str::is_empty) || port_is_wrong {
        return Err(("`url` has no proper host and port", example));
    }
    Ok(uri)
}

/// Checks that a header is valid and not one of [`OURS`].
pub(super) fn check_header(reader: &mut Reader<'_>, name: &str, value: &str, pair: &Pair) {
    if OURS.contains(&name) {
        let help = "remove it: it is set for each request";
        reader.wrong(&pair.name.span, &pair.name.key, format!("`{name}` cannot be set here"), help);
    }
    if value.chars().any(|c| !matches!(c, ' '..='~' | '\t')) {
        let help = "use printable ASCII on one line; look for line breaks in the variable or file";
        reader.wrong(&pair.value.span, &pair.value.key, "the value cannot be sent in a header", help);
    }
}

#[cfg(test)]
mod tests {
    use super::judge;

    #[test]
    fn addresses_are_whole_and_without_credentials() {
        for good in
            ["http://127.0.0.1:9/mcp", "https://tools.example/mcp?x=1", "http://[::1]/", "http://[::1]:8/"]
        {
            assert!(judge(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "tools.example",
            "/mcp",
            "ftp://h/",
            "http://",
            "http:///x",
            "http://h:99999/",
            "http://h:/",
            "http://:80/",
            "https://user:pass@h/",
            "http://a b/",
            "http://h:x/",
            "http://[::1]:99999/",
        ] {
            assert!(judge(bad).is_err(), "{bad}");
        }
    }
}
