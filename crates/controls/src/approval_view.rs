//! The arguments as an approver reads them: everything except secrets, and of these what can be told.
//!
//! Guards replace a secret, and a whole encoded run that has one inside. An approver must not approve what that hides.
//! A replaced secret is therefore shown with its length and hash, and an encoded run is shown decoded. Arguments with a
//! replaced text that could hide more than a secret cannot be approved.

use std::cell::Cell;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use failwell_fault::{Fault, reason};
use failwell_rpc::{Json, Limits};
use sha2::{Digest, Sha256};

/// Maximum bytes of a text that is replaced as one secret.
const LONGEST_SECRET: usize = 256;
/// Maximum number of encodings inside each other that are shown decoded.
const DEEPEST: usize = 3;
/// The shape of what guards put in place of a secret.
const OPEN: &str = "[redacted: ";
const CLOSE: char = ']';

/// The arguments for an approver, as JSON. Numbers keep every digit. Fails if a part cannot be shown.
pub(crate) fn approval_view(arguments: &Json, scrub: &dyn Fn(&str) -> String) -> Result<String, Fault> {
    let is_hidden = Cell::new(false);
    let each = arguments.raw().canonical_with(&|text| {
        let view = view(&text, scrub, DEEPEST);
        is_hidden.set(is_hidden.get() || view.is_none());
        view.unwrap_or_default().into()
    });
    // A secret that is recognized by its member name is found only in the whole document.
    let whole =
        annotated(&each, &scrub(&each), &|hidden| secret(hidden).map(|secret| secret.replace('"', "'")));
    let (false, Some(whole)) = (is_hidden.get(), whole) else {
        return Err(Fault::new(&reason::POLICY_APPROVAL_HIDDEN));
    };
    Ok(match Json::read(&whole, &Limits::default()) {
        Ok(_) => whole,
        Err(_) => failwell_rpc::json_string(&whole),
    })
}

/// A text without its secrets; `None` if a part cannot be shown.
fn view(text: &str, scrub: &dyn Fn(&str) -> String, depth: usize) -> Option<String> {
    let clean = scrub(text);
    if clean == text {
        return Some(clean);
    }
    annotated(text, &clean, &|hidden| match decoded(hidden) {
        Some((name, inner)) if depth > 0 => Some(format!("[{name} of: {}]", view(&inner, scrub, depth - 1)?)),
        Some(_) => None,
        None => secret(hidden),
    })
}

/// What can be told of a secret: length and hash. Longer texts and several lines could hide more than a secret.
fn secret(hidden: &str) -> Option<String> {
    if hidden.len() > LONGEST_SECRET || hidden.contains(['\n', '\r']) {
        return None;
    }
    let hash = hex::encode(Sha256::digest(hidden.as_bytes()));
    Some(format!("{} bytes, sha256 {hash:.8}…", hidden.len()))
}

/// The redacted text, with an account of every replaced text beside its mark. `None` if the two texts do not fit
/// together, or if `account` has none.
fn annotated(text: &str, clean: &str, account: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut out = String::with_capacity(clean.len());
    let (mut rest, mut left) = (clean, text);
    while let Some((before, after)) = rest.split_once(OPEN) {
        let (kind, after) = after.split_once(CLOSE)?;
        left = left.strip_prefix(before)?;
        let mark = format!("{OPEN}{kind}{CLOSE}");
        // A mark that was part of the text already hides nothing here.
        if let Some(same) = left.strip_prefix(&mark).filter(|same| follows(same, after)) {
            out.push_str(before);
            out.push_str(&mark);
            (rest, left) = (after, same);
            continue;
        }
        let next = after.split_once(OPEN).map_or(after, |(next, _)| next);
        let is_last = next.len() == after.len();
        let end = match (next.is_empty(), is_last) {
            (true, true) => left.len(),
            (false, true) => left
                .len()
                .checked_sub(next.len())
                .filter(|end| left.ends_with(next) && left.is_char_boundary(*end))?,
            (true, false) => return None,
            (false, false) => left.find(next)?,
        };
        let (hidden, more) = left.split_at_checked(end)?;
        out.push_str(before);
        out.push_str(&format!("{OPEN}{kind}, {}{CLOSE}", account(hidden)?));
        (rest, left) = (after, more);
    }
    out.push_str(rest);
    (left == rest).then_some(out)
}

/// Whether the text goes on like the redacted one, up to its next mark.
fn follows(text: &str, clean: &str) -> bool {
    let next = clean.split_once(OPEN).map_or(clean, |(next, _)| next);
    text.starts_with(next)
}

/// The name of the encoding and the text inside, if it is readable.
fn decoded(hidden: &str) -> Option<(&'static str, String)> {
    let readable = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).ok()?;
        let is_plain = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
        (!text.is_empty() && text.chars().all(is_plain)).then_some(text)
    };
    let run: String = hidden.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let lenient = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    for alphabet in [&alphabet::STANDARD, &alphabet::URL_SAFE] {
        let bytes = GeneralPurpose::new(alphabet, lenient).decode(&run).ok();
        if let Some(text) = bytes.and_then(readable) {
            return Some(("base64", text));
        }
    }
    hex::decode(&run).ok().and_then(readable).map(|text| ("hex", text))
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use serde_json::json;

    use super::*;

    const TOKEN: &str = "tok_0123456789abcdef";

    /// Replaces the token, base64 runs that have it inside, and keys of several lines.
    fn scrub(text: &str) -> String {
        let mut out = text.replace(TOKEN, "[redacted: secrets/token]");
        for word in text.split([' ', '"']) {
            let inner = STANDARD.decode(word).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            if inner.is_some_and(|inner| inner.contains(TOKEN)) {
                out = out.replace(word, "[redacted: secrets/token]");
            }
        }
        match (out.find("BEGIN"), out.find("END")) {
            (Some(begin), Some(end)) => {
                format!("{}[redacted: secrets/key]{}", &out[..begin], &out[end + 3..])
            }
            _ => out,
        }
    }

    #[test]
    fn everything_but_the_secret_is_shown() {
        let encoded = STANDARD.encode(format!("rm -rf / # {TOKEN}"));
        for (text, wanted) in [
            ("nothing special".to_owned(), Some("nothing special")),
            (format!("a {TOKEN} b"), Some("a [redacted: secrets/token, 20 bytes, sha256 ")),
            (format!("run {encoded} now"), Some("[base64 of: rm -rf / # [redacted: secrets/token, 20 bytes")),
            (format!("{TOKEN} {TOKEN}"), Some("…] [redacted: secrets/token, 20 bytes")),
            ("[redacted: x] as sent".to_owned(), Some("[redacted: x] as sent")),
            ("see BEGIN\nrm -rf /\nEND".to_owned(), None),
        ] {
            let view = approval_view(&Json::from(&json!({"text": text})), &scrub);
            match wanted {
                Some(wanted) => {
                    let view = view.expect("shown");
                    assert!(view.contains(wanted) && !view.contains(TOKEN), "{text}: {view}");
                }
                None => assert_eq!(view.expect_err("hidden").reason().id, "policy/APPROVAL_HIDDEN", "{text}"),
            }
        }
    }
}
