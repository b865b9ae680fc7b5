//! What an exploration amounts to.

use super::Search;
use crate::explore::InputType;
use crate::report::{Proof, Spent};

impl Search<'_> {
    /// The path in words.
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

    /// Whether a float is among the inputs, or in one of them.
    pub(in crate::analyse) fn has_floats(&self) -> bool {
        self.parameters.iter().any(|parameter| format!("{:?}", parameter.kind).contains("Float"))
    }

    fn assumptions(&self) -> Vec<String> {
        let mut all = vec!["arguments have exactly their annotated types".to_owned()];
        // Where nothing is changed it does not matter who shares what; but a nan is equal to itself only by being itself.
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
            budget_used: Spent {
                interpreter_steps: self.machine.steps,
                solver_queries: cost.queries,
                solver_steps: cost.steps,
            },
            replayed,
            mismatches,
        }
    }
}
