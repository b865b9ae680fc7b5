//! The signature of a request: MD5 over the secret and all parameters sorted by name. The service requires
//! MD5; no other security property depends on it.

use failwell_fault::Secret;
use md5::{Digest, Md5};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

pub(crate) type Params = Vec<(&'static str, String)>;

pub(crate) fn signature(secret: &Secret<String>, params: &[(&'static str, String)]) -> String {
    let mut sorted: Vec<&(&'static str, String)> = params.iter().collect();
    sorted.sort_by_key(|(name, _)| *name);
    let mut digest = Md5::new();
    digest.update(secret.expose());
    for (name, value) in sorted {
        digest.update(name);
        digest.update(value);
    }
    hex::encode(digest.finalize())
}

/// Encodes parameters as a form or a query.
pub(crate) fn form(params: &[(&'static str, String)]) -> String {
    let pairs = params.iter().map(|(name, value)| format!("{name}={}", encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// All characters except the unreserved ones of RFC 3986. The service verifies the form as sent.
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn encode(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, FORM)
}

#[cfg(test)]
mod tests {
    use super::{encode, form, signature};
    use failwell_fault::Secret;

    #[test]
    fn the_documented_vector() {
        let secret = Secret::new("BANANAS".to_owned());
        let params = [("yxz", "foo".to_owned()), ("feg", "bar".to_owned()), ("abc", "baz".to_owned())];
        assert_eq!(signature(&secret, &params), "82044aae4dd676094f23f1ec152159ba");
    }

    #[test]
    fn forms_carry_any_text() {
        assert_eq!(encode("a b&c=d+é/~").to_string(), "a%20b%26c%3Dd%2B%C3%A9%2F~");
        assert_eq!(form(&[("a", "1 2".to_owned()), ("b", String::new())]), "a=1%202&b=");
    }
}
