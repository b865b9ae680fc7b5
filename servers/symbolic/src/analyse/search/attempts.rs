//! Two further explorations: loops by induction, and arguments that share objects.

use super::{Harness, Search, SearchStats};
use crate::analyse::StopReason;
use crate::explore::InputType;

/// The budget of an attempt by induction: restarts, rounds, and the fraction of the remaining steps.
const INDUCTION_TRIES: u32 = 40;
const INDUCTION_ROUNDS: u32 = 2;
const INDUCTION_SHARE: u64 = 3;

/// Rounds with arguments that share objects.
const SHARING_ROUNDS: u32 = 1;

impl Search<'_> {
    /// Explores again, with one round of each loop for all of its rounds. Returns whether the search is over:
    /// everything is proven, or there is a finding. Otherwise the state is restored.
    pub(super) fn try_induction(&mut self, plan: &mut dyn Harness) -> bool {
        let Some(before) = plan.mismatches().map(|count| *count) else { return false };
        let (stack, parked) = (std::mem::take(&mut self.stack), std::mem::take(&mut self.parked));
        let (tally, round) = (std::mem::take(&mut self.tally), self.round);
        let abstractions = self.machine.abstractions.clone();
        let (spent, allowed) = (self.solver.cost.steps, self.allowed);
        let part = |all: u64, spent: u64| spent.saturating_add(all.saturating_sub(spent) / INDUCTION_SHARE);
        self.allowed = (
            part(self.budget.interpreter_steps, self.machine.steps).min(allowed.0),
            part(self.budget.solver_steps, spent).min(allowed.1),
        );
        self.machine.induction.is_on = true;
        let mut is_over = false;
        for _ in 0..INDUCTION_TRIES {
            self.tally = SearchStats::default();
            self.round = 0;
            self.begin();
            let ended = self.rounds(plan, INDUCTION_ROUNDS);
            let (left, restart) = (self.stack.len() + self.parked.len(), self.tally.must_restart);
            self.stack.clear();
            self.parked.clear();
            let is_unconfirmed = plan.mismatches().is_some_and(|count| *count > before);
            if !restart {
                // A confirmed finding is valid even if a claim was refuted. A proof needs every claim.
                let is_found = ended && self.stopped.is_none();
                is_over = (!is_unconfirmed && left == 0 && self.is_exhaustive(&[])) || is_found;
                break;
            }
            if is_unconfirmed || self.stop_reason().is_some() {
                break;
            }
        }
        self.machine.induction.is_on = false;
        self.allowed = allowed;
        if is_over {
            return true;
        }
        if self.stopped == Some(StopReason::Steps) && self.stop_reason().is_none() {
            self.stopped = None;
        }
        if let Some(count) = plan.mismatches() {
            *count = before;
        }
        self.machine.abstractions = abstractions;
        (self.stack, self.parked, self.tally, self.round) = (stack, parked, tally, round);
        false
    }

    /// Explores again with arguments that may be the same object. Open paths become an assumption of the
    /// proof. Returns whether there is a finding.
    pub(super) fn explore_shared(&mut self, plan: &mut dyn Harness) -> bool {
        let Some(before) = plan.mismatches().map(|count| *count) else { return false };
        let (parked, round) = (std::mem::take(&mut self.parked), self.round);
        let tally = std::mem::take(&mut self.tally);
        self.machine.is_sharing = true;
        self.begin();
        let is_over = self.rounds(plan, SHARING_ROUNDS);
        let is_whole = self.parked.is_empty() && self.stack.is_empty() && self.is_exhaustive(&[]);
        let is_confirmed = plan.mismatches().is_none_or(|count| *count == before);
        self.stack.clear();
        if is_over && self.stopped.is_none() {
            return true;
        }
        self.knows_shared = is_whole && is_confirmed && InputType::sharing_is_covered(&self.kinds());
        self.machine.is_sharing = false;
        (self.parked, self.round, self.tally) = (parked, round, tally);
        if let Some(count) = plan.mismatches() {
            *count = before;
        }
        self.stopped.is_some()
    }
}
