//! Questions to Z3: one child for questions that share a path, one for questions about floats.

use std::collections::HashSet;
use std::fmt::Write;
use std::time::Instant;

use super::reply::values;
use super::{Dialogue, by_hand};
use crate::Replayer;
use crate::terms::{Model, Printer, Sort, Term, Terms};

/// What a question costs at least, in the solver's own steps, so that many small ones count too.
const LEAST: u64 = 2_000;

/// What a question counts that no solver was needed for.
const BY_HAND: u64 = 200;

/// What a question to a solver without history counts.
const FRESH: u64 = 100_000;

/// What a question came to.
#[derive(Debug)]
pub(crate) enum Answer {
    Sat(Model),
    Unsat,
    Unknown,
}

/// What has been spent.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Cost {
    pub(crate) queries: u64,
    pub(crate) steps: u64,
}

pub(crate) struct Solver<'a> {
    outside: &'a dyn Replayer,
    /// Name and version of the one that was asked.
    pub(crate) version: Option<String>,
    /// There is none on this machine.
    pub(crate) is_missing: bool,
    /// Keeps the path of the last question asserted.
    shared: Option<Box<dyn Dialogue>>,
    printer: Printer,
    asserted: Vec<Term>,
    last_count: u64,
    /// Starts afresh for each question: Z3's solver for floats does not work step by step.
    fresh: Option<Box<dyn Dialogue>>,
    pub(crate) cost: Cost,
    question_steps: u64,
    deadline: Instant,
}

impl<'a> Solver<'a> {
    /// A solver that is started when it is first asked.
    pub(crate) fn new(outside: &'a dyn Replayer, question_steps: u64, deadline: Instant) -> Self {
        Self {
            outside,
            version: None,
            is_missing: false,
            shared: None,
            printer: Printer::default(),
            asserted: Vec::new(),
            last_count: 0,
            fresh: None,
            cost: Cost::default(),
            question_steps,
            deadline,
        }
    }

    /// Starts a child, with these commands first.
    fn child(&mut self, setup: &str) -> Option<Box<dyn Dialogue>> {
        let Some(mut child) = self.outside.solver() else {
            self.is_missing = true;
            return None;
        };
        let said = child.ask(&format!("{setup}(get-info :version)\n"), self.deadline)?;
        self.version = version_in(&said);
        Some(child)
    }

    /// Whether all of these can hold at once. `near` holds on the path: an answer may be close to it.
    pub(crate) fn check(&mut self, terms: &Terms, path: &[Term], more: Term, near: Option<&Model>) -> Answer {
        self.cost.queries += 1;
        let answer = by_hand::decide(terms, path, more, near);
        if !matches!(answer, Answer::Unknown) {
            self.cost.steps += BY_HAND;
            return answer;
        }
        let sorts = sorts_of(terms, path.iter().copied().chain([more]));
        if sorts.contains(&Sort::Float) {
            let logic = if sorts.contains(&Sort::Int) { "" } else { "(set-logic QF_FP)\n" };
            return self.check_fresh(terms, path, more, logic);
        }
        match self.check_shared(terms, path, more) {
            // Another tactic, and no history, may still decide it.
            Answer::Unknown => self.check_fresh(terms, path, more, "(set-logic QF_NIA)\n"),
            answer => answer,
        }
    }

    fn check_shared(&mut self, terms: &Terms, path: &[Term], more: Term) -> Answer {
        if self.shared.is_none() {
            let setup = format!("(set-option :rlimit {})\n", self.question_steps);
            let Some(child) = self.child(&setup) else { return Answer::Unknown };
            self.shared = Some(child);
            self.printer = Printer::default();
            self.asserted.clear();
            self.last_count = 0;
        }
        let mut out = String::new();
        let names: Vec<String> =
            path.iter().chain([&more]).map(|term| self.printer.define(terms, *term, &mut out)).collect();
        let bounds = std::mem::take(&mut self.printer.bounds);
        let mut common = self.asserted.iter().zip(path).take_while(|(a, b)| a == b).count();
        if !bounds.is_empty() {
            // Bounds of variables hold on every path: they belong below everything else.
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
        // When there is no model the values are an error, which nobody reads.
        let _ = writeln!(
            out,
            "(push)\n(assert {last})\n(check-sat)\n(get-info :rlimit)\n(echo \"<values>\")\n{values_wanted}(pop)"
        );
        let Some(said) = self.shared.as_mut().and_then(|pipe| pipe.ask(&out, self.deadline)) else {
            return self.lost();
        };
        let (verdict, model) = said.split_once("<values>").unwrap_or((said.as_str(), ""));
        self.count(verdict);
        let answer = if verdict.starts_with("unsat") {
            Answer::Unsat
        } else if verdict.starts_with("sat") {
            Answer::Sat(Model::new(values(model.trim_start())))
        } else {
            Answer::Unknown
        };
        confirmed(terms, path, more, answer)
    }

    fn lost(&mut self) -> Answer {
        self.shared = None;
        Answer::Unknown
    }

    fn count(&mut self, said: &str) {
        let number = said
            .split("(:rlimit")
            .nth(1)
            .and_then(|rest| rest.trim().trim_end_matches([')', '\n']).parse().ok());
        if let Some(total) = number {
            let total: u64 = total;
            self.cost.steps += total.saturating_sub(self.last_count).max(LEAST);
            self.last_count = total;
        }
    }

    fn check_fresh(&mut self, terms: &Terms, path: &[Term], more: Term, logic: &str) -> Answer {
        if self.fresh.is_none() {
            self.fresh = self.child("");
        }
        let mut printer = Printer::default();
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
        let Some(said) = self.fresh.as_mut().and_then(|pipe| pipe.ask(&question, self.deadline)) else {
            self.fresh = None;
            return Answer::Unknown;
        };
        self.cost.steps += FRESH;
        if said.starts_with("unsat") {
            return Answer::Unsat;
        }
        if !said.starts_with("sat") || vars.is_empty() {
            return Answer::Unknown;
        }
        let question = format!("(get-value ({}))\n", vars.join(" "));
        match self.fresh.as_mut().and_then(|pipe| pipe.ask(&question, self.deadline)) {
            Some(said) => confirmed(terms, path, more, Answer::Sat(Model::new(values(&said)))),
            None => {
                self.fresh = None;
                Answer::Unknown
            }
        }
    }
}

/// Name and version, from `(:version "5.4.0")`.
pub(super) fn version_in(said: &str) -> Option<String> {
    let (_, rest) = said.split_once("(:version \"")?;
    let (number, _) = rest.split_once('"')?;
    Some(format!("z3 {number}"))
}

/// A model counts only when our own evaluation agrees with it.
fn confirmed(terms: &Terms, path: &[Term], more: Term, answer: Answer) -> Answer {
    match answer {
        Answer::Sat(model) if path.iter().chain([&more]).all(|term| model.truth(terms, *term)) => {
            Answer::Sat(model)
        }
        Answer::Sat(_) => Answer::Unknown,
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
