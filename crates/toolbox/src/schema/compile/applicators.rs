//! The keywords that apply other schemas to the same value.

use serde_json::Value;

use crate::schema::compile::{Compiler, Keywords};
use crate::schema::document::SchemaError;
use crate::schema::tree::{Keyword, NodeId};

impl<'d> Compiler<'d> {
    pub(super) fn applicators(&mut self, all: &'d Keywords, keywords: &mut Vec<Keyword>) {
        let list = |keyword: &str| all.get(keyword).and_then(Value::as_array);
        keywords.extend(list("allOf").map(|all| Keyword::AllOf(self.nodes(all))));
        keywords.extend(list("anyOf").map(|all| Keyword::AnyOf(self.nodes(all))));
        keywords.extend(list("oneOf").map(|all| Keyword::OneOf(self.nodes(all))));
        if let Some(schema) = all.get("not") {
            keywords.push(Keyword::Not(self.node(schema)));
        }
        if let Some(schema) = self.get(all, "if") {
            let condition = self.node(schema);
            let then = all.get("then").map(|schema| self.node(schema));
            let otherwise = all.get("else").map(|schema| self.node(schema));
            keywords.push(Keyword::If { condition, then, otherwise });
        }
    }

    pub(super) fn unevaluated(&mut self, id: NodeId, all: &'d Keywords, keywords: &mut Vec<Keyword>) {
        match self.get(all, "unevaluatedProperties") {
            None => {}
            Some(Value::Bool(true)) => self.change(id, |node| node.evaluates_properties = true),
            Some(schema) => keywords.push(Keyword::UnevaluatedProperties(self.node(schema))),
        }
        match self.get(all, "unevaluatedItems") {
            None => {}
            Some(Value::Bool(true)) => self.change(id, |node| node.evaluates_items = true),
            Some(schema) => keywords.push(Keyword::UnevaluatedItems(self.node(schema))),
        }
        self.has_unevaluated |= keywords
            .iter()
            .any(|one| matches!(one, Keyword::UnevaluatedProperties(_) | Keyword::UnevaluatedItems(_)));
    }

    /// Dynamic references are followed like static ones: within one document the outermost anchor is the only one,
    /// unless several resources in it have the same dynamic anchor.
    pub(super) fn references(
        &mut self,
        schema: &'d Value,
        all: &'d Keywords,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), SchemaError> {
        for keyword in ["$ref", "$recursiveRef", "$dynamicRef"] {
            let Some(reference) = self.get(all, keyword).and_then(Value::as_str) else { continue };
            let target = self.document.resolve(schema, reference)?;
            let target = self.node(target);
            self.change(target, |node| node.is_shared = true);
            keywords.push(Keyword::Reference(target));
        }
        Ok(())
    }
}
