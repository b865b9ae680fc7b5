//! Queries to Z3: one process for queries that share a path, one for queries about floats.

use std::collections::HashSet;
use std::fmt::Write;
use std::time::Instant;

use super::s_expression::values;
use super::{SolverConnection, presolve};
use crate::Replayer;
use crate::terms::{Model, SmtPrinter, Sort, Term, Terms};

/// The minimum cost of a query in solver steps, so that many small queries count too.
const LEAST: u64 = 2_000;

/// The cost of a query that the presolver decides.
const BY_HAND: u64 = 200;

/// The cost of a query to a solver without history.
const FRESH: u64 = 100_000;

/// The result of a satisfiability query.
#[derive(Debug)]
pub(crate) enum SatResult {
    Sat(Model),
    Unsat,
    Unknown,
}

/// The queries and steps spent so far.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct SolverCost {
    pub(crate) queries: u64,
    pub(crate) steps: u64,
}

pub(crate) struct Solver<'a> {
    outside: &'a dyn Replayer,
    /// The name and version of the solver that was used.
    pub(crate) version: Option<String>,
    /// This machine has no solver.
    pub(crate) is_missing: bool,
    /// The path of the last query stays asserted.
    shared: Option<Box<dyn SolverConnection>>,
    printer: SmtPrinter,
    asserted: Vec<Term>,
    last_count: u64,
    /// Reset for each query: Z3's solver for floats is not incremental.
    fresh: Option<Box<dyn SolverConnection>>,
    pub(crate) cost: SolverCost,
    question_steps: u64,
    deadline: Instant,
}

impl<'a> Solver<'a> {
    /// Creates a solver that starts with its first query.
    pub(crate) fn new(outside: &'a dyn Replayer, question_steps: u64, deadline: Instant) -> Self {
        Self {
            outside,
            version: None,
            is_missing: false,
            shared: None,
            printer: SmtPrinter::default(),
            asserted: Vec::new(),
            last_count: 0,
            fresh: None,
            cost: SolverCost::default(),
            question_steps,
            deadline,
        }
    }

    /// Starts a solver process with these first commands.
    fn child(&mut self, setup: &str) -> Option<Box<dyn SolverConnection>> {
        let Some(mut child) = self.outside.solver() else {
            self.is_missing = true;
            return None;
        };
        let output = child.ask(&format!("{setup}(get-info :version)\n"), self.deadline)?;
        self.version = version_in(&output);
        Some(child)
    }

    /// Whether all of these can hold at once. `near` satisfies the path, and the model may be close to it.
    pub(crate) fn check(
        &mut self,
        terms: &Terms,
        path: &[Term],
        more: Term,
        near: Option<&Model>,
    ) -> SatResult {
        self.cost.queries += 1;
        let answer = presolve::decide(terms, path, more, near);
        if !matches!(answer, SatResult::Unknown) {
            self.cost.steps += BY_HAND;
            return answer;
        }
        let sorts = sorts_of(terms, path.iter().copied().chain([more]));
        if sorts.contains(&Sort::Float) {
            let logic = if sorts.contains(&Sort::Int) { "" } else { "(set-logic QF_FP)\n" };
            return self.check_fresh(terms, path, more, logic);
        }
        match self.check_shared(terms, path, more) {
            // Another tactic without history may still decide it.
            SatResult::Unknown => self.check_fresh(terms, path, more, "(set-logic QF_NIA)\n"),
            answer => answer,
        }
    }

    fn check_shared(&mut self, terms: &Terms, path: &[Term], more: Term) -> SatResult {
        if self.shared.is_none() {
            let setup = format!("(set-option :rlimit {})\n", self.question_steps);
            let Some(child) = self.child(&setup) else { return SatResult::Unknown };
            self.shared = Some(child);
            self.printer = SmtPrinter::default();
            self.asserted.clear();
            self.last_count = 0;
        }
        let mut out = String::new();
        let names: Vec<String> =
            path.iter().chain([&more]).map(|term| self.printer.define(terms, *term, &mut out)).collect();
        let bounds = std::mem::take(&mut self.printer.bounds);
        let mut common = self.asserted.iter().zip(path).take_while(|(a, b)| a == b).count();
        if !bounds.is_empty() {
            // Bounds of variables hold on every path, so they are asserted below everything else.
            common = 0;
        }
        if self.asserted.len() > common {
            let _ = writeln!(out, "(pop {})", self.asserted.len() - common);
        }
        out.push_str(&bounds);
        for name in names.iter().take(path.len()).skip(common) {
            let _ = writeln!(out, "(push)\n(assert {name})");
        }
        self.asserted = path.to_vec();
        let last = names.last().map(String::as_str).unwrap_or("true");
        let vars: Vec<String> = self.printer.vars.iter().map(|var| crate::terms::var_name(*var)).collect();
        let values_wanted =
            if vars.is_empty() { String::new() } else { format!("(get-value ({}))\n", vars.join(" ")) };
        // Without a model the values are an error, which is ignored.
        let _ = writeln!(
            out,
            "(push)\n(assert {last})\n(check-sat)\n(get-info :rlimit)\n(echo \"<values>\")\n{values_wanted}(pop)"
        );
        let Some(output) = self.shared.as_mut().and_then(|pipe| pipe.ask(&out, self.deadline)) else {
            return self.lost();
        };
        let (verdict, model) = output.split_once("<values>").unwrap_or((output.as_str(), ""));
        self.count(verdict);
        let answer = if verdict.starts_with("unsat") {
            SatResult::Unsat
        } else if verdict.starts_with("sat") {
            SatResult::Sat(Model::new(values(model.trim_start())))
        } else {
            SatResult::Unknown
        };
        confirmed(terms, path, more, answer)
    }

    fn lost(&mut self) -> SatResult {
        self.shared = None;
        SatResult::Unknown
    }

    fn count(&mut self, output: &str) {
        let number = output
            .split("(:rlimit")
            .nth(1)
            .and_then(|rest| rest.trim().trim_end_matches([')', '\n']).parse().ok());
        if let Some(total) = number {
            let total: u64 = total;
            self.cost.steps += total.saturating_sub(self.last_count).max(LEAST);
            self.last_count = total;
        }
    }

    fn check_fresh(&mut self, terms: &Terms, path: &[Term], more: Term, logic: &str) -> SatResult {
        if self.fresh.is_none() {
            self.fresh = self.child("");
        }
        let mut printer = SmtPrinter::default();
        let mut definitions = String::new();
        let mut asserts = String::new();
        for term in path.iter().copied().chain([more]) {
            let name = printer.define(terms, term, &mut definitions);
            let _ = writeln!(asserts, "(assert {name})");
        }
        let vars: Vec<String> = printer.vars.iter().map(|var| crate::terms::var_name(*var)).collect();
        let bounds = std::mem::take(&mut printer.bounds);
        let question = format!(
            "(reset)\n(set-option :rlimit {})\n{logic}{definitions}{bounds}{asserts}(check-sat)\n(get-info :rlimit)\n",
            self.question_steps
        );
        let Some(output) = self.fresh.as_mut().and_then(|pipe| pipe.ask(&question, self.deadline)) else {
            self.fresh = None;
            return SatResult::Unknown;
        };
        self.cost.steps += FRESH;
        if output.starts_with("unsat") {
            return SatResult::Unsat;
        }
        if !output.starts_with("sat") || vars.is_empty() {
            return SatResult::Unknown;
        }
        let question = format!("(get-value ({}))\n", vars.join(" "));
        match self.fresh.as_mut().and_then(|pipe| pipe.ask(&question, self.deadline)) {
            Some(output) => confirmed(terms, path, more, SatResult::Sat(Model::new(values(&output)))),
            None => {
                self.fresh = None;
                SatResult::Unknown
            }
        }
    }
}

/// The name and version, from `(:version "5.4.0")`.
pub(super) fn version_in(output: &str) -> Option<String> {
    let (_, rest) = output.split_once("(:version \"")?;
    let (number, _) = rest.split_once('"')?;
    Some(format!("z3 {number}"))
}

/// A model counts only if our own evaluation confirms it.
fn confirmed(terms: &Terms, path: &[Term], more: Term, answer: SatResult) -> SatResult {
    match answer {
        SatResult::Sat(model) if path.iter().chain([&more]).all(|term| model.truth(terms, *term)) => {
            SatResult::Sat(model)
        }
        SatResult::Sat(_) => SatResult::Unknown,
        other => other,
    }
}

fn sorts_of(terms: &Terms, roots: impl Iterator<Item = Term>) -> HashSet<Sort> {
    let mut sorts = HashSet::new();
    let mut seen = HashSet::new();
    let mut work: Vec<Term> = roots.collect();
    while let Some(term) = work.pop() {
        if seen.insert(term) {
            sorts.insert(terms.sort(term));
            work.extend(terms.children(term));
        }
    }
    sorts
}
