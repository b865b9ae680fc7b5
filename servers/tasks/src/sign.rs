//! The signature of a request: MD5 over the secret and all parameters in the order of their names. MD5 is what the
//! service asks for; nothing here depends on its strength.

use failwell_fault::Secret;
use md5::{Digest, Md5};

/// The parameters of one request.
pub(crate) type Params = Vec<(&'static str, String)>;

/// The signature of these parameters.
pub(crate) fn signature(secret: &Secret<String>, params: &[(&'static str, String)]) -> String {
    let mut sorted: Vec<&(&'static str, String)> = params.iter().collect();
    sorted.sort_by_key(|(name, _)| *name);
    let mut digest = Md5::new();
    digest.update(secret.expose());
    for (name, value) in sorted {
        digest.update(name);
        digest.update(value);
    }
    hex(&digest.finalize())
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Parameters as a form, or as the query of an address.
pub(crate) fn form(params: &[(&'static str, String)]) -> String {
    let pairs = params.iter().map(|(name, value)| format!("{name}={}", escaped(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// Everything but letters, digits and `-._~` as `%XX`.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{escaped, form, signature};
    use failwell_fault::Secret;

    #[test]
    fn the_documented_vector() {
        let secret = Secret::new("BANANAS".to_owned());
        let params = [("yxz", "foo".to_owned()), ("feg", "bar".to_owned()), ("abc", "baz".to_owned())];
        assert_eq!(signature(&secret, &params), "82044aae4dd676094f23f1ec152159ba");
    }

    #[test]
    fn forms_carry_any_text() {
        assert_eq!(escaped("a b&c=d+é/~"), "a%20b%26c%3Dd%2B%C3%A9%2F~");
        assert_eq!(form(&[("a", "1 2".to_owned()), ("b", String::new())]), "a=1%202&b=");
    }
}
