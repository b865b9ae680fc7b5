//! The proof of an exploration.

use super::Search;
use crate::analyse::report::{BudgetUse, Proof};
use crate::explore::InputType;

impl Search<'_> {
    /// The path condition as text.
    pub(super) fn condition(&self) -> String {
        let parts: Vec<String> = self
            .machine
            .state
            .path
            .iter()
            .take(12)
            .map(|term| crate::terms::show(&self.machine.terms, *term))
            .collect();
        if parts.is_empty() { "True".to_owned() } else { parts.join(" and ") }
    }

    pub(in crate::analyse) fn is_exhaustive(&self, open_ends: &[String]) -> bool {
        self.stopped.is_none()
            && self.tally.bounds.is_empty()
            && self.tally.unsupported.is_empty()
            && self.tally.undecided == 0
            && self.tally.bug.is_none()
            && open_ends.is_empty()
    }

    /// Whether the inputs contain a float.
    pub(in crate::analyse) fn has_floats(&self) -> bool {
        self.parameters.iter().any(|parameter| format!("{:?}", parameter.kind).contains("Float"))
    }

    fn assumptions(&self) -> Vec<String> {
        let mut all = vec!["arguments have exactly their annotated types".to_owned()];
        // If nothing is changed, sharing does not matter. The exception is a nan, which equals only itself,
        // by identity.
        let matters = self.is_touched || !self.is_exhaustive(&[]) || self.has_floats();
        if matters && InputType::can_share(&self.kinds()) && !self.knows_shared {
            all.push("arguments share no mutable objects".to_owned());
        }
        all.extend(self.machine.left_out.iter().cloned());
        all
    }

    pub(in crate::analyse) fn proof(&self, open_ends: &[String], replays: (u64, u64)) -> Proof {
        let cost = self.solver.cost;
        let (replayed, mismatches) = replays;
        let mut bounds_hit = open_ends.to_vec();
        bounds_hit.extend(self.tally.bounds.iter().cloned());
        if mismatches > 0 {
            bounds_hit.push(format!("{mismatches} findings that CPython did not confirm"));
        }
        Proof {
            exhaustive: self.is_exhaustive(open_ends) && mismatches == 0,
            paths: self.tally.ended,
            bounds_hit,
            unsupported: self.tally.unsupported.clone(),
            assumptions: self.assumptions(),
            abstractions: self.machine.abstractions.iter().cloned().collect(),
            solver: self.solver.version.clone(),
            budget_used: BudgetUse {
                interpreter_steps: self.machine.steps,
                solver_queries: cost.queries,
                solver_steps: cost.steps,
            },
            replayed,
            mismatches,
        }
    }
}
