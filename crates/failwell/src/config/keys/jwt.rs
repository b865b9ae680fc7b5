//! The keys of tokens.

use super::{Key, Takes, key, text};

pub(in super::super) static JWT: &[Key] = &[
    key(
        "issuer",
        "Who makes the tokens: their claim `iss`.",
        Takes::Address { example: "https://login.example" },
    ),
    text("audience", "Whom they must be for: their claim `aud`.", "https://tools.example/mcp"),
    key(
        "jwks",
        "The issuer's public keys: an address, or a file.",
        Takes::Address { example: "https://login.example/.well-known/jwks.json" },
    ),
    text(
        "ca_file",
        "Whom to trust over https for the keys, and nobody else: certificates as PEM.",
        "./ca.pem",
    ),
    text(
        "roles_claim",
        "The claim with the roles; dots lead into objects. `roles` unless given.",
        "realm_access.roles",
    ),
    key(
        "scopes",
        "What a token must allow to be let in; by default nothing in particular.",
        Takes::Texts { least: 0 },
    ),
    key(
        "resource",
        "What clients call this server, without a path; by default whatever they used, over http.",
        Takes::Address { example: "https://tools.example" },
    ),
];
