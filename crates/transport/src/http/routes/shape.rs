//! The schema of a request body. The described schema is also the one that is checked.

use std::sync::OnceLock;

use failwell_fault::{Fault, reason};
use failwell_toolbox::Schema;
use serde_json::Value;

/// A JSON Schema, compiled on first use.
pub struct Shape {
    schema: fn() -> Value,
    compiled: OnceLock<Option<Schema>>,
}

impl Shape {
    pub const fn of(schema: fn() -> Value) -> Shape {
        Shape { schema, compiled: OnceLock::new() }
    }

    pub fn schema(&self) -> Value {
        (self.schema)()
    }

    /// Checks a body and reports all violations at once.
    pub fn check(&self, body: &str) -> Result<(), Fault> {
        let compiled = self.compiled.get_or_init(|| Schema::new(self.schema()).ok());
        let Some(compiled) = compiled else {
            return Err(
                Fault::new(&reason::SERVER_BUG).note("shape", "the schema of a path does not compile")
            );
        };
        let wrong = compiled.violations_in(body);
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(wrong.into_iter().fold(Fault::new(&reason::HTTP_INVALID), Fault::violation)),
        }
    }
}
