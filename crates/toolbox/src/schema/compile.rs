//! From a schema document to a tree.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::schema::document::{SchemaDocument, SchemaError, address};
use crate::schema::json_type::JsonType;
use crate::schema::pattern::{Pattern, PatternError};
use crate::schema::shape;
use crate::schema::tree::{Keyword, Measure, Node, NodeId, NumberLimit, SchemaTree};

mod applicators;
mod containers;

type Keywords = Map<String, Value>;

/// The document was examined, so a keyword whose value has the wrong type cannot occur here and is skipped.
pub(super) struct Compiler<'d> {
    document: SchemaDocument<'d>,
    nodes: Vec<Node>,
    /// The node of each schema, by its address.
    ids: HashMap<usize, NodeId>,
    /// A list instead of recursion: a chain of references may be long.
    waiting: Vec<(NodeId, &'d Value)>,
    unsupported: Vec<String>,
    has_unevaluated: bool,
}

impl<'d> Compiler<'d> {
    pub(super) fn compile(root: &'d Value) -> Result<SchemaTree, SchemaError> {
        let document = SchemaDocument::new(root)?;
        let mut compiler = Compiler {
            document,
            nodes: Vec::new(),
            ids: HashMap::new(),
            waiting: Vec::new(),
            unsupported: Vec::new(),
            has_unevaluated: false,
        };
        compiler.node(root);
        while let Some((id, schema)) = compiler.waiting.pop() {
            let keywords = compiler.keywords(id, schema)?;
            compiler.change(id, |node| node.keywords = keywords);
        }
        if compiler.has_unevaluated {
            // Finding what is evaluated asks the same schemas about the same value again.
            compiler.nodes.iter_mut().for_each(|node| node.is_shared = true);
        }
        Ok(SchemaTree { nodes: compiler.nodes, unsupported: compiler.unsupported })
    }

    /// The node of a schema, which is filled later.
    fn node(&mut self, schema: &'d Value) -> NodeId {
        let next = NodeId(self.nodes.len());
        let id = *self.ids.entry(address(schema)).or_insert(next);
        if id == next {
            self.nodes.push(Node::default());
            self.waiting.push((id, schema));
        }
        id
    }

    fn change(&mut self, id: NodeId, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.get_mut(id.0) {
            change(node);
        }
    }

    fn keywords(&mut self, id: NodeId, schema: &'d Value) -> Result<Vec<Keyword>, SchemaError> {
        let Value::Object(all) = schema else {
            return Ok(if schema == &Value::Bool(false) { vec![Keyword::False] } else { Vec::new() });
        };
        let mut keywords = Vec::new();
        if all.contains_key("$ref") && self.document.draft().has_lone_references() {
            self.references(schema, all, &mut keywords)?;
            return Ok(keywords);
        }
        any_type(all, &mut keywords, |keyword| self.document.draft().has(keyword));
        self.numbers(all, &mut keywords);
        self.strings(all, &mut keywords)?;
        self.objects(id, all, &mut keywords)?;
        self.arrays(id, all, &mut keywords);
        self.applicators(all, &mut keywords);
        self.unevaluated(id, all, &mut keywords);
        self.references(schema, all, &mut keywords)?;
        Ok(keywords)
    }

    /// A keyword, if the draft has it.
    fn get(&self, all: &'d Keywords, keyword: &str) -> Option<&'d Value> {
        all.get(keyword).filter(|_| self.document.draft().has(keyword))
    }

    fn count(&self, all: &'d Keywords, keyword: &str) -> Option<u64> {
        self.get(all, keyword).and_then(shape::count)
    }

    fn numbers(&self, all: &'d Keywords, keywords: &mut Vec<Keyword>) {
        let number = |keyword: &str| all.get(keyword).and_then(Value::as_number).cloned();
        let is_flagged = |keyword: &str| all.get(keyword) == Some(&Value::Bool(true));
        let bound = |keyword, is_exclusive| Some(NumberLimit { limit: number(keyword)?, is_exclusive });
        keywords.extend(bound("minimum", is_flagged("exclusiveMinimum")).map(Keyword::Minimum));
        keywords.extend(bound("maximum", is_flagged("exclusiveMaximum")).map(Keyword::Maximum));
        keywords.extend(bound("exclusiveMinimum", true).map(Keyword::Minimum));
        keywords.extend(bound("exclusiveMaximum", true).map(Keyword::Maximum));
        keywords.extend(number("multipleOf").map(Keyword::MultipleOf));
    }

    fn sizes(&self, all: &'d Keywords, measure: Measure, keywords: &mut Vec<Keyword>) {
        let (least, most) = match measure {
            Measure::Length => ("minLength", "maxLength"),
            Measure::Items => ("minItems", "maxItems"),
            Measure::Properties => ("minProperties", "maxProperties"),
        };
        keywords.extend(self.count(all, least).map(|least| Keyword::AtLeast(measure, least)));
        keywords.extend(self.count(all, most).map(|most| Keyword::AtMost(measure, most)));
    }

    fn strings(&mut self, all: &'d Keywords, keywords: &mut Vec<Keyword>) -> Result<(), SchemaError> {
        self.sizes(all, Measure::Length, keywords);
        if let Some(source) = all.get("pattern").and_then(Value::as_str) {
            keywords.extend(self.pattern(source)?.map(Keyword::Pattern));
        }
        Ok(())
    }

    /// `None` for a pattern that the engine cannot express, which the tree then says.
    fn pattern(&mut self, source: &str) -> Result<Option<Pattern>, SchemaError> {
        match Pattern::new(source) {
            Ok(pattern) => Ok(Some(pattern)),
            Err(PatternError::Invalid) => {
                Err(SchemaError::new(format!("`{source}` is no regular expression")))
            }
            Err(PatternError::Unsupported) => {
                self.unsupported.push(source.to_owned());
                Ok(None)
            }
        }
    }
}

fn any_type(all: &Keywords, keywords: &mut Vec<Keyword>, has: impl Fn(&str) -> bool) {
    keywords.extend(all.get("type").and_then(JsonType::parse_list).map(Keyword::Type));
    keywords.extend(all.get("const").filter(|_| has("const")).cloned().map(Keyword::Const));
    keywords.extend(all.get("enum").cloned().map(Keyword::Enum));
}
