//! The arguments that the conditions of a policy read.
//!
//! Cedar answers `==` for any two values, and `has` guards against missing ones. An argument that Cedar cannot
//! represent must therefore not reach a condition: the policy would be decided about another value.

use cedar_policy::{Authorizer, Decision, Entities, Policy, PolicySet, Request};
use serde_json::{Value, json};

use super::PolicyTextError;
use super::arguments::ValuePath;

/// A policy with conditions on arguments.
#[derive(Debug)]
pub(super) struct ArgumentPolicy {
    reads: Vec<ValuePath>,
    /// The policy without its conditions, as a permission.
    scope: PolicySet,
}

impl ArgumentPolicy {
    /// `None` for a policy that reads no argument.
    pub(super) fn of(policy: &Policy) -> Result<Option<ArgumentPolicy>, PolicyTextError> {
        let mut json = policy.to_json().map_err(refused)?;
        let mut reads = Vec::new();
        json.get("conditions").into_iter().for_each(|conditions| collect(conditions, &mut reads));
        if reads.is_empty() {
            return Ok(None);
        }
        if let Some(members) = json.as_object_mut() {
            members.insert("effect".to_owned(), json!("permit"));
            members.insert("conditions".to_owned(), json!([]));
        }
        let scope = Policy::from_json(None, json).map_err(refused)?;
        let scope = PolicySet::from_policies([scope]).map_err(refused)?;
        Ok(Some(ArgumentPolicy { reads, scope }))
    }

    /// Returns true if the policy is about this request, and reads one of these values.
    pub(super) fn reads_any(
        &self,
        undecidable: &[ValuePath],
        authorizer: &Authorizer,
        request: &Request,
        entities: &Entities,
    ) -> bool {
        let meets = |read: &ValuePath| {
            undecidable.iter().any(|path| path.starts_with(read) || read.starts_with(path))
        };
        self.reads.iter().any(meets)
            && authorizer.is_authorized(request, &self.scope, entities).decision() == Decision::Allow
    }
}

/// A policy that cannot be examined must not count as one that reads no argument.
fn refused(error: impl ToString) -> PolicyTextError {
    PolicyTextError { at: None, what: error.to_string() }
}

/// Collects the arguments that an expression in Cedar's JSON format reads.
fn collect(expression: &Value, reads: &mut Vec<ValuePath>) {
    if let Some(path) = context_path(expression) {
        // The first name is `arguments`; the bare context contains them all.
        reads.push(path.into_iter().skip(1).collect());
        return;
    }
    match expression {
        Value::Object(members) => {
            for (operator, operands) in members {
                let asked = operands.get("left").filter(|_| operator == "has");
                // `has` asks whether there is a value, not which.
                if asked.and_then(context_path).is_none() {
                    collect(operands, reads);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, reads)),
        _ => {}
    }
}

/// The names in `context.a.b`; `None` for any other expression.
fn context_path(expression: &Value) -> Option<ValuePath> {
    if expression.get("Var").and_then(Value::as_str) == Some("context") {
        return Some(Vec::new());
    }
    let access = expression.get(".")?;
    let mut path = context_path(access.get("left")?)?;
    path.push(access.get("attr")?.as_str()?.to_owned());
    Some(path)
}
