//! The tools: what they take, and the objects they answer with. Every member is there in every status.

mod branches;
mod check;
mod compare;
mod exception;
mod failure;
mod health;
mod shape;

pub(crate) use branches::{Branches, branches};
pub(crate) use check::{Check, check};
pub(crate) use compare::{Compare, compare};
pub(crate) use exception::{Exceptions, exceptions};
pub(crate) use failure::{Told, status_of};
pub(crate) use health::health;
pub(crate) use shape::Shape;

use serde_json::{Map, Value, json};

use crate::report::{Inputs, Proof};

/// The longest time limit, in seconds.
pub(crate) const LONGEST: u32 = 300;

/// The usual time limit, in seconds.
pub(crate) fn usual_seconds() -> u32 {
    30
}

/// What is proven, as every result tells it.
pub(crate) fn proof(proof: &Proof) -> Value {
    let unsupported: Vec<Value> =
        proof.unsupported.iter().map(|one| json!({"line": one.line, "construct": one.construct})).collect();
    json!({
        "exhaustive": proof.exhaustive,
        "paths": proof.paths,
        "bounds_hit": proof.bounds_hit,
        "unsupported": unsupported,
        "assumptions": proof.assumptions,
        "abstractions": proof.abstractions,
        "solver": proof.solver,
        "budget_used": {
            "interpreter_steps": proof.budget_used.interpreter_steps,
            "solver_queries": proof.budget_used.solver_queries,
            "solver_steps": proof.budget_used.solver_steps,
        },
        "replayed": proof.replayed,
        "mismatches": proof.mismatches,
    })
}

/// Arguments by name: those that go by position, and those that go by keyword.
fn inputs(inputs: &Inputs) -> (Value, Value) {
    let object = |all: &[(String, crate::PyValue)]| {
        Value::Object(all.iter().map(|(name, value)| (name.clone(), value.to_json())).collect::<Map<_, _>>())
    };
    let (by_position, by_keyword) =
        inputs.args.split_at_checked(inputs.positional).unwrap_or((inputs.args.as_slice(), &[]));
    (object(by_position), object(by_keyword))
}

/// The call as one would write it.
pub(crate) fn written_call(function: &str, inputs: &Inputs) -> String {
    let one = |(place, (name, value)): (usize, &(String, crate::PyValue))| {
        if place < inputs.positional { value.to_literal() } else { format!("{name}={}", value.to_literal()) }
    };
    let arguments: Vec<String> = inputs.args.iter().enumerate().map(one).collect();
    format!("{function}({})", arguments.join(", "))
}

/// Text of the caller's own code, in a block of its own.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}
