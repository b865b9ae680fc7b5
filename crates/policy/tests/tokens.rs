//! Tokens that are accepted, and the reasons why others are refused.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test may stop at the first surprise")]

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use failwell_policy::{KeySet, TokenError, TokenRules};
use failwell_rpc::Caller;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};

const NOW: u64 = 1_800_000_000;
/// A key made for this test; it is used nowhere else.
const RSA: &[u8] = include_bytes!("rsa.pkcs8");

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// An issuer with a key of each type.
struct Issuer {
    rsa: RsaKeyPair,
    p256: EcdsaKeyPair,
    ed25519: Ed25519KeyPair,
    random: SystemRandom,
}

impl Issuer {
    fn new() -> Issuer {
        let random = SystemRandom::new();
        let p256 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
        let ed25519 = Ed25519KeyPair::generate_pkcs8(&random).expect("a key");
        Issuer {
            rsa: RsaKeyPair::from_pkcs8(RSA).expect("a key"),
            p256: EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, p256.as_ref(), &random)
                .expect("a key"),
            ed25519: Ed25519KeyPair::from_pkcs8(ed25519.as_ref()).expect("a key"),
            random,
        }
    }

    fn jwks(&self) -> Value {
        let rsa = ring::rsa::PublicKeyComponents::<Vec<u8>>::from(self.rsa.public_key());
        let (x, y) = self.p256.public_key().as_ref().get(1..).expect("a point").split_at(32);
        json!({"keys": [
            {"kty": "RSA", "kid": "RS256", "use": "sig", "n": encoded(rsa.n), "e": encoded(rsa.e)},
            {"kty": "EC", "crv": "P-256", "kid": "ES256", "alg": "ES256", "x": encoded(x), "y": encoded(y)},
            {"kty": "OKP", "crv": "Ed25519", "kid": "EdDSA", "x": encoded(self.ed25519.public_key())},
            {"kty": "oct", "kid": "HS256", "k": encoded("shared")},
            {"kty": "RSA", "kid": "enc", "use": "enc", "n": "AQAB", "e": "AQAB"},
        ]})
    }

    fn keys(&self) -> KeySet {
        KeySet::parse(self.jwks().to_string().as_bytes()).expect("keys")
    }

    /// A token with this header, signed with the algorithm `with`.
    fn token(&self, header: &Value, claims: &Value, with: &str) -> String {
        let message = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
        let bytes = message.as_bytes();
        let signature = match with {
            "RS256" => {
                let mut signature = vec![0; self.rsa.public().modulus_len()];
                self.rsa.sign(&RSA_PKCS1_SHA256, &self.random, bytes, &mut signature).expect("signed");
                signature
            }
            "ES256" => self.p256.sign(&self.random, bytes).expect("signed").as_ref().to_vec(),
            "EdDSA" => self.ed25519.sign(bytes).as_ref().to_vec(),
            _ => Vec::new(),
        };
        format!("{message}.{}", encoded(signature))
    }

    fn good(&self, algorithm: &str, claims: &Value) -> String {
        self.token(&json!({"alg": algorithm, "kid": algorithm, "typ": "JWT"}), claims, algorithm)
    }
}

fn rules() -> TokenRules {
    TokenRules {
        issuer: "https://login.example".to_owned(),
        audience: "https://tools.example/mcp".to_owned(),
        roles_claim: "realm.roles".to_owned(),
        scopes: vec!["mcp".to_owned()],
    }
}

fn claims() -> Value {
    json!({"iss": "https://login.example", "aud": ["other", "https://tools.example/mcp"], "sub": "ann",
        "exp": NOW + 60, "nbf": NOW - 60, "scope": "openid mcp", "realm": {"roles": ["writer", "a\u{7}b"]}})
}

fn with(change: Value) -> Value {
    let mut claims = claims();
    for (name, value) in change.as_object().expect("an object") {
        claims[name] = value.clone();
    }
    claims
}

#[test]
fn every_algorithm_lets_its_subject_in() {
    let issuer = Issuer::new();
    for algorithm in ["RS256", "ES256", "EdDSA"] {
        let token = issuer.good(algorithm, &claims());
        let caller = rules().verify(&token, &issuer.keys(), NOW).expect(algorithm);
        assert_eq!((caller.to_string().as_str(), caller.is_in("writer")), ("jwt:ann", true), "{algorithm}");
        assert_eq!(caller.roles().count(), 1, "a role with a bell in it is none");
        let unnamed = issuer.token(&json!({"alg": algorithm}), &claims(), algorithm);
        assert!(rules().verify(&unnamed, &issuer.keys(), NOW).is_ok(), "{algorithm} without kid");
    }
}

#[test]
fn claims_that_do_not_fit_are_refused() {
    let issuer = Issuer::new();
    let verdict = |claims: &Value| rules().verify(&issuer.good("EdDSA", claims), &issuer.keys(), NOW);
    for (change, why) in [
        (json!({"iss": "https://login.example/"}), "another issuer made it"),
        (json!({"iss": null}), "another issuer made it"),
        (json!({"aud": "other"}), "it is for another audience"),
        (json!({"aud": "other https://tools.example/mcp"}), "it is for another audience"),
        (json!({"exp": NOW - 31}), "it has expired"),
        (json!({"exp": null}), "it does not say when it expires"),
        (json!({"exp": "never"}), "it does not say when it expires"),
        (json!({"nbf": NOW + 31}), "it is not valid yet"),
        (json!({"nbf": "now"}), "it does not say properly when it begins"),
        (json!({"sub": ""}), "it has no proper subject"),
        (json!({"sub": "a\nb"}), "it has no proper subject"),
        (json!({"sub": "x".repeat(300)}), "it has no proper subject"),
    ] {
        assert_eq!(verdict(&with(change)), Err(TokenError::Bad(why)));
    }
    for change in [
        json!({"scope": "mcp2"}),
        json!({"scope": null}),
        json!({"scope": ["openid"]}),
        json!({"scope": "openid\tmcp"}),
        json!({"scope": "mcp\n"}),
    ] {
        assert_eq!(verdict(&with(change)), Err(TokenError::Scope));
    }
    for change in [json!({"exp": NOW - 29}), json!({"nbf": NOW + 29}), json!({"scope": "", "scp": ["mcp"]})] {
        assert_eq!(verdict(&with(change)), Ok(Caller::bearer("ann")), "a little leeway");
    }
}

#[test]
fn the_key_decides_about_the_algorithm_and_never_the_token() {
    let issuer = Issuer::new();
    let keys = issuer.keys();
    let verdict = |token: &str| rules().verify(token, &keys, NOW).expect_err("refused");
    let header = |alg: &str, kid: &str| json!({"alg": alg, "kid": kid});
    let none = TokenError::Bad("it is signed by none of RS256, ES256 and EdDSA");
    for alg in ["none", "None", "HS256", "HS512", "RS1", "PS256", ""] {
        assert_eq!(verdict(&issuer.token(&header(alg, "RS256"), &claims(), alg)), none, "{alg}");
    }
    let other = TokenError::Bad("it names another algorithm than its key has");
    assert_eq!(verdict(&issuer.token(&header("ES256", "RS256"), &claims(), "RS256")), other);
    let wrong = TokenError::Bad("its signature is wrong");
    assert_eq!(verdict(&issuer.token(&header("ES256", "ES256"), &claims(), "EdDSA")), wrong);
    assert_eq!(verdict(&issuer.token(&header("RS256", "RS256"), &claims(), "")), wrong);
    for kid in ["unknown", "enc", "HS256"] {
        let token = issuer.token(&header("RS256", kid), &claims(), "RS256");
        assert_eq!(verdict(&token), TokenError::UnknownKey, "{kid}");
    }
    let stranger = Issuer::new().good("EdDSA", &claims());
    assert_eq!(verdict(&stranger), wrong, "a known name, another key");
    let asking = json!({"alg": "EdDSA", "kid": "EdDSA", "crit": ["b64"], "b64": false});
    assert_eq!(
        verdict(&issuer.token(&asking, &claims(), "EdDSA")),
        TokenError::Bad("its header asks for an extension")
    );
    for kid in [json!(7), json!(["EdDSA"]), json!({"kid": "EdDSA"}), json!(null)] {
        let odd = json!({"alg": "EdDSA", "kid": kid});
        let token = issuer.token(&odd, &claims(), "EdDSA");
        assert_eq!(verdict(&token), TokenError::Bad("its key id is no text"), "{kid}");
    }
    let dpop = json!({"alg": "EdDSA", "kid": "EdDSA", "typ": "dpop+jwt"});
    assert_eq!(
        verdict(&issuer.token(&dpop, &claims(), "EdDSA")),
        TokenError::Bad("it is another sort of token")
    );
}

#[test]
fn a_token_that_was_touched_anywhere_is_refused() {
    let issuer = Issuer::new();
    let (keys, token) = (issuer.keys(), issuer.good("EdDSA", &claims()));
    for (at, character) in token.char_indices() {
        for other in ["A", "B", "=", ".", "", "é"] {
            let (before, after) = token.split_at(at);
            let touched = format!("{before}{other}{}", after.get(1..).expect("ASCII"));
            if !other.starts_with(character) || other.is_empty() {
                assert!(rules().verify(&touched, &keys, NOW).is_err(), "{at} {other}");
            }
        }
    }
    for odd in ["", ".", "..", "a.b.c", "a.b", &"a".repeat(20_000)] {
        assert!(rules().verify(odd, &keys, NOW).is_err(), "{odd:.20}");
    }
}

#[test]
fn sets_without_a_key_of_use_are_none() {
    for odd in ["", "{}", r#"{"keys":[]}"#, r#"{"keys":{}}"#, r#"{"keys":[{"kty":"oct","k":"AA"}]}"#, "[]"] {
        assert!(KeySet::parse(odd.as_bytes()).is_none(), "{odd}");
    }
    let odd_curve = json!({"keys": [{"kty": "EC", "crv": "P-256", "x": "A".repeat(200), "y": "AA"}]});
    assert!(KeySet::parse(odd_curve.to_string().as_bytes()).is_none());
}
