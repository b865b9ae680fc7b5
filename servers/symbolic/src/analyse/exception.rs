//! `find_exception`: from where an exception leaves a function.

use std::collections::HashSet;
use std::rc::Rc;

use super::check::{Known, is_allowed, shortfall, try_known};
use super::conditions::{arguments, holds, raised, replay, split};
use super::search::{Finding, Outcome, Plan, Search, Stage, Step};
use super::subject::{Subject, load};
use super::{Budget, Progress};
use crate::explore::{Machine, R, Trap};
use crate::report::{Counterexample, ExceptionReport, ExceptionVerdict, Failure, Inputs, Proof};
use crate::values::{Type, Value, exception_named};
use crate::{Ended, Program, PyValue, Replayer};

/// Replays of what known inputs find: one for each place.
const KNOWN_REPLAYS: u64 = 20;

/// Rounds of deepening after something was found.
const ROUNDS_AFTER: u32 = 2;

/// Steps of the interpreter and of the solver after something was found: other places it is raised from are looked for, but
/// the answer is known.
const STEPS_AFTER: (u64, u64) = (200_000, 400_000);

struct Hunting<'a> {
    subject: &'a Subject,
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

impl Plan for Hunting<'_> {
    fn go_on(
        &mut self,
        machine: &mut Machine,
        _stage: &Stage,
        outcome: &Outcome,
        given: Option<&[PyValue]>,
    ) -> R<Step> {
        match outcome {
            Outcome::Begin => {
                let subject = self.subject;
                let values = arguments(machine, subject, given)?;
                for condition in &subject.pre {
                    if !holds(machine, subject, condition, &values, &Value::None, &Value::None)? {
                        return Err(Trap::Discard);
                    }
                }
                let (args, keywords) = split(subject, &values);
                let stage = Stage { number: 1, kept: Rc::default(), first: None };
                Ok(Step::Call { function: subject.function.clone(), args, keywords, stage })
            }
            Outcome::Returned(_) => Ok(Step::Fine),
            Outcome::Raised(exception, line) => {
                let class = machine.type_of(exception);
                if is_allowed(machine, class, std::slice::from_ref(&self.wanted)) {
                    let class = Some(machine.name_of_type(class));
                    return Ok(Step::Found(Finding { line: *line, class }));
                }
                Ok(Step::Fine)
            }
        }
    }

    fn found(&mut self, finding: &Finding, inputs: &Inputs, condition: &str) -> bool {
        self.paths += 1;
        let site = (finding.line, finding.class.clone().unwrap_or_default());
        if self.seen.contains(&site) {
            return false;
        }
        self.replayed += 1;
        match replay(self.replayer, self.code, self.subject, inputs, self.deadline)
            .map(|outcome| outcome.ended)
        {
            Ok(Ended::Raised { class, mro, message, line, traceback }) if mro.contains(&self.wanted) => {
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

pub(super) fn find(
    program: &Program,
    function: &str,
    exception: &str,
    budget: &Budget,
    replayer: &dyn Replayer,
    progress: &dyn Progress,
) -> ExceptionReport {
    let mut machine = match load(program) {
        Ok(machine) => machine,
        Err(failure) => return failed(failure),
    };
    let subject = match Subject::new(program, &mut machine, function) {
        Ok(subject) => subject,
        Err(failure) => return failed(failure),
    };
    let wanted = exception.rsplit('.').next().unwrap_or(exception).to_owned();
    let is_user = matches!(machine.state.globals.get(wanted.as_str()), Some(Value::Type(class @ Type::User(_))) if machine.is_exception_type(*class));
    if exception_named(&wanted).is_none() && !is_user {
        return failed(Failure::NoSuchException);
    }
    let wanted =
        if wanted == "IOError" || wanted == "EnvironmentError" { "OSError".to_owned() } else { wanted };
    let mut search = Search::new(machine, subject.parameters.clone(), budget, replayer, progress);
    let mut plan = Hunting {
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
    let mut known = Known::new(program, &search);
    try_known(known.first(), &mut search, &mut plan, KNOWN_REPLAYS);
    plan.paths = plan.examples.len() as u64;
    limit_after(&mut search, &plan);
    if !search.explore_first(&mut plan) {
        let paths = plan.paths;
        let before = plan.examples.len();
        try_known(known, &mut search, &mut plan, KNOWN_REPLAYS);
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

/// Once something was found the rest is worth less.
fn limit_after(search: &mut Search<'_>, plan: &Hunting<'_>) {
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
