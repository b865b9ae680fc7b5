use std::fmt;

use crate::{Echo, Fact};

/// A position in the caller's document: a JSON Pointer (RFC 6901), stored as segments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pointer(Vec<Echo>);

impl Pointer {
    pub fn root() -> Pointer {
        Pointer::default()
    }

    /// Appends a member name or an index of the caller's document.
    #[must_use]
    pub fn then(mut self, segment: &str) -> Pointer {
        self.0.push(Echo::of_caller(segment));
        self
    }

    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(Echo::as_str)
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in self.segments() {
            write!(f, "/{}", segment.replace('~', "~0").replace('/', "~1"))?;
        }
        Ok(())
    }
}

/// The violated rule. Its wording is fixed; only `limit` has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A required member is missing.
    Required,
    /// A member is unknown.
    Unknown,
    /// The JSON type is wrong.
    Type,
    /// The value is not one of the listed values.
    Choice,
    /// The value is not the one allowed value.
    Constant,
    /// A number is below its minimum.
    Minimum,
    /// A number is above its maximum.
    Maximum,
    /// A number is not a multiple of the limit.
    MultipleOf,
    /// A text is too short.
    MinLength,
    /// A text is too long.
    MaxLength,
    /// A text does not match the pattern.
    Pattern,
    /// A text does not have the required format.
    Format,
    /// A list is too short.
    MinItems,
    /// A list is too long.
    MaxItems,
    /// A list has repeated items.
    UniqueItems,
    /// Two members exclude each other, or no alternative matches.
    Combination,
    /// Any other rule of the schema.
    Schema,
}

impl Rule {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Rule::Required => "required",
            Rule::Unknown => "unknown",
            Rule::Type => "type",
            Rule::Choice => "choice",
            Rule::Constant => "constant",
            Rule::Minimum => "minimum",
            Rule::Maximum => "maximum",
            Rule::MultipleOf => "multiple_of",
            Rule::MinLength => "min_length",
            Rule::MaxLength => "max_length",
            Rule::Pattern => "pattern",
            Rule::Format => "format",
            Rule::MinItems => "min_items",
            Rule::MaxItems => "max_items",
            Rule::UniqueItems => "unique_items",
            Rule::Combination => "combination",
            Rule::Schema => "schema",
        }
    }

    /// The value of `errors[].type` that the REST record (S4 in docs/sources.md) defines for this rule.
    pub fn error_type(self) -> &'static str {
        match self {
            Rule::Required => "value_error.missing",
            Rule::Unknown => "value_error.extra",
            Rule::Type => "type_error",
            Rule::Choice => "value_error.enum",
            Rule::Constant => "value_error.const",
            Rule::Minimum => "value_error.number.min",
            Rule::Maximum => "value_error.number.max",
            Rule::MultipleOf => "value_error.number.multiple",
            Rule::MinLength => "value_error.str.min_length",
            Rule::MaxLength => "value_error.str.max_length",
            Rule::Pattern => "value_error.str.regex",
            Rule::Format => "value_error.str.format",
            Rule::MinItems => "value_error.list.min_items",
            Rule::MaxItems => "value_error.list.max_items",
            Rule::UniqueItems => "value_error.list.unique_items",
            Rule::Combination => "value_error.combination",
            Rule::Schema => "value_error.schema",
        }
    }

    fn wording(self) -> &'static str {
        match self {
            Rule::Required => "field required",
            Rule::Unknown => "unknown field",
            Rule::Type => "must be of type",
            Rule::Choice => "must be one of",
            Rule::Constant => "must be",
            Rule::Minimum => "must be at least",
            Rule::Maximum => "must be at most",
            Rule::MultipleOf => "must be a multiple of",
            Rule::MinLength => "must have at least this many characters:",
            Rule::MaxLength => "must have at most this many characters:",
            Rule::Pattern => "must match the pattern of the schema",
            Rule::Format => "must have the format",
            Rule::MinItems => "must have at least this many items:",
            Rule::MaxItems => "must have at most this many items:",
            Rule::UniqueItems => "must not repeat an item",
            Rule::Combination => "must fit exactly the alternatives of the schema",
            Rule::Schema => "must fit the schema",
        }
    }
}

/// One violation in the caller's input.
#[derive(Debug, Clone, PartialEq)]
pub struct Violation {
    pub pointer: Pointer,
    pub rule: Rule,
    /// The value of the rule: the bound, the type or the choices.
    pub limit: Option<Fact>,
    /// The most similar valid name, if a name was wrong.
    pub nearest: Option<Fact>,
}

impl Violation {
    pub fn new(pointer: Pointer, rule: Rule) -> Violation {
        Violation { pointer, rule, limit: None, nearest: None }
    }

    /// Adds the value of the rule.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Fact>) -> Violation {
        self.limit = Some(limit.into());
        self
    }

    /// Adds the most similar valid name.
    #[must_use]
    pub fn nearest(mut self, nearest: impl Into<Fact>) -> Violation {
        self.nearest = Some(nearest.into());
        self
    }

    /// The violated rule in words, without its position.
    pub fn message(&self) -> String {
        let mut text = self.rule.wording().to_owned();
        if let Some(limit) = &self.limit {
            text.push(' ');
            text.push_str(&limit.to_string());
        }
        if let Some(nearest) = &self.nearest {
            text.push_str(&format!(" (did you mean `{nearest}`?)"));
        }
        text
    }
}
