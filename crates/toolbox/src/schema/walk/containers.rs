//! The keywords of objects and arrays.

use std::ops::ControlFlow;

use failwell_fault::Rule;
use serde_json::{Map, Value};

use crate::schema::findings::{Findings, Flow, Segment};
use crate::schema::pattern::Pattern;
use crate::schema::tree::{Additional, ClosedProperties, Keyword, NodeId, Properties};
use crate::schema::walk::Walk;

type ObjectMembers = Map<String, Value>;

/// From this number of properties on, violations come in the order of the value.
const MANY_PROPERTIES: usize = 15;

impl<'v> Walk<'v> {
    pub(super) fn object_keyword(
        &mut self,
        keyword: &'v Keyword,
        id: NodeId,
        value: &'v Value,
        members: &'v ObjectMembers,
        findings: &mut Findings<'v>,
    ) -> Flow {
        match keyword {
            Keyword::Required(names) => check_required(names, members, findings),
            Keyword::DependentRequired(all) => all
                .iter()
                .filter(|(name, _)| members.contains_key(name))
                .try_for_each(|(_, names)| check_required(names, members, findings)),
            Keyword::Properties(properties) => self.properties(properties, members, findings),
            Keyword::PatternProperties(patterns) => patterns.iter().try_for_each(|one| {
                members.iter().try_for_each(|member| self.pattern_property(one, member, findings).1)
            }),
            Keyword::ClosedProperties(closed) => self.closed_properties(closed, members, findings),
            Keyword::PropertyNames(name) => self.property_names(*name, members, findings),
            Keyword::DependentSchemas(all) | Keyword::Dependencies(all) => all
                .iter()
                .filter(|(name, _)| members.contains_key(name))
                .try_for_each(|(_, schema)| self.check(*schema, value, findings)),
            Keyword::UnevaluatedProperties(schema) => {
                self.unevaluated_properties(*schema, id, value, members, findings)
            }
            _ => self.any_keyword(keyword, value, findings),
        }
    }

    /// Walks the shorter of the two lists; callers are used to the order this gives.
    fn properties(
        &mut self,
        properties: &'v Properties,
        members: &'v ObjectMembers,
        findings: &mut Findings<'v>,
    ) -> Flow {
        let by_value = members.len() <= properties.names.len() || properties.names.len() >= MANY_PROPERTIES;
        let mut check = |name: &'v str| match (properties.nodes.get(name), members.get(name)) {
            (Some(node), Some(value)) => self.below(*node, Segment::Name(name), value, findings),
            _ => Flow::Continue(()),
        };
        if by_value {
            members.keys().try_for_each(|name| check(name))
        } else {
            properties.names.iter().try_for_each(|name| check(name))
        }
    }

    /// Whether the pattern covers the member, and how its check went.
    fn pattern_property(
        &mut self,
        (pattern, node): &'v (Pattern, NodeId),
        (name, value): (&'v String, &'v Value),
        findings: &mut Findings<'v>,
    ) -> (bool, Flow) {
        if !pattern.is_match(name) {
            return (false, Flow::Continue(()));
        }
        (true, self.below(*node, Segment::Name(name), value, findings))
    }

    fn closed_properties(
        &mut self,
        closed: &'v ClosedProperties,
        members: &'v ObjectMembers,
        findings: &mut Findings<'v>,
    ) -> Flow {
        let mut unknown = Vec::new();
        for member in members {
            if self.closed_property(closed, member, findings)? {
                continue;
            }
            match closed.additional {
                Additional::Forbidden => unknown.push(member.0.as_str()),
                Additional::Node(node) => self.below(node, Segment::Name(member.0), member.1, findings)?,
            }
        }
        if unknown.is_empty() { Flow::Continue(()) } else { findings.add_unknown(&unknown) }
    }

    /// Checks a member that is named or matches a pattern; whether it is such a member.
    fn closed_property(
        &mut self,
        closed: &'v ClosedProperties,
        member: (&'v String, &'v Value),
        findings: &mut Findings<'v>,
    ) -> ControlFlow<(), bool> {
        let named = closed.named.nodes.get(member.0);
        if let Some(node) = named {
            self.below(*node, Segment::Name(member.0), member.1, findings)?;
        }
        let mut is_covered = named.is_some();
        for one in &closed.patterns {
            let (matches, flow) = self.pattern_property(one, member, findings);
            is_covered |= matches;
            flow?;
        }
        ControlFlow::Continue(is_covered)
    }

    /// A name is a value of its own, which lives only here. So it gets a walk of its own.
    fn property_names(
        &mut self,
        schema: NodeId,
        members: &'v ObjectMembers,
        findings: &mut Findings<'v>,
    ) -> Flow {
        for name in members.keys() {
            let name = Value::String(name.clone());
            let mut walk = Walk { depth: self.depth, ..Walk::new(self.tree) };
            let mut found = Findings::list(&Value::Null);
            let _ = walk.check(schema, &name, &mut found);
            self.is_cut_short |= walk.is_cut_short;
            (0..found.count()).try_for_each(|_| findings.add(Rule::Schema))?;
        }
        Flow::Continue(())
    }

    pub(super) fn array_keyword(
        &mut self,
        keyword: &'v Keyword,
        id: NodeId,
        value: &'v Value,
        items: &'v [Value],
        findings: &mut Findings<'v>,
    ) -> Flow {
        let mut numbered = items.iter().enumerate();
        match keyword {
            Keyword::PrefixItems(prefix) => prefix
                .iter()
                .zip(numbered)
                .try_for_each(|(schema, (at, item))| self.below(*schema, Segment::Index(at), item, findings)),
            Keyword::Items(skipped, schema) => numbered
                .skip(*skipped)
                .try_for_each(|(at, item)| self.below(*schema, Segment::Index(at), item, findings)),
            Keyword::Contains { item, least, most } => {
                let count = numbered.by_ref().filter(|(_, one)| self.accepts(*item, one)).count();
                let fits = u64::try_from(count).is_ok_and(|count| (*least..=*most).contains(&count));
                if fits { Flow::Continue(()) } else { findings.add(Rule::Schema) }
            }
            Keyword::UnevaluatedItems(schema) => self.unevaluated_items(*schema, id, value, items, findings),
            _ => self.any_keyword(keyword, value, findings),
        }
    }
}

fn check_required(names: &[String], members: &ObjectMembers, findings: &mut Findings<'_>) -> Flow {
    names.iter().filter(|name| !members.contains_key(*name)).try_for_each(|name| findings.add_missing(name))
}
