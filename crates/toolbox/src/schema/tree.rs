//! A compiled schema: nodes of keywords. Nodes refer to each other by number, so that schemas may be recursive.

use std::collections::HashMap;

use serde_json::{Number, Value};

use crate::schema::json_type::JsonType;
use crate::schema::pattern::Pattern;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct NodeId(pub(super) usize);

#[derive(Debug)]
pub(super) struct SchemaTree {
    pub(super) nodes: Vec<Node>,
    /// Patterns that the engine cannot express. A tree with such a pattern says nothing about values.
    pub(super) unsupported: Vec<String>,
}

impl SchemaTree {
    pub(super) const ROOT: NodeId = NodeId(0);

    pub(super) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0)
    }
}

/// One schema.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// In the order in which violations are reported.
    pub(super) keywords: Vec<Keyword>,
    /// Whether several ways lead here. Its verdict about a value is kept, or small schemas could take exponential time.
    pub(super) is_shared: bool,
    /// Whether this schema alone evaluates all members or items, for the `unevaluated` keywords around it.
    pub(super) evaluates_properties: bool,
    pub(super) evaluates_items: bool,
}

/// One assertion, or one keyword that applies other schemas. Keywords that assert nothing are not here.
#[derive(Debug)]
pub(super) enum Keyword {
    False,
    Type(Vec<JsonType>),
    Const(Value),
    Enum(Value),
    Minimum(NumberLimit),
    Maximum(NumberLimit),
    MultipleOf(Number),
    AtLeast(Measure, u64),
    AtMost(Measure, u64),
    Pattern(Pattern),
    UniqueItems,
    Required(Vec<String>),
    DependentRequired(Vec<(String, Vec<String>)>),
    Properties(Properties),
    PatternProperties(Vec<(Pattern, NodeId)>),
    ClosedProperties(ClosedProperties),
    PropertyNames(NodeId),
    PrefixItems(Vec<NodeId>),
    /// The items behind so many.
    Items(usize, NodeId),
    Contains {
        item: NodeId,
        least: u64,
        most: u64,
    },
    DependentSchemas(Vec<(String, NodeId)>),
    /// The older spelling. The `unevaluated` keywords, which are younger, do not look into it.
    Dependencies(Vec<(String, NodeId)>),
    AllOf(Vec<NodeId>),
    AnyOf(Vec<NodeId>),
    OneOf(Vec<NodeId>),
    Not(NodeId),
    If {
        condition: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
    UnevaluatedProperties(NodeId),
    UnevaluatedItems(NodeId),
    Reference(NodeId),
}

#[derive(Debug)]
pub(super) struct NumberLimit {
    pub(super) limit: Number,
    pub(super) is_exclusive: bool,
}

/// The unit of a size.
#[derive(Debug, Clone, Copy)]
pub(super) enum Measure {
    Length,
    Items,
    Properties,
}

#[derive(Debug, Default)]
pub(super) struct Properties {
    pub(super) names: Vec<String>,
    pub(super) nodes: HashMap<String, NodeId>,
}

/// `properties` and `patternProperties` beside an `additionalProperties` that matters.
#[derive(Debug)]
pub(super) struct ClosedProperties {
    pub(super) named: Properties,
    pub(super) patterns: Vec<(Pattern, NodeId)>,
    pub(super) additional: Additional,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Additional {
    Forbidden,
    Node(NodeId),
}
