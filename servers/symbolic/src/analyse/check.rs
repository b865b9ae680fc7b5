//! `check`: checks whether a contract holds.

use std::collections::HashSet;
use std::rc::Rc;

use super::conditions::{
    ConditionScope, ReplayVerdict, arguments, assume, confirm, holds, old_values, split,
};
use super::function::AnalysedFunction;
use super::report::{CheckReport, CheckVerdict, Counterexample, Failure, Inputs, Proof};
use super::search::{CallOutcome, Harness, HarnessState, HarnessStep, PathFinding, Search};
use super::seed_inputs::{Constants, DeterministicRng, ValuePool, row};
use super::{Analysis, Budget, StopReason};
use crate::explore::{Machine, OrTrap, Trap};
use crate::memory;
use crate::values::{Type, Value};
use crate::{Program, PyValue, Replayer};

/// Calls with known inputs, and the instructions of each. The first ones run before the exploration. The
/// others run only if the exploration leaves something open.
const KNOWN_FIRST: usize = 32;
const KNOWN_CALLS: usize = 250;
const KNOWN_STEPS: u64 = 20_000;

/// After `MOST_LONG` calls that did not end, each call gets only `SHORT_STEPS`.
const MOST_LONG: u32 = 4;
const SHORT_STEPS: u64 = 1_000;

/// Maximum number of replays of calls with known inputs.
pub(super) const KNOWN_REPLAYS: u64 = 5;

/// Checks the contract of one function.
pub(super) struct CheckHarness<'a> {
    pub(super) subject: &'a AnalysedFunction,
    code: &'a str,
    replayer: &'a dyn Replayer,
    deadline: std::time::Instant,
    /// Paths that satisfied the precondition.
    pub(super) admitted: u64,
    pub(super) replayed: u64,
    pub(super) mismatches: u64,
    pub(super) examples: Vec<Counterexample>,
}

impl<'a> CheckHarness<'a> {
    pub(super) fn new(
        subject: &'a AnalysedFunction,
        code: &'a str,
        replayer: &'a dyn Replayer,
        budget: &Budget,
    ) -> Self {
        Self {
            subject,
            code,
            replayer,
            deadline: budget.deadline,
            admitted: 0,
            replayed: 0,
            mismatches: 0,
            examples: Vec::new(),
        }
    }

    fn begin(&mut self, machine: &mut Machine, given: Option<&[PyValue]>) -> OrTrap<HarnessStep> {
        let subject = self.subject;
        let values = arguments(machine, subject, given)?;
        assume(machine, subject, &values)?;
        let old = if subject.post.is_empty() { Value::None } else { old_values(machine, subject, &values)? };
        self.admitted += 1;
        let (args, keywords) = split(subject, &values);
        let saved = values.into_iter().chain([old]).collect();
        let stage = HarnessState { number: 1, saved: Rc::new(saved), first: None };
        Ok(HarnessStep::Call { function: subject.function.clone(), args, keywords, stage })
    }

    fn check_outcome(
        &mut self,
        machine: &mut Machine,
        stage: &HarnessState,
        result: &Value,
    ) -> OrTrap<HarnessStep> {
        let Some((old, values)) = stage.saved.split_last() else { return Err(Trap::Bug("no arguments")) };
        let scope = ConditionScope { arguments: values, result, old };
        for condition in &self.subject.post {
            if !holds(machine, self.subject, condition, &scope)? {
                return Ok(HarnessStep::Found(PathFinding { line: condition.clause.line, class: None }));
            }
        }
        Ok(HarnessStep::Fine)
    }
}

impl Harness for CheckHarness<'_> {
    fn next_step(
        &mut self,
        machine: &mut Machine,
        stage: &HarnessState,
        outcome: &CallOutcome,
        given: Option<&[PyValue]>,
    ) -> OrTrap<HarnessStep> {
        match outcome {
            CallOutcome::Begin => self.begin(machine, given),
            CallOutcome::Returned(result) => self.check_outcome(machine, stage, result),
            CallOutcome::Raised(exception, line) => {
                let class = machine.type_of(exception);
                if is_allowed(machine, class, &self.subject.contract.raises) {
                    return Ok(HarnessStep::Fine);
                }
                Ok(HarnessStep::Found(PathFinding { line: *line, class: Some(machine.name_of_type(class)) }))
            }
        }
    }

    fn found(&mut self, _finding: &PathFinding, inputs: &Inputs, condition: &str) -> bool {
        self.replayed += 1;
        match confirm(self.replayer, self.code, self.subject, inputs, self.deadline) {
            ReplayVerdict::Broken { violation, actual, line, trace } => {
                self.examples.push(Counterexample {
                    inputs: inputs.clone(),
                    violation,
                    actual_result: actual,
                    path_condition: condition.to_owned(),
                    line,
                    stack_trace: trace,
                });
                true
            }
            ReplayVerdict::Satisfied | ReplayVerdict::NoAnswer => {
                self.mismatches += 1;
                false
            }
        }
    }

    fn mismatches(&mut self) -> Option<&mut u64> {
        Some(&mut self.mismatches)
    }
}

/// Whether the class or one of its bases is among the names.
pub(super) fn is_allowed(machine: &Machine, class: Type, names: &[String]) -> bool {
    let above: Vec<Type> = match class {
        Type::User(id) => machine.class_of(id).map(|class| class.order.clone()).unwrap_or_default(),
        class => vec![class],
    };
    above.iter().any(|above| match above {
        Type::Builtin(crate::values::BuiltinType::Exception(index)) => {
            let all = crate::values::ancestors(*index);
            all.iter().any(|index| {
                names.iter().any(|name| name == crate::values::BuiltinType::Exception(*index).name())
            })
        }
        above => names.contains(&machine.name_of_type(*above)),
    })
}

/// Concrete inputs tried before the symbolic search, the most promising first.
pub(super) struct SeedInputs {
    pools: Vec<Vec<PyValue>>,
    random: DeterministicRng,
    next: usize,
    first: usize,
}

impl SeedInputs {
    pub(super) fn new(program: &Program, search: &Search<'_>) -> Self {
        let constants = Constants::of(program);
        let pool = ValuePool { constants: &constants, machine: &search.machine };
        let mut random = DeterministicRng::new(7);
        let kinds = search.parameters.iter().map(|parameter| &parameter.kind);
        let pools = kinds.map(|kind| pool.values(kind, &mut random, 0)).collect();
        // Queries about floats are slow, so all inputs are tried before the first query.
        let first = if search.has_floats() { usize::MAX } else { KNOWN_FIRST };
        Self { pools, random, next: 0, first }
    }

    /// The inputs to try before the exploration.
    pub(super) fn first(&mut self) -> impl Iterator<Item = Vec<PyValue>> {
        let first = self.first;
        self.by_ref().take(first)
    }
}

impl Iterator for SeedInputs {
    type Item = Vec<PyValue>;

    fn next(&mut self) -> Option<Vec<PyValue>> {
        let index = self.next;
        self.next += 1;
        match self.pools.as_slice() {
            [] => (index == 0).then(Vec::new),
            [only] => only.get(index).map(|value| vec![value.clone()]),
            _ if index < KNOWN_CALLS => row(&self.pools, index, &mut self.random),
            _ => None,
        }
    }
}

pub(super) fn inputs_of(search: &Search<'_>, row: &[PyValue]) -> Inputs {
    let names = search.parameters.iter().map(|parameter| parameter.name.to_string());
    let positional = search.parameters.iter().take_while(|parameter| parameter.is_positional).count();
    Inputs { args: names.zip(row.iter().cloned()).collect(), positional }
}

/// Tries known inputs. Returns whether the plan is satisfied.
pub(super) fn try_seed_inputs(
    known: impl Iterator<Item = Vec<PyValue>>,
    search: &mut Search<'_>,
    plan: &mut dyn Harness,
    replays: u64,
) -> bool {
    let (mut asked, mut long) = (0, 0);
    let mut seen: HashSet<(u32, Option<String>)> = HashSet::new();
    for row in known {
        // A loop with a billion rounds shows no more than one with a thousand.
        let steps = if long < MOST_LONG { KNOWN_STEPS } else { SHORT_STEPS };
        let found = search.run_known(plan, &row, steps);
        long += u32::from(found.is_none());
        let inputs = inputs_of(search, &row);
        let taken: Vec<_> = search.machine.sides.drain().collect();
        for side in taken {
            search.sides.entry(side).or_insert_with(|| Some(inputs.clone()));
        }
        let executed: Vec<_> = search.machine.executed.drain().collect();
        search.executed.extend(executed);
        if let Some(Some(finding)) = found
            && asked < replays
            && seen.insert((finding.line, finding.class.clone()))
        {
            asked += 1;
            if plan.found(&finding, &inputs, "True") {
                return true;
            }
        }
    }
    false
}

pub(super) fn check(analysis: &Analysis<'_>, function: &str) -> CheckReport {
    let Analysis { program, budget, replayer, .. } = *analysis;
    let (mut machine, subject) = match AnalysedFunction::load(program, function) {
        Ok(loaded) => loaded,
        Err(failure) => return failed(failure),
    };
    machine.targets = vec![subject.code.id];
    let mut search = Search::new(machine, subject.parameters.clone(), analysis);
    let mut plan = CheckHarness::new(&subject, program.code(), replayer, &budget);
    let mut known = SeedInputs::new(program, &search);
    let mut is_known = try_seed_inputs(known.first(), &mut search, &mut plan, KNOWN_REPLAYS);
    let mut before = std::mem::take(&mut plan.mismatches);
    plan.admitted = 0;
    if !is_known && !search.explore_first(&mut plan) {
        let explored = (plan.admitted, std::mem::take(&mut plan.mismatches));
        is_known = try_seed_inputs(known, &mut search, &mut plan, KNOWN_REPLAYS);
        before += plan.mismatches;
        (plan.admitted, plan.mismatches) = explored;
        if !is_known {
            search.explore_rest(&mut plan, u32::MAX);
        }
    }
    let vacuous = !is_known && plan.admitted == 0 && search.is_exhaustive(&[]);
    plan.mismatches += before;
    let proof = search.proof(&subject.open_ends, (plan.replayed, plan.mismatches));
    let verdict = verdict(&search, &proof, &plan, vacuous);
    let paths_explored = search.tally.begun.max(1);
    let total = super::branches::sides_of(&subject.code).len();
    let covered = super::branches::sides_of(&subject.code)
        .iter()
        .filter(|side| search.sides.contains_key(side))
        .count();
    #[allow(clippy::cast_precision_loss)] // counts of branches
    let coverage_estimate = if proof.exhaustive || total == 0 { 1.0 } else { covered as f64 / total as f64 };
    CheckReport {
        verdict,
        contracts: subject.contract.sources.clone(),
        vacuous,
        paths_explored,
        paths_verified: search.tally.fine,
        coverage_estimate,
        proof,
    }
}

fn verdict(search: &Search<'_>, proof: &Proof, plan: &CheckHarness<'_>, vacuous: bool) -> CheckVerdict {
    if !plan.examples.is_empty() {
        return CheckVerdict::Counterexamples(plan.examples.clone());
    }
    if proof.exhaustive && !vacuous {
        return CheckVerdict::Verified;
    }
    if vacuous {
        return CheckVerdict::Inconclusive(Failure::Vacuous);
    }
    CheckVerdict::Inconclusive(shortfall(search, proof))
}

/// The reason why an analysis is not exhaustive.
pub(super) fn shortfall(search: &Search<'_>, proof: &Proof) -> Failure {
    if let Some(bug) = &search.tally.bug {
        return Failure::Bug(bug.clone());
    }
    if search.stopped == Some(StopReason::Memory) {
        return Failure::MemorySpent { limit_mb: memory::limit_mb() };
    }
    if !search.has_solver() {
        return Failure::NoSolver;
    }
    if let Some(first) = proof.unsupported.first() {
        return Failure::Unsupported(first.clone());
    }
    if search.stopped.is_some() { Failure::BudgetSpent } else { Failure::BoundHit }
}

fn failed(failure: Failure) -> CheckReport {
    CheckReport {
        verdict: CheckVerdict::Failed(failure),
        contracts: Vec::new(),
        vacuous: false,
        paths_explored: 0,
        paths_verified: 0,
        coverage_estimate: 0.0,
        proof: Proof::default(),
    }
}

pub(super) fn crashed() -> CheckReport {
    failed(Failure::Bug("the analysis crashed".to_owned()))
}
