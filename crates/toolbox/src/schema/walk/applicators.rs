//! Schemas that apply to the same value.

use failwell_fault::Rule;
use serde_json::Value;

use crate::schema::findings::{Findings, Flow};
use crate::schema::tree::{Keyword, NodeId};
use crate::schema::walk::Walk;

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
                findings.add(Rule::Combination)
            }
            Keyword::OneOf(all) if self.only_one(all, value).is_none() => findings.add(Rule::Combination),
            Keyword::Not(one) if self.accepts(*one, value) => findings.add(Rule::Schema),
            Keyword::If { condition, then, otherwise } => {
                let next = if self.accepts(*condition, value) { then } else { otherwise };
                next.map_or(Flow::Continue(()), |next| self.check(next, value, findings))
            }
            Keyword::Reference(target) => self.check(*target, value, findings),
            _ => Flow::Continue(()),
        }
    }

    /// The one schema that accepts a value, unless several do.
    pub(super) fn only_one(&mut self, all: &[NodeId], value: &'v Value) -> Option<NodeId> {
        let mut accepting = all.iter().copied().filter(|one| self.accepts(*one, value));
        let first = accepting.next()?;
        accepting.next().is_none().then_some(first)
    }
}
