//! `find_exception`: finds the places from which an exception leaves a function.

use std::collections::HashSet;

use super::Analysis;
use super::check::{SeedInputs, is_allowed, shortfall, try_seed_inputs};
use super::conditions::{call_with_inputs, raised, replay};
use super::function::AnalysedFunction;
use super::report::{Counterexample, ExceptionReport, ExceptionVerdict, Failure, Inputs, Proof};
use super::search::{CallOutcome, Harness, HarnessState, HarnessStep, PathFinding, Search};
use crate::explore::{Machine, OrTrap};
use crate::values::{Type, Value, exception_named};
use crate::{Completion, PyValue, Replayer};

/// Maximum number of replays of calls with known inputs: one for each place.
const KNOWN_REPLAYS: u64 = 20;

/// Rounds of deepening after the first finding.
const ROUNDS_AFTER: u32 = 2;

/// Steps of the interpreter and of the solver after the first finding. The verdict is known then, and the
/// search continues for other places only.
const STEPS_AFTER: (u64, u64) = (200_000, 400_000);

struct ExceptionHarness<'a> {
    subject: &'a AnalysedFunction,
    wanted: String,
    code: &'a str,
    replayer: &'a dyn Replayer,
    deadline: std::time::Instant,
    seen: HashSet<(u32, String)>,
    paths: u64,
    replayed: u64,
    mismatches: u64,
    examples: Vec<Counterexample>,
}

impl Harness for ExceptionHarness<'_> {
    fn next_step(
        &mut self,
        machine: &mut Machine,
        _stage: &HarnessState,
        outcome: &CallOutcome,
        given: Option<&[PyValue]>,
    ) -> OrTrap<HarnessStep> {
        match outcome {
            CallOutcome::Begin => call_with_inputs(machine, self.subject, given),
            CallOutcome::Returned(_) => Ok(HarnessStep::Fine),
            CallOutcome::Raised(exception, line) => {
                let class = machine.type_of(exception);
                if is_allowed(machine, class, std::slice::from_ref(&self.wanted)) {
                    let class = Some(machine.name_of_type(class));
                    return Ok(HarnessStep::Found(PathFinding { line: *line, class }));
                }
                Ok(HarnessStep::Fine)
            }
        }
    }

    fn found(&mut self, finding: &PathFinding, inputs: &Inputs, condition: &str) -> bool {
        self.paths += 1;
        let site = (finding.line, finding.class.clone().unwrap_or_default());
        if self.seen.contains(&site) {
            return false;
        }
        self.replayed += 1;
        match replay(self.replayer, self.code, self.subject, inputs, self.deadline)
            .map(|outcome| outcome.ended)
        {
            Ok(Completion::Raised { class, mro, message, line, traceback }) if mro.contains(&self.wanted) => {
                self.seen.insert(site);
                let text = raised(&class, &message);
                self.examples.push(Counterexample {
                    inputs: inputs.clone(),
                    violation: text.clone(),
                    actual_result: format!("raises {text}"),
                    path_condition: condition.to_owned(),
                    line: line.unwrap_or(finding.line),
                    stack_trace: traceback,
                });
            }
            _ => self.mismatches += 1,
        }
        false
    }

    fn mismatches(&mut self) -> Option<&mut u64> {
        Some(&mut self.mismatches)
    }
}

pub(super) fn find(analysis: &Analysis<'_>, function: &str, exception: &str) -> ExceptionReport {
    let Analysis { program, budget, replayer, .. } = *analysis;
    let (machine, subject) = match AnalysedFunction::load(program, function) {
        Ok(loaded) => loaded,
        Err(failure) => return failed(failure),
    };
    let wanted = exception.rsplit('.').next().unwrap_or(exception).to_owned();
    let is_user = matches!(machine.state.globals.get(wanted.as_str()), Some(Value::Type(class @ Type::User(_))) if machine.is_exception_type(*class));
    if exception_named(&wanted).is_none() && !is_user {
        return failed(Failure::NoSuchException);
    }
    let wanted =
        if wanted == "IOError" || wanted == "EnvironmentError" { "OSError".to_owned() } else { wanted };
    let mut search = Search::new(machine, subject.parameters.clone(), analysis);
    let mut plan = ExceptionHarness {
        subject: &subject,
        wanted,
        code: program.code(),
        replayer,
        deadline: budget.deadline,
        seen: HashSet::new(),
        paths: 0,
        replayed: 0,
        mismatches: 0,
        examples: Vec::new(),
    };
    let mut known = SeedInputs::new(program, &search);
    try_seed_inputs(known.first(), &mut search, &mut plan, KNOWN_REPLAYS);
    plan.paths = plan.examples.len() as u64;
    limit_after(&mut search, &plan);
    if !search.explore_first(&mut plan) {
        let paths = plan.paths;
        let before = plan.examples.len();
        try_seed_inputs(known, &mut search, &mut plan, KNOWN_REPLAYS);
        plan.paths = paths + (plan.examples.len() - before) as u64;
        limit_after(&mut search, &plan);
        let last_round = if plan.examples.is_empty() { u32::MAX } else { ROUNDS_AFTER };
        search.explore_rest(&mut plan, last_round);
    }
    let proof = search.proof(&subject.open_ends, (plan.replayed, plan.mismatches));
    let verdict = if !plan.examples.is_empty() {
        plan.examples.sort_by_key(|example| example.line);
        ExceptionVerdict::Found(plan.examples)
    } else if proof.exhaustive {
        ExceptionVerdict::Unreachable
    } else {
        ExceptionVerdict::Failed(shortfall(&search, &proof))
    };
    ExceptionReport {
        verdict,
        paths_to_exception: plan.paths,
        total_paths_explored: search.tally.begun.max(1),
        proof,
    }
}

/// Limits the search after the first finding.
fn limit_after(search: &mut Search<'_>, plan: &ExceptionHarness<'_>) {
    if !plan.examples.is_empty() {
        search.allow(STEPS_AFTER.0, STEPS_AFTER.1);
    }
}

fn failed(failure: Failure) -> ExceptionReport {
    ExceptionReport {
        verdict: ExceptionVerdict::Failed(failure),
        paths_to_exception: 0,
        total_paths_explored: 0,
        proof: Proof::default(),
    }
}

pub(super) fn crashed() -> ExceptionReport {
    failed(Failure::Bug("the analysis crashed".to_owned()))
}
