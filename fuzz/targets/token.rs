//! Bearer tokens and key sets made of any bytes. A token without the issuer's signature is refused, and so is a signed
//! token with one changed byte.
#![no_main]

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use failwell_policy::{KeySet, TokenRules};
use libfuzzer_sys::fuzz_target;
use ring::signature::{Ed25519KeyPair, KeyPair};

const NOW: u64 = 1_800_000_000;
const HEADER: &[u8] = br#"{"alg":"EdDSA","typ":"JWT","kid":"k"}"#;

static ISSUER: LazyLock<Ed25519KeyPair> =
    LazyLock::new(|| Ed25519KeyPair::from_seed_unchecked(&[7; 32]).expect("a key"));
static KEYS: LazyLock<KeySet> = LazyLock::new(|| {
    let x = URL_SAFE_NO_PAD.encode(ISSUER.public_key());
    let set = format!(r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","kid":"k","x":"{x}"}}]}}"#);
    KeySet::parse(set.as_bytes()).expect("a set")
});
static RULES: LazyLock<TokenRules> = LazyLock::new(|| TokenRules {
    issuer: "https://issuer.example".to_owned(),
    audience: "failwell".to_owned(),
    roles_claim: "realm_access.roles".to_owned(),
    scopes: vec!["tools".to_owned()],
});

fuzz_target!(|bytes: &[u8]| {
    let Some((mode, rest)) = bytes.split_first() else { return };
    match mode % 4 {
        0 => unsigned(rest),
        1 => key_set(rest),
        2 => signed(HEADER, rest, *mode),
        _ => {
            let at = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            let (header, claims) = rest.split_at(at);
            signed(header, claims.get(1..).unwrap_or_default(), *mode);
        }
    }
});

/// The input as a token, and a token whose parts are the encoded input, so that it passes the base64 decoder.
fn unsigned(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    assert!(RULES.verify(&text, &KEYS, NOW).is_err());
    let parts: Vec<String> =
        bytes.split(|byte| *byte == b'\n').map(|part| URL_SAFE_NO_PAD.encode(part)).collect();
    assert!(RULES.verify(&parts.join("."), &KEYS, NOW).is_err());
    let _ = TokenRules::may_be(&text);
}

fn key_set(bytes: &[u8]) {
    if let Some(keys) = KeySet::parse(bytes) {
        let token = token(HEADER, br#"{"iss":"https://issuer.example"}"#);
        let _ = RULES.verify(&token, &keys, NOW);
    }
}

fn signed(header: &[u8], claims: &[u8], mode: u8) {
    let token = token(header, claims);
    let Ok(caller) = RULES.verify(&token, &KEYS, NOW) else { return };
    assert!(!caller.to_string().is_empty());
    let mut changed = token.into_bytes();
    let at = usize::from(mode) * 31 % changed.len();
    changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
    let changed = String::from_utf8(changed).expect("letters");
    assert!(RULES.verify(&changed, &KEYS, NOW).is_err(), "{changed}");
}

fn token(header: &[u8], claims: &[u8]) -> String {
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let signature = URL_SAFE_NO_PAD.encode(ISSUER.sign(message.as_bytes()));
    format!("{message}.{signature}")
}
