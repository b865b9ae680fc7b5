//! What a body must look like: the schema that is described is the one that is checked.

use std::sync::OnceLock;

use failwell_fault::{Fault, reason};
use failwell_policy::ArgumentCheck;
use failwell_server::argument_check;
use serde_json::Value;

/// A JSON Schema, compiled when it is first needed.
pub(in super::super) struct Shape {
    schema: fn() -> Value,
    check: OnceLock<Option<ArgumentCheck>>,
}

impl Shape {
    pub(super) const fn of(schema: fn() -> Value) -> Shape {
        Shape { schema, check: OnceLock::new() }
    }

    /// The schema, for the document.
    pub(in super::super) fn schema(&self) -> Value {
        (self.schema)()
    }

    /// Everything that is wrong with a body, at once.
    pub(in super::super) fn check(&self, body: &str) -> Result<(), Fault> {
        let check = self.check.get_or_init(|| argument_check(self.schema()).ok());
        let Some(check) = check else {
            return Err(
                Fault::new(&reason::SERVER_BUG).note("shape", "the schema of a path does not compile")
            );
        };
        let wrong = check.violations(body);
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(wrong.into_iter().fold(Fault::new(&reason::HTTP_INVALID), Fault::violation)),
        }
    }
}
