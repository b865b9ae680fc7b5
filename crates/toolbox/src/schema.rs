//! A tool's input schema: compiled once, and everything wrong with the arguments told at once.

mod compile;
mod document;
mod draft;
mod equality;
mod findings;
mod json_type;
pub(crate) mod nearest;
mod number;
mod pattern;
pub(crate) mod portable;
mod shape;
mod tree;
mod walk;

use failwell_fault::{Fact, Fault, OrFault, Pointer, Rule, Violation, reason};
use failwell_rpc::Raw;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::schema::compile::Compiler;
use crate::schema::findings::{Findings, limit_fact};
use crate::schema::tree::SchemaTree;
use crate::schema::walk::Walk;

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    document: Value,
    tree: SchemaTree,
}

impl Schema {
    /// Compiles a schema. References to other documents are not followed. A pattern with look-around that cannot be
    /// checked is an error: a schema that checks less than it says would let forbidden arguments through.
    pub fn new(document: Value) -> Result<Schema, Fault> {
        let wrong = |words: String| Fault::new(&reason::SERVER_BUG).note("schema", words);
        let tree = Compiler::compile(&document).map_err(|error| wrong(error.to_string()))?;
        match tree.unsupported.first() {
            Some(pattern) => Err(wrong(format!("`{pattern}` needs look-around or back-references"))),
            None => Ok(Schema { document, tree }),
        }
    }

    /// A bound of a schema, such as the value of `maximum` or `enum`, as the limit that a violation names. `None` for
    /// bounds that cannot be shown in one line.
    pub fn limit_of(bound: &Value) -> Option<Fact> {
        limit_fact(bound)
    }

    pub(crate) fn document(&self) -> &Value {
        &self.document
    }

    pub(crate) fn accepts(&self, value: &Value) -> bool {
        Walk::new(&self.tree).run(value, &mut Findings::verdict()).is_continue()
    }

    /// Refuses arguments that do not fit, with all violations in one fault.
    pub fn check(&self, arguments: &Value) -> Result<(), Fault> {
        let found = self.all(arguments);
        if found.is_empty() {
            return Ok(());
        }
        Err(found.into_iter().fold(Fault::new(&reason::MCP_BAD_ARGUMENTS), Fault::violation))
    }

    /// All violations in a JSON text. A text that cannot be read violates every schema.
    pub fn violations_in(&self, text: &str) -> Vec<Violation> {
        match Raw::written(text).to_tree() {
            Ok(value) => self.all(&value),
            Err(_) => vec![Violation::new(Pointer::root(), Rule::Schema)],
        }
    }

    fn all(&self, arguments: &Value) -> Vec<Violation> {
        if self.accepts(arguments) {
            return Vec::new();
        }
        let mut findings = Findings::list(&self.document);
        let flow = Walk::new(&self.tree).run(arguments, &mut findings);
        if flow.is_continue() && findings.count() == 0 {
            // A rejected schema must not look like an accepted one.
            let _ = findings.add(Rule::Schema);
        }
        findings.into_violations()
    }
}

/// Whether a validator can make something of a schema. Validators with a richer pattern language than ours count.
pub fn is_usable_schema(document: &Value) -> bool {
    Compiler::compile(document).is_ok()
}

/// The schema of a Rust type, for arguments.
pub fn schema_of_arguments<T: JsonSchema>() -> Result<Value, Fault> {
    schema_of::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// The schema of a Rust type, for results.
pub fn schema_of_result<T: JsonSchema>() -> Result<Value, Fault> {
    schema_of::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn schema_of<T: JsonSchema>(settings: SchemaSettings) -> Result<Value, Fault> {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    let object = schema.ensure_object();
    // Clients insist on an object, and a type without fields says nothing about it.
    object.entry("type").or_insert_with(|| Value::String("object".to_owned()));
    object.remove("title");
    serde_json::to_value(schema).or_fault(&reason::SERVER_BUG)
}
