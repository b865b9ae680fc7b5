//! The keys of tokens.

use super::{ConfigKey, ValueType, key, text};

pub(in super::super) static JWT: &[ConfigKey] = &[
    key(
        "issuer",
        "The issuer of the tokens: their claim `iss`.",
        ValueType::Address { example: "https://login.example" },
    ),
    text("audience", "The required audience: their claim `aud`.", "https://tools.example/mcp"),
    key(
        "jwks",
        "The issuer's public keys: an address, or a file.",
        ValueType::Address { example: "https://login.example/.well-known/jwks.json" },
    ),
    text("ca_file", "PEM file of the only certificates to trust for `jwks`.", "./ca.pem"),
    text(
        "roles_claim",
        "The claim with the roles; dots lead into objects. By default `roles`.",
        "realm_access.roles",
    ),
    key("scopes", "Scopes that a token must have; by default none.", ValueType::Texts { least: 0 }),
    key(
        "resource",
        "How clients address this server, without a path; by default the address they used, over http.",
        ValueType::Address { example: "https://tools.example" },
    ),
];
