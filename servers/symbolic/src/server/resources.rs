use failwell_fault::{Fault, OrFault};
use failwell_sdk::{Resource, ResourceContents};
use serde_json::{Value, json};

use super::tools::LONGEST;
use crate::frontend::validate::{
    ALLOWED_MODULES, BLOCKED_ATTRIBUTES, BLOCKED_BUILTINS, BLOCKED_MODULES, MOST_BYTES,
};
use crate::reason;

const JSON: &str = "application/json";

pub(super) fn all() -> Vec<Resource> {
    vec![
        resource("config://security", "security", "What code may import and use.", security),
        resource("config://server", "server", "Limits of the server.", limits),
        resource(
            "info://capabilities",
            "capabilities",
            "What can be analysed, and how verdicts are to be read.",
            capabilities,
        ),
    ]
}

fn resource(
    uri: &'static str,
    name: &'static str,
    description: &'static str,
    content: fn() -> Value,
) -> Resource {
    Resource::new(uri, name, description, JSON, move |address, _| {
        let written = serde_json::to_string_pretty(&content()).or_fault(&reason::SERVER_BUG);
        async move { Ok::<_, Fault>(vec![ResourceContents::text(address.uri, JSON, written?)]) }
    })
}

fn security() -> Value {
    json!({
        "allowed_modules": ALLOWED_MODULES.as_slice(),
        "blocked_modules": BLOCKED_MODULES.as_slice(),
        "blocked_builtins": BLOCKED_BUILTINS.as_slice(),
        "blocked_attributes": BLOCKED_ATTRIBUTES.as_slice(),
        "max_code_bytes": MOST_BYTES,
        "execution": "code runs only to replay findings: in another process, in a sandbox without network, environment or files, with limits of time and memory",
    })
}

fn limits() -> Value {
    json!({
        "name": "symbolic",
        "version": env!("CARGO_PKG_VERSION"),
        "timeout_seconds": {"default": super::tools::default_seconds(), "minimum": 1, "maximum": LONGEST},
        "max_code_bytes": MOST_BYTES,
        "analyses_at_once": 2,
        "memory_mb": crate::queue::DEFAULT_MEMORY_MB,
        "replays_at_once": 2,
    })
}

fn capabilities() -> Value {
    json!({
        "tools": {
            "symbolic_check": ["verified", "counterexample", "timeout", "error"],
            "find_path_to_exception": ["found", "unreachable", "error"],
            "compare_functions": ["equivalent", "different", "error"],
            "analyze_branches": ["complete", "error"],
            "health_check": ["healthy"],
        },
        "contracts": [
            "docstring lines pre:, post:, raises:, with _ or __return__ for the result and __old__ for arguments before the call",
            "assert statements: those at the beginning are preconditions, the others must hold",
            "icontract decorators",
            "deal decorators",
            "none: no exception may leave the function",
        ],
        "guarantees": [
            "a counterexample is reported only after CPython reproduced it",
            "verified, unreachable and equivalent are reported only when proof.exhaustive is true",
            "an unknown result is reported as UnsupportedConstruct with its line, or as a bound that was hit",
        ],
    })
}
