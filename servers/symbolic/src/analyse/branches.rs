//! `branches`: finds the reachable branch sides of a function.

use std::collections::HashSet;
use std::rc::Rc;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{ExceptHandler, Expr, Pattern, Stmt};

use super::check::{SeedInputs, shortfall, try_seed_inputs};
use super::conditions::{call_with_inputs, replay_watching};
use super::function::{AnalysedFunction, find};
use super::report::{Branch, BranchReport, Failure, Inputs, Proof, Reachability};
use super::search::{CallOutcome, Harness, HarnessState, HarnessStep, PathFinding, Search};
use super::{Analysis, Depth};
use crate::PyValue;
use crate::explore::{BranchSide, Machine, OrTrap};
use crate::frontend::ir::{Code, Const};

/// Branch sides that CPython took, by their index among the watched branches. `None` if the call could not be
/// made.
type TakenSides = Option<Vec<(u32, bool)>>;

/// Calls the function and reports no findings: the search records which branch sides were taken.
struct BranchHarness<'a> {
    subject: &'a AnalysedFunction,
}

impl Harness for BranchHarness<'_> {
    fn next_step(
        &mut self,
        machine: &mut Machine,
        _stage: &HarnessState,
        outcome: &CallOutcome,
        given: Option<&[PyValue]>,
    ) -> OrTrap<HarnessStep> {
        if !matches!(outcome, CallOutcome::Begin) {
            return Ok(HarnessStep::Fine);
        }
        call_with_inputs(machine, self.subject, given)
    }

    fn found(&mut self, _finding: &PathFinding, _inputs: &Inputs, _condition: &str) -> bool {
        false
    }

    fn mismatches(&mut self) -> Option<&mut u64> {
        None
    }
}

/// The code of a function and of everything inside it.
fn codes(code: &Rc<Code>) -> Vec<Rc<Code>> {
    let mut all = vec![code.clone()];
    for constant in &code.consts {
        if let Const::Code(inner) = constant {
            all.extend(codes(inner));
        }
    }
    all
}

/// Both sides of every branch.
pub(super) fn sides_of(code: &Rc<Code>) -> Vec<BranchSide> {
    let mut sides = Vec::new();
    for code in codes(code) {
        for index in 0..code.branches.len() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            sides.extend([(code.id, index, true), (code.id, index, false)]);
        }
    }
    sides
}

pub(super) fn branches(analysis: &Analysis<'_>, function: &str, depth: Depth) -> BranchReport {
    let Analysis { program, budget, replayer, .. } = *analysis;
    let Some((def, _)) = find(program, function) else {
        return failed(Failure::NoSuchFunction { known: program.functions() });
    };
    let complexity = complexity(&def.body);
    let (machine, subject) = match AnalysedFunction::load(program, function) {
        Ok(loaded) => loaded,
        Err(failure) => return BranchReport { cyclomatic_complexity: complexity, ..failed(failure) },
    };
    let all = codes(&subject.code);
    if depth == Depth::Syntax {
        let branches = list(&all, |_| Reachability::Unknown);
        return BranchReport {
            branches,
            dead_code_lines: Vec::new(),
            cyclomatic_complexity: complexity,
            failure: None,
            proof: Proof::default(),
        };
    }
    let mut search = Search::new(machine, subject.parameters.clone(), analysis);
    let mut plan = BranchHarness { subject: &subject };
    let mut known = SeedInputs::new(program, &search);
    try_seed_inputs(known.first(), &mut search, &mut plan, 0);
    if !search.explore_first(&mut plan) {
        try_seed_inputs(known, &mut search, &mut plan, 0);
        search.explore_rest(&mut plan, u32::MAX);
    }
    let mut replays = (0, 0);
    let watched: Vec<(u32, u32)> =
        all.iter().flat_map(|code| &code.branches).filter_map(|branch| branch.at).collect();
    let mut confirmed: Vec<(Inputs, TakenSides)> = Vec::new();
    let examples: Vec<(BranchSide, Option<Inputs>)> =
        search.sides.iter().map(|(side, inputs)| (*side, inputs.clone())).collect();
    let mut reached: HashSet<BranchSide> = HashSet::new();
    for (side, inputs) in &examples {
        let Some(inputs) = inputs else { continue };
        if !all.iter().any(|code| code.id == side.0) {
            continue;
        }
        let known = confirmed.iter().find(|(known, _)| known == inputs).map(|(_, taken)| taken.clone());
        let taken = known.unwrap_or_else(|| {
            replays.0 += 1;
            let outcome =
                replay_watching(replayer, program.code(), &subject, inputs, &watched, budget.deadline);
            let taken = outcome.ok().map(|outcome| outcome.sides);
            confirmed.push((inputs.clone(), taken.clone()));
            taken
        });
        let Some(taken) = taken else { continue };
        let place =
            all.iter().find(|code| code.id == side.0).and_then(|code| code.branches.get(side.1 as usize));
        let is_taken = match place.and_then(|place| place.at) {
            // CPython reports the side that it took.
            Some(at) => taken
                .iter()
                .any(|(index, holds)| *holds == side.2 && watched.get(*index as usize) == Some(&at)),
            // CPython does not report patterns of a match. The call is real, and its side comes from the
            // engine.
            None => true,
        };
        if is_taken {
            reached.insert(*side);
        } else {
            replays.1 += 1;
        }
    }
    let proof = search.proof(&subject.open_ends, replays);
    let reach = |side: BranchSide| match search.sides.get(&side) {
        Some(Some(inputs)) if reached.contains(&side) => Reachability::Yes(inputs.clone()),
        Some(_) => Reachability::Unknown,
        None if proof.exhaustive => Reachability::No,
        None => Reachability::Unknown,
    };
    let branches = list(&all, reach);
    let is_partial = branches.iter().any(|branch| {
        branch.when_true == Reachability::Unknown || branch.when_false == Reachability::Unknown
    });
    let failure = (!proof.exhaustive && is_partial).then(|| shortfall(&search, &proof));
    let dead_code_lines = if proof.exhaustive { dead_lines(&all, &search.executed) } else { Vec::new() };
    BranchReport { branches, dead_code_lines, cyclomatic_complexity: complexity, failure, proof }
}

fn list(codes: &[Rc<Code>], reach: impl Fn(BranchSide) -> Reachability) -> Vec<Branch> {
    let mut branches = Vec::new();
    for code in codes {
        for (index, place) in code.branches.iter().enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            branches.push(Branch {
                line: place.line,
                condition: place.condition.clone(),
                when_true: reach((code.id, index, true)),
                when_false: reach((code.id, index, false)),
            });
        }
    }
    branches.sort_by_key(|branch| branch.line);
    branches
}

/// Lines without any executed instruction.
fn dead_lines(codes: &[Rc<Code>], executed: &HashSet<(u32, u32)>) -> Vec<u32> {
    let (mut alive, mut all) = (HashSet::new(), HashSet::new());
    for code in codes {
        for (pc, line) in code.lines.iter().enumerate() {
            // The implicit return at the end has the line of the last statement.
            if pc + 2 >= code.lines.len() {
                continue;
            }
            all.insert(*line);
            if executed.contains(&(code.id, u32::try_from(pc).unwrap_or(u32::MAX))) {
                alive.insert(*line);
            }
        }
    }
    let mut dead: Vec<u32> = all.difference(&alive).copied().collect();
    dead.sort_unstable();
    dead
}

/// McCabe's cyclomatic complexity: one more than the number of decisions.
fn complexity(body: &[Stmt]) -> u32 {
    struct DecisionCounter(u32);
    impl<'a> Visitor<'a> for DecisionCounter {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            match stmt {
                Stmt::If(found) => {
                    let tests = found.elif_else_clauses.iter().filter(|clause| clause.test.is_some()).count();
                    self.0 += 1 + u32::try_from(tests).unwrap_or(0);
                }
                Stmt::For(_) | Stmt::While(_) => self.0 += 1,
                Stmt::Try(found) => {
                    let ExceptHandler::ExceptHandler(_) = match found.handlers.first() {
                        Some(first) => first,
                        None => return walk_stmt(self, stmt),
                    };
                    self.0 += u32::try_from(found.handlers.len()).unwrap_or(0);
                }
                Stmt::Match(found) => {
                    let is_wild = |pattern: &Pattern| matches!(pattern, Pattern::MatchAs(found) if found.pattern.is_none());
                    let cases = found.cases.iter().filter(|case| !is_wild(&case.pattern)).count();
                    self.0 += u32::try_from(cases).unwrap_or(0);
                }
                _ => {}
            }
            walk_stmt(self, stmt);
        }

        fn visit_expr(&mut self, expr: &'a Expr) {
            match expr {
                Expr::If(_) => self.0 += 1,
                Expr::BoolOp(found) => self.0 += u32::try_from(found.values.len()).unwrap_or(1) - 1,
                Expr::ListComp(found) => self.comprehension(&found.generators),
                Expr::SetComp(found) => self.comprehension(&found.generators),
                Expr::DictComp(found) => self.comprehension(&found.generators),
                Expr::Generator(found) => self.comprehension(&found.generators),
                _ => {}
            }
            walk_expr(self, expr);
        }
    }
    impl DecisionCounter {
        fn comprehension(&mut self, generators: &[ruff_python_ast::Comprehension]) {
            let tests: usize = generators.iter().map(|generator| 1 + generator.ifs.len()).sum();
            self.0 += u32::try_from(tests).unwrap_or(0);
        }
    }
    let mut counter = DecisionCounter(1);
    body.iter().for_each(|stmt| counter.visit_stmt(stmt));
    counter.0
}

fn failed(failure: Failure) -> BranchReport {
    BranchReport {
        branches: Vec::new(),
        dead_code_lines: Vec::new(),
        cyclomatic_complexity: 1,
        failure: Some(failure),
        proof: Proof::default(),
    }
}

pub(super) fn crashed() -> BranchReport {
    failed(Failure::Bug("the analysis crashed".to_owned()))
}
