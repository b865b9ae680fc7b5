//! Every check there is, as tables.

mod arguments;
mod envelope;
mod http;
mod json;
mod lifecycle;
mod limits;
mod methods;
mod modern;
mod notifications;
mod tools;

use super::check::{Check, Expectation, ExpectedRefusal, Severity};

/// All checks, in the order they are made: what may kill the server comes last.
pub(crate) fn all() -> impl Iterator<Item = &'static Check> {
    [
        lifecycle::CHECKS,
        json::CHECKS,
        envelope::CHECKS,
        methods::CHECKS,
        tools::CHECKS,
        arguments::CHECKS,
        notifications::CHECKS,
        modern::CHECKS,
        http::CHECKS,
        limits::CHECKS,
    ]
    .into_iter()
    .flatten()
}

const PARSE: Expectation = Expectation::Refusal(ExpectedRefusal {
    codes: &[-32700],
    near: &[-32600],
    statuses: &[],
    silence: Severity::Short,
    anonymous: Severity::Held,
    failed: Severity::Broken,
});

/// A request that is JSON but no request: the envelope is wrong.
const SHAPE: ExpectedRefusal = ExpectedRefusal {
    codes: &[-32600],
    near: &[-32700, -32602],
    statuses: &[],
    silence: Severity::Broken,
    anonymous: Severity::Short,
    failed: Severity::Broken,
};

const INVALID_REQUEST: Expectation = Expectation::Refusal(SHAPE);

const METHOD_NOT_FOUND: ExpectedRefusal = ExpectedRefusal {
    codes: &[-32601],
    near: &[],
    statuses: &[],
    silence: Severity::Broken,
    anonymous: Severity::Broken,
    failed: Severity::Broken,
};

const PARAMS: ExpectedRefusal = ExpectedRefusal { codes: &[-32602], ..METHOD_NOT_FOUND };

const INVALID_PARAMS: Expectation = Expectation::Refusal(PARAMS);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn ids_are_unique_and_rules_are_given() {
        let mut seen = BTreeSet::new();
        for check in super::all() {
            assert!(seen.insert(check.id), "{} twice", check.id);
            assert!(check.id.contains('.'), "{} has no group", check.id);
            assert!(!check.rule.is_empty(), "{} has no rule", check.id);
            assert!(!check.title.is_empty() && !check.title.ends_with('.'), "{}", check.title);
        }
        assert!(seen.len() > 80, "only {} checks", seen.len());
    }
}
