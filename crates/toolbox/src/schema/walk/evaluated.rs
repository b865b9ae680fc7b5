//! Which members and items other keywords evaluate, for `unevaluatedProperties` and `unevaluatedItems`.

use std::collections::HashSet;

use failwell_fault::Rule;
use serde_json::{Map, Value};

use crate::schema::findings::{Findings, Flow};
use crate::schema::tree::{Keyword, Node, NodeId};
use crate::schema::walk::Walk;

/// The members or items of one value that are evaluated.
struct Marks<'v> {
    names: HashSet<&'v str>,
    indexes: HashSet<usize>,
    /// Each schema marks once, however many references lead to it.
    visited: HashSet<NodeId>,
}

impl<'v> Walk<'v> {
    pub(super) fn unevaluated_properties(
        &mut self,
        schema: NodeId,
        id: NodeId,
        value: &'v Value,
        members: &'v Map<String, Value>,
        findings: &mut Findings<'v>,
    ) -> Flow {
        let marks = self.marks(id, value);
        let unmarked = members.iter().filter(|(name, _)| !marks.names.contains(name.as_str()));
        let refused = unmarked.filter(|(_, member)| !self.accepts(schema, member));
        let unknown: Vec<&str> = refused.map(|(name, _)| name.as_str()).collect();
        if unknown.is_empty() { Flow::Continue(()) } else { findings.add_unknown(&unknown) }
    }

    pub(super) fn unevaluated_items(
        &mut self,
        schema: NodeId,
        id: NodeId,
        value: &'v Value,
        items: &'v [Value],
        findings: &mut Findings<'v>,
    ) -> Flow {
        let marks = self.marks(id, value);
        let mut unmarked = items.iter().enumerate().filter(|(at, _)| !marks.indexes.contains(at));
        if unmarked.all(|(_, item)| self.accepts(schema, item)) {
            return Flow::Continue(());
        }
        findings.add(Rule::Schema)
    }

    fn marks(&mut self, id: NodeId, value: &'v Value) -> Marks<'v> {
        let mut marks = Marks { names: HashSet::new(), indexes: HashSet::new(), visited: HashSet::new() };
        self.mark(id, value, &mut marks);
        marks
    }

    fn mark(&mut self, id: NodeId, value: &'v Value, marks: &mut Marks<'v>) {
        let Some(node) = self.tree.node(id) else { return };
        if !marks.visited.insert(id) {
            return;
        }
        marks.mark_all(node, value);
        for keyword in &node.keywords {
            match value {
                Value::Object(members) => self.mark_members(keyword, value, members, marks),
                Value::Array(items) => self.mark_items(keyword, value, items, marks),
                _ => {}
            }
        }
    }

    fn mark_members(
        &mut self,
        keyword: &'v Keyword,
        value: &'v Value,
        members: &'v Map<String, Value>,
        marks: &mut Marks<'v>,
    ) {
        match keyword {
            Keyword::Properties(named) => {
                marks.mark_names(members, |name| named.nodes.contains_key(name));
            }
            Keyword::PatternProperties(patterns) => {
                marks.mark_names(members, |name| patterns.iter().any(|(pattern, _)| pattern.is_match(name)));
            }
            Keyword::UnevaluatedProperties(schema) => {
                let accepted = members.iter().filter(|(_, member)| self.accepts(*schema, member));
                marks.names.extend(accepted.map(|(name, _)| name.as_str()));
            }
            Keyword::DependentSchemas(all) => {
                let present = all.iter().filter(|(name, _)| members.contains_key(name));
                present.for_each(|(_, schema)| self.mark(*schema, value, marks));
            }
            _ => self.mark_applied(keyword, value, marks),
        }
    }

    fn mark_items(
        &mut self,
        keyword: &'v Keyword,
        value: &'v Value,
        items: &'v [Value],
        marks: &mut Marks<'v>,
    ) {
        match keyword {
            Keyword::PrefixItems(prefix) => marks.indexes.extend(0..prefix.len()),
            Keyword::Contains { item: schema, .. } | Keyword::UnevaluatedItems(schema) => {
                let accepted = items.iter().enumerate().filter(|(_, item)| self.accepts(*schema, item));
                marks.indexes.extend(accepted.map(|(at, _)| at));
            }
            _ => self.mark_applied(keyword, value, marks),
        }
    }

    /// A schema that refuses the value evaluates nothing.
    fn mark_applied(&mut self, keyword: &'v Keyword, value: &'v Value, marks: &mut Marks<'v>) {
        match keyword {
            Keyword::AllOf(all) | Keyword::AnyOf(all) => {
                for one in all {
                    if self.accepts(*one, value) {
                        self.mark(*one, value, marks);
                    }
                }
            }
            Keyword::OneOf(all) => {
                if let Some(one) = self.only_one(all, value) {
                    self.mark(one, value, marks);
                }
            }
            Keyword::If { condition, then, otherwise } => {
                let is_met = self.accepts(*condition, value);
                let applied = if is_met { [Some(*condition), *then] } else { [None, *otherwise] };
                applied.into_iter().flatten().for_each(|one| self.mark(one, value, marks));
            }
            Keyword::Reference(target) => self.mark(*target, value, marks),
            _ => {}
        }
    }
}

impl<'v> Marks<'v> {
    fn mark_all(&mut self, node: &Node, value: &'v Value) {
        match value {
            Value::Object(members) if node.evaluates_properties => self.mark_names(members, |_| true),
            Value::Array(items) if node.evaluates_items => self.indexes.extend(0..items.len()),
            _ => {}
        }
    }

    fn mark_names(&mut self, members: &'v Map<String, Value>, is_marked: impl Fn(&str) -> bool) {
        self.names.extend(members.keys().map(String::as_str).filter(|name| is_marked(name)));
    }
}
