//! Tokens of an issuer whose JWKS comes from this machine.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

use crate::setup::folder::{Folder, upstream};
use crate::setup::node::{Answer, Node};

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A signing key of the issuer.
enum Signer {
    Ed25519(Ed25519KeyPair),
    P256(EcdsaKeyPair, SystemRandom),
}

impl Signer {
    fn ed25519() -> Signer {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
        Signer::Ed25519(Ed25519KeyPair::from_pkcs8(key.as_ref()).expect("a key"))
    }

    fn p256() -> Signer {
        let (random, how) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let key = EcdsaKeyPair::generate_pkcs8(how, &random).expect("a key");
        Signer::P256(EcdsaKeyPair::from_pkcs8(how, key.as_ref(), &random).expect("a key"), random)
    }

    fn jwk(&self, kid: &str) -> Value {
        match self {
            Signer::Ed25519(key) => {
                json!({"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": encoded(key.public_key())})
            }
            Signer::P256(key, _) => {
                let (x, y) = key.public_key().as_ref()[1..].split_at(32);
                json!({"kty": "EC", "crv": "P-256", "kid": kid, "x": encoded(x), "y": encoded(y)})
            }
        }
    }

    fn token(&self, kid: &str, claims: &Value) -> String {
        let alg = if matches!(self, Signer::Ed25519(_)) { "EdDSA" } else { "ES256" };
        let header = json!({"alg": alg, "kid": kid, "typ": "at+jwt"});
        let message = format!("{}.{}", encoded(header.to_string()), encoded(claims.to_string()));
        let signature = match self {
            Signer::Ed25519(key) => key.sign(message.as_bytes()).as_ref().to_vec(),
            Signer::P256(key, random) => {
                key.sign(random, message.as_bytes()).expect("signed").as_ref().to_vec()
            }
        };
        format!("{message}.{}", encoded(signature))
    }
}

/// Serves a JWKS on this machine and counts the requests for it.
struct Keys {
    address: SocketAddr,
    set: Arc<Mutex<Value>>,
    asked: Arc<AtomicUsize>,
}

impl Keys {
    fn serve(set: Value) -> Keys {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (set, asked) = (Arc::new(Mutex::new(set)), Arc::<AtomicUsize>::default());
        let (shown, counted) = (set.clone(), asked.clone());
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
                lines.map_while(Result::ok).take_while(|line| !line.is_empty()).for_each(drop);
                counted.fetch_add(1, Ordering::SeqCst);
                let body = shown.lock().expect("a set").to_string();
                let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n";
                let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
            }
        });
        Keys { address, set, asked }
    }

    fn become_another(&self, set: Value) {
        *self.set.lock().expect("a set") = set;
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs()
}

fn claims(change: Value) -> Value {
    let mut claims = json!({"iss": "https://login.example", "aud": "https://tools.example/mcp", "sub": "ann",
        "exp": now() + 600, "scope": "mcp", "roles": ["writer"]});
    for (name, value) in change.as_object().expect("an object") {
        claims[name] = value.clone();
    }
    claims
}

fn file(jwks: &str) -> String {
    format!(
        "{}[jwt]\nissuer = \"https://login.example\"\naudience = \"https://tools.example/mcp\"\n\
         jwks = \"{jwks}\"\nscopes = [\"mcp\"]\n\
         [[rule]]\ncallers = [\"!role:writer\"]\ntools = {{ hide = [\"count\"] }}\n",
        upstream("a", "")
    )
}

fn ask(node: &Node, token: &str) -> Answer {
    node.send("POST", "/v1/tools/a__count", &[("Authorization", &format!("Bearer {token}"))], "{}")
}

fn refused(answer: &Answer) -> (u16, String, String) {
    (answer.status, answer.reason(), answer.header("www-authenticate").unwrap_or_default())
}

#[test]
fn tokens_carry_roles_and_a_challenge_names_the_issuer() {
    let (old, new, stranger) = (Signer::ed25519(), Signer::p256(), Signer::ed25519());
    let keys = Keys::serve(json!({"keys": [old.jwk("old")]}));
    let folder = Folder::with(&file(&format!("http://{}/keys", keys.address)));
    let node = Node::up(&folder, &[]);
    assert_eq!(keys.asked(), 0, "not before the first token");
    let good = old.token("old", &claims(json!({})));
    assert_eq!(ask(&node, &good).text(), "1");
    let as_key = node.send("POST", "/v1/tools/a__count", &[("X-API-Key", &good)], "{}");
    assert_eq!(as_key.status, 401, "a token is no key");
    let plain = old.token("old", &claims(json!({"roles": []})));
    assert_eq!(ask(&node, &plain).reason(), "mcp/UNKNOWN_TOOL", "hidden without the role");
    assert_eq!(keys.asked(), 1, "kept");

    let metadata = format!("http://{}/.well-known/oauth-protected-resource", node.address);
    let missing = node.tool("a__count", json!({}));
    let challenge = format!("bearer scope=\"mcp\", resource_metadata=\"{metadata}\"");
    assert_eq!(refused(&missing), (401, "policy/UNAUTHENTICATED".to_owned(), challenge));
    let at_mcp = node.initialize("/mcp");
    assert!(
        at_mcp.header("www-authenticate").is_some_and(|value| value.ends_with("protected-resource/mcp\""))
    );
    let invalid = format!("bearer error=\"invalid_token\", scope=\"mcp\", resource_metadata=\"{metadata}\"");
    let hmac = {
        let head = json!({"alg": "HS256", "kid": "old"});
        format!("{}.{}.{}", encoded(head.to_string()), encoded(claims(json!({})).to_string()), encoded("x"))
    };
    let unsigned = {
        let head = json!({"alg": "none"});
        format!("{}.{}.", encoded(head.to_string()), encoded(claims(json!({})).to_string()))
    };
    for (what, token) in [
        ("expired", old.token("old", &claims(json!({"exp": now() - 100})))),
        ("not yet", old.token("old", &claims(json!({"nbf": now() + 100})))),
        ("for others", old.token("old", &claims(json!({"aud": "https://other.example"})))),
        ("by others", old.token("old", &claims(json!({"iss": "https://evil.example"})))),
        ("signed by others", stranger.token("old", &claims(json!({})))),
        ("with a shared secret", hmac),
        ("unsigned", unsigned),
    ] {
        let answer = ask(&node, &token);
        assert_eq!(refused(&answer), (401, "policy/BAD_TOKEN".to_owned(), invalid.clone()), "{what}");
        assert!(!node.journal().contains(&token), "{what}: no token is ever told");
    }
    node.waits_for("it is for another audience", 1);
    let scope = ask(&node, &old.token("old", &claims(json!({"scope": "email"}))));
    let insufficient = invalid.replace("invalid_token", "insufficient_scope");
    assert_eq!(refused(&scope), (403, "policy/SCOPE".to_owned(), insufficient));
    assert_eq!(keys.asked(), 1, "nothing of this is a reason to ask for keys");

    for (path, resource) in [("", ""), ("/mcp", "/mcp"), ("/mcp/a", "/mcp/a")] {
        let document = node.send("GET", &format!("/.well-known/oauth-protected-resource{path}"), &[], "");
        let json = document.json();
        assert_eq!(json["resource"], format!("http://{}{resource}", node.address));
        assert_eq!(json["authorization_servers"], json!(["https://login.example"]));
        assert_eq!(json["scopes_supported"], json!(["mcp"]));
    }
    assert_eq!(node.send("GET", "/.well-known/oauth-protected-resource/nope", &[], "").status, 404);

    // An unknown key id makes the node fetch the JWKS again, which now has the new key.
    keys.become_another(json!({"keys": [new.jwk("new")]}));
    assert_eq!(ask(&node, &new.token("new", &claims(json!({})))).text(), "2");
    assert_eq!(keys.asked(), 2);
    assert_eq!(ask(&node, &good).reason(), "policy/BAD_TOKEN", "a key that was taken out");
    let began = std::time::Instant::now();
    for number in 0..40 {
        let made_up = stranger.token(&format!("made-up-{number}"), &claims(json!({})));
        assert_eq!(ask(&node, &made_up).reason(), "policy/BAD_TOKEN");
    }
    // A burst of five fetches, then one every ten seconds.
    let most = 6 + began.elapsed().as_secs() / 10;
    assert!(keys.asked() as u64 <= most, "asked {} times", keys.asked());
    assert_eq!(ask(&node, &new.token("new", &claims(json!({})))).text(), "3");
}

#[test]
fn keys_in_a_file_and_keys_that_cannot_be_had() {
    let (one, two) = (Signer::p256(), Signer::p256());
    let folder = Folder::new();
    folder.write("jwks.json", &json!({"keys": [one.jwk("one")]}).to_string());
    folder.write("failwell.toml", &file("jwks.json"));
    let node = Node::up(&folder, &[]);
    assert_eq!(ask(&node, &one.token("one", &claims(json!({})))).text(), "1");
    folder.write("jwks.json", &json!({"keys": [two.jwk("two")]}).to_string());
    assert_eq!(ask(&node, &two.token("two", &claims(json!({})))).text(), "2");

    // No process listens on this port. Without the JWKS no token is accepted.
    folder.save(&file("http://127.0.0.1:1/keys"));
    node.waits_for("keys read again", 1);
    let answer = ask(&node, &two.token("two", &claims(json!({}))));
    assert_eq!((answer.status, answer.reason().as_str()), (503, "policy/ISSUER"), "{answer:?}");
    node.waits_for("Connection refused", 1);
}
