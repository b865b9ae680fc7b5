//! Schemas that apply to the same value.

use failwell_fault::Rule;
use serde_json::Value;

use crate::schema::findings::{Findings, Flow, Segment};
use crate::schema::tree::{Keyword, NodeId};
use crate::schema::walk::Walk;

/// The member that tells alternatives apart, and its value in each.
struct Tag<'v> {
    name: &'v str,
    values: Vec<(&'v Value, NodeId)>,
}

impl<'v> Walk<'v> {
    pub(super) fn applicator(
        &mut self,
        keyword: &'v Keyword,
        value: &'v Value,
        findings: &mut Findings<'v>,
    ) -> Flow {
        match keyword {
            Keyword::AllOf(all) => all.iter().try_for_each(|one| self.check(*one, value, findings)),
            Keyword::AnyOf(all) if !all.iter().any(|one| self.accepts(*one, value)) => {
                self.no_alternative(all, value, findings)
            }
            Keyword::OneOf(all) if self.only_one(all, value).is_none() => {
                self.no_alternative(all, value, findings)
            }
            Keyword::Not(one) if self.accepts(*one, value) => findings.add(Rule::Schema),
            Keyword::If { condition, then, otherwise } => {
                let next = if self.accepts(*condition, value) { then } else { otherwise };
                next.map_or(Flow::Continue(()), |next| self.check(next, value, findings))
            }
            Keyword::Reference(target) => self.check(*target, value, findings),
            _ => Flow::Continue(()),
        }
    }

    /// Tells what is wrong with a value that fits no alternative, or several. If one member tells the alternatives
    /// apart, the value is compared with the one that it names.
    fn no_alternative(&mut self, all: &'v [NodeId], value: &'v Value, findings: &mut Findings<'v>) -> Flow {
        let before = findings.count();
        if !findings.is_verdict()
            && let (Some(tag), Value::Object(members)) = (self.tag(all), value)
        {
            let flow = match members.get(tag.name) {
                None => findings.add_missing(tag.name),
                Some(given) => match tag.values.iter().find(|(known, _)| *known == given) {
                    Some((_, alternative)) => self.check(*alternative, value, findings),
                    None => {
                        let known = tag.values.iter().map(|(known, _)| (*known).clone()).collect();
                        findings.enter(Segment::Name(tag.name));
                        let flow = findings.add_limited(Rule::Choice, &Value::Array(known));
                        findings.leave();
                        flow
                    }
                },
            };
            if findings.count() > before {
                return flow;
            }
        }
        findings.add(Rule::Combination)
    }

    /// The member that has another constant in every alternative, if there is one.
    fn tag(&self, all: &'v [NodeId]) -> Option<Tag<'v>> {
        let first = self.constants(*all.first()?);
        first.into_iter().find_map(|(name, _)| {
            let of = |id: &NodeId| {
                let found = self.constants(*id).into_iter().find(|(known, _)| *known == name)?;
                Some((found.1, *id))
            };
            let values: Vec<(&Value, NodeId)> = all.iter().map(of).collect::<Option<_>>()?;
            let is_apart =
                |at: usize, value: &Value| values.iter().skip(at + 1).all(|(other, _)| *other != value);
            let is_tag = values.iter().enumerate().all(|(at, (value, _))| is_apart(at, value));
            is_tag.then_some(Tag { name, values })
        })
    }

    /// The members of a schema that must have one value.
    fn constants(&self, id: NodeId) -> Vec<(&'v str, &'v Value)> {
        let Some(node) = self.tree.node(id) else { return Vec::new() };
        let properties = node.keywords.iter().filter_map(|keyword| match keyword {
            Keyword::Properties(properties) => Some(properties),
            Keyword::ClosedProperties(closed) => Some(&closed.named),
            _ => None,
        });
        let constant = |id: &NodeId| {
            let keywords = &self.tree.node(*id)?.keywords;
            keywords.iter().find_map(|keyword| match keyword {
                Keyword::Const(value) => Some(value),
                _ => None,
            })
        };
        properties
            .flat_map(|properties| properties.nodes.iter())
            .filter_map(|(name, id)| Some((name.as_str(), constant(id)?)))
            .collect()
    }

    /// The one schema that accepts a value, unless several do.
    pub(super) fn only_one(&mut self, all: &[NodeId], value: &'v Value) -> Option<NodeId> {
        let mut accepting = all.iter().copied().filter(|one| self.accepts(*one, value));
        let first = accepting.next()?;
        accepting.next().is_none().then_some(first)
    }
}
