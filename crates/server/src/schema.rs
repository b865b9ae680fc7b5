//! A tool's input schema: compiled once, and everything wrong with the arguments told at once.

use failwell_fault::{Fact, Fault, Name, OrFault, Pointer, Rule, Violation, reason};
use failwell_policy::ArgumentCheck;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError, Validator};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::near::nearest;

/// More violations than this are not worth finding.
const MOST: usize = 100;

/// A compiled schema.
#[derive(Debug)]
pub(crate) struct Schema {
    document: Value,
    validator: Validator,
}

impl Schema {
    /// Compiles a schema. References to other documents are not followed.
    pub(crate) fn new(document: Value) -> Result<Schema, Fault> {
        let validator = jsonschema::options().build(&document);
        // The error borrows the schema, so only its words are kept.
        let validator =
            validator.map_err(|e| Fault::new(&reason::SERVER_BUG).note("schema", e.to_string()))?;
        Ok(Schema { document, validator })
    }

    pub(crate) fn document(&self) -> &Value {
        &self.document
    }

    pub(crate) fn accepts(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// All violations in one fault.
    pub(crate) fn check(&self, arguments: &Value) -> Result<(), Fault> {
        let found = self.all(arguments);
        if found.is_empty() {
            return Ok(());
        }
        Err(found.into_iter().fold(Fault::new(&reason::MCP_BAD_ARGUMENTS), Fault::violation))
    }

    fn all(&self, arguments: &Value) -> Vec<Violation> {
        if self.validator.is_valid(arguments) {
            return Vec::new();
        }
        let errors = self.validator.iter_errors(arguments).take(MOST);
        errors.flat_map(|error| self.violations(&error)).collect()
    }

    fn violations(&self, error: &ValidationError<'_>) -> Vec<Violation> {
        let place = error
            .instance_path()
            .as_str()
            .split('/')
            .skip(1)
            .fold(Pointer::root(), |at, segment| at.then(&segment.replace("~1", "/").replace("~0", "~")));
        let one = |rule| vec![Violation::new(place.clone(), rule)];
        let bounded = |rule, limit: &Value| vec![limited(Violation::new(place.clone(), rule), limit)];
        let counted = |rule, limit: u64| vec![Violation::new(place.clone(), rule).limit(limit)];
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                vec![Violation::new(place.then(property.as_str().unwrap_or_default()), Rule::Required)]
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                unexpected.iter().map(|key| self.unknown(place.clone(), key)).collect()
            }
            ValidationErrorKind::Type { kind } => {
                vec![Violation::new(place, Rule::Type).limit(type_names(kind))]
            }
            ValidationErrorKind::Enum { options } => bounded(Rule::Choice, options),
            ValidationErrorKind::Constant { expected_value } => bounded(Rule::Constant, expected_value),
            ValidationErrorKind::Minimum { limit } | ValidationErrorKind::ExclusiveMinimum { limit } => {
                bounded(Rule::Minimum, limit)
            }
            ValidationErrorKind::Maximum { limit } | ValidationErrorKind::ExclusiveMaximum { limit } => {
                bounded(Rule::Maximum, limit)
            }
            ValidationErrorKind::MultipleOf { multiple_of } => {
                vec![Violation::new(place, Rule::MultipleOf).limit(*multiple_of)]
            }
            ValidationErrorKind::MinLength { limit } => counted(Rule::MinLength, *limit),
            ValidationErrorKind::MaxLength { limit } => counted(Rule::MaxLength, *limit),
            ValidationErrorKind::MinItems { limit } => counted(Rule::MinItems, *limit),
            ValidationErrorKind::MaxItems { limit } => counted(Rule::MaxItems, *limit),
            ValidationErrorKind::UniqueItems => one(Rule::UniqueItems),
            ValidationErrorKind::Pattern { .. } => one(Rule::Pattern),
            ValidationErrorKind::Format { format } => bounded(Rule::Format, &Value::String(format.clone())),
            ValidationErrorKind::AnyOf { .. }
            | ValidationErrorKind::OneOfNotValid { .. }
            | ValidationErrorKind::OneOfMultipleValid { .. } => one(Rule::Combination),
            _ => one(Rule::Schema),
        }
    }

    fn unknown(&self, place: Pointer, key: &str) -> Violation {
        let known = self.document.get("properties").and_then(Value::as_object);
        let names = known.into_iter().flat_map(|properties| properties.keys().map(String::as_str));
        let violation = Violation::new(place.then(key), Rule::Unknown);
        match nearest(key, names).into_iter().next() {
            Some(name) => violation.nearest(name),
            None => violation,
        }
    }
}

/// A check of arguments by a JSON Schema of the operator's.
pub fn argument_check(document: Value) -> Result<ArgumentCheck, Fault> {
    let schema = Schema::new(document)?;
    Ok(ArgumentCheck::new(move |arguments| {
        let value = serde_json::from_str(arguments).unwrap_or_default();
        schema.all(&value)
    }))
}

/// Whether a validator can make something of a schema.
pub fn is_usable_schema(document: &Value) -> bool {
    jsonschema::options().build(document).is_ok()
}

/// A bound as the schema's author wrote it: numbers and plain names; anything else stays unsaid.
fn limited(violation: Violation, limit: &Value) -> Violation {
    match limit {
        Value::Number(number) => {
            let fact = number.as_u64().map(Fact::from).or_else(|| number.as_i64().map(Fact::from));
            violation.limit(fact.unwrap_or_else(|| Fact::from(number.as_f64().unwrap_or(f64::NAN))))
        }
        Value::String(text) => match Name::parse(text) {
            Some(name) => violation.limit(name),
            None => violation,
        },
        Value::Array(options) => {
            let names: Vec<Name> =
                options.iter().filter_map(|option| Name::parse(option.as_str()?)).take(20).collect();
            if names.is_empty() { violation } else { violation.limit(names) }
        }
        _ => violation,
    }
}

fn type_names(kind: &TypeKind) -> Fact {
    let name = |kind: JsonType| match kind {
        JsonType::Array => "array",
        JsonType::Boolean => "boolean",
        JsonType::Integer => "integer",
        JsonType::Null => "null",
        JsonType::Number => "number",
        JsonType::Object => "object",
        JsonType::String => "string",
    };
    match kind {
        TypeKind::Single(kind) => Fact::from(name(*kind)),
        TypeKind::Multiple(kinds) => Fact::from(kinds.iter().map(name).collect::<Vec<&'static str>>()),
    }
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
