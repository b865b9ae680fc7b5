//! How requests are signed: an MD5 digest of the shared secret and all parameters, sorted by name.

use md5::{Digest, Md5};

/// The signature of these parameters. One named `api_sig` is left out.
///
/// ```
/// let parameters = [("yxz", "foo"), ("feg", "bar"), ("abc", "baz")];
/// assert_eq!(failwell_emulator_rtm::sign("BANANAS", parameters), "82044aae4dd676094f23f1ec152159ba");
/// ```
pub fn sign<'a>(secret: &str, parameters: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut sorted: Vec<_> = parameters.into_iter().filter(|(name, _)| *name != "api_sig").collect();
    sorted.sort_unstable();
    let mut digest = Md5::new();
    digest.update(secret);
    for (name, value) in sorted {
        digest.update(name);
        digest.update(value);
    }
    hex::encode(digest.finalize())
}

/// A digest for values that must not be guessed by accident: frobs and tokens.
pub(crate) fn opaque(parts: &[&str]) -> String {
    let mut digest = Md5::new();
    for part in parts {
        digest.update(part);
        digest.update([0]);
    }
    hex::encode(digest.finalize())
}

#[cfg(test)]
mod tests {
    use super::sign;

    #[test]
    fn the_documented_vector() {
        let parameters = [("yxz", "foo"), ("feg", "bar"), ("abc", "baz")];
        assert_eq!(sign("BANANAS", parameters), "82044aae4dd676094f23f1ec152159ba");
    }

    #[test]
    fn the_signature_itself_is_not_signed() {
        let parameters = [("api_sig", "anything"), ("yxz", "foo"), ("feg", "bar"), ("abc", "baz")];
        assert_eq!(sign("BANANAS", parameters), "82044aae4dd676094f23f1ec152159ba");
    }
}
