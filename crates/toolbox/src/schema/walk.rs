//! Checks a value against a tree.

use std::collections::HashMap;

use failwell_fault::Rule;
use serde_json::Value;

use crate::schema::document::address;
use crate::schema::findings::{Findings, Flow, Segment};
use crate::schema::tree::{Keyword, Node, NodeId, SchemaTree};
use crate::schema::walk::assertions::assertion;

mod applicators;
mod assertions;
mod containers;
mod evaluated;

/// Schemas applied inside each other. Messages are nested less deeply, so only a chain of references gets here.
const DEEPEST_WALK: usize = 512;

pub(super) struct Walk<'v> {
    tree: &'v SchemaTree,
    depth: usize,
    /// Whether some schema was not applied because of the depth. The value is then refused: `not` around that schema
    /// would turn a mere refusal there into approval.
    is_cut_short: bool,
    /// Results of shared nodes for a value, by its address.
    verdicts: HashMap<(NodeId, usize), bool>,
    /// The shared nodes whose violations are being listed.
    listing: Vec<(NodeId, usize)>,
}

impl<'v> Walk<'v> {
    pub(super) fn new(tree: &'v SchemaTree) -> Walk<'v> {
        Walk { tree, depth: 0, is_cut_short: false, verdicts: HashMap::new(), listing: Vec::new() }
    }

    pub(super) fn run(mut self, value: &'v Value, findings: &mut Findings<'v>) -> Flow {
        let flow = self.check(SchemaTree::ROOT, value, findings);
        if self.is_cut_short && flow.is_continue() { findings.add(Rule::Schema) } else { flow }
    }

    fn accepts(&mut self, id: NodeId, value: &'v Value) -> bool {
        self.check(id, value, &mut Findings::verdict()).is_continue()
    }

    fn check(&mut self, id: NodeId, value: &'v Value, findings: &mut Findings<'v>) -> Flow {
        let Some(node) = self.tree.node(id) else { return Flow::Continue(()) };
        if !node.is_shared {
            return self.check_keywords(node, id, value, findings);
        }
        let key = (id, address(value));
        if self.accepts_shared(node, key, value) || self.listing.contains(&key) {
            return Flow::Continue(());
        }
        if findings.is_verdict() {
            return Flow::Break(());
        }
        self.listing.push(key);
        let flow = self.check_keywords(node, id, value, findings);
        self.listing.pop();
        flow
    }

    fn accepts_shared(&mut self, node: &'v Node, key: (NodeId, usize), value: &'v Value) -> bool {
        if let Some(verdict) = self.verdicts.get(&key) {
            return *verdict;
        }
        // A reference that comes back here with the same value adds nothing.
        self.verdicts.insert(key, true);
        let verdict = self.check_keywords(node, key.0, value, &mut Findings::verdict()).is_continue();
        self.verdicts.insert(key, verdict);
        verdict
    }

    fn check_keywords(
        &mut self,
        node: &'v Node,
        id: NodeId,
        value: &'v Value,
        findings: &mut Findings<'v>,
    ) -> Flow {
        if self.depth == DEEPEST_WALK {
            self.is_cut_short = true;
            return Flow::Continue(());
        }
        self.depth += 1;
        let flow = node.keywords.iter().try_for_each(|keyword| match value {
            Value::Object(members) => self.object_keyword(keyword, id, value, members, findings),
            Value::Array(items) => self.array_keyword(keyword, id, value, items, findings),
            _ => self.any_keyword(keyword, value, findings),
        });
        self.depth -= 1;
        flow
    }

    /// The keywords that apply to values of every type, or to one that contains no others.
    fn any_keyword(&mut self, keyword: &'v Keyword, value: &'v Value, findings: &mut Findings<'v>) -> Flow {
        match keyword {
            Keyword::AllOf(_)
            | Keyword::AnyOf(_)
            | Keyword::OneOf(_)
            | Keyword::Not(_)
            | Keyword::If { .. }
            | Keyword::Reference(_) => self.applicator(keyword, value, findings),
            _ => assertion(keyword, value, findings),
        }
    }

    /// Checks a member or an item.
    fn below(
        &mut self,
        id: NodeId,
        segment: Segment<'v>,
        value: &'v Value,
        findings: &mut Findings<'v>,
    ) -> Flow {
        findings.enter(segment);
        let flow = self.check(id, value, findings);
        findings.leave();
        flow
    }
}
