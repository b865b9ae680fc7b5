//! The search: paths are run until they fork, end, or have had their share of this round.

mod attempts;
mod proof;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::Instant;

use super::subject::Parameter;
use super::{Budget, Progress, Stop};
use crate::explore::{InputType, Machine, R, Ran, Side, State, Trap};
use crate::ir::Name;
use crate::memory;
use crate::report::{Inputs, Unsupported};
use crate::solve::{Answer, Solver};
use crate::terms::{Model, Term, Terms};
use crate::values::Value;
use crate::{PyValue, Replayer};

/// Instructions after which the clock is looked at.
const CHUNK: u64 = 20_000;

/// Decisions and instructions of a path in the first round; each round allows more.
const FIRST_FORKS: u32 = 10;
const FIRST_STEPS: u64 = 20_000;

/// Rounds after which a search ends.
const ROUNDS: u32 = 6;

/// Paths waiting at once.
const WIDEST: usize = 200_000;

/// How a call ended.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    /// Nothing was called yet.
    Begin,
    Returned(Value),
    Raised(Value, u32),
}

/// Where a path is in its plan. Stages number the calls; values are kept between them.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub(super) number: u8,
    pub(super) kept: Rc<Vec<Value>>,
    pub(super) first: Option<Rc<Outcome>>,
}

/// What a plan wants next.
pub(super) enum Step {
    Call {
        function: Value,
        args: Vec<Value>,
        keywords: Vec<(Name, Value)>,
        stage: Stage,
    },
    /// The path ended without anything to report.
    Fine,
    /// Something worth a replay.
    Found(Finding),
}

/// What a path found.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) line: u32,
    /// The class, when it is an exception.
    pub(super) class: Option<String>,
}

/// What is done on a path: begins with inputs, and goes on after each call.
pub(super) trait Plan {
    /// Runs as one instruction: it may be run again after a fork.
    fn go_on(
        &mut self,
        machine: &mut Machine,
        stage: &Stage,
        outcome: &Outcome,
        given: Option<&[PyValue]>,
    ) -> R<Step>;

    /// Told of what a path found, with the inputs that lead there. Whether the search is over.
    fn found(&mut self, finding: &Finding, inputs: &Inputs, condition: &str) -> bool;

    /// Findings that CPython did not confirm so far; `None` when the plan wants every path as it is, and no induction.
    fn mismatches(&mut self) -> Option<&mut u64>;
}

#[derive(Clone)]
struct Path {
    state: State,
    model: Option<Rc<Model>>,
    stage: Stage,
    ended: Option<Outcome>,
}

/// What was seen on the way.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) begun: u64,
    pub(super) ended: u64,
    pub(super) fine: u64,
    pub(super) discarded: u64,
    pub(super) unsupported: Vec<Unsupported>,
    pub(super) bounds: Vec<String>,
    /// Findings for which no inputs could be had.
    pub(super) undecided: u64,
    pub(super) bug: Option<String>,
    /// A claim about a loop did not hold: what was explored with it counts for nothing.
    must_restart: bool,
    /// An attempt by induction met something it cannot get over.
    is_hopeless: bool,
}

pub(super) struct Search<'a> {
    pub(super) machine: Machine,
    base: State,
    pub(super) parameters: Vec<Parameter>,
    solver: Solver<'a>,
    budget: &'a Budget,
    progress: &'a dyn Progress,
    stack: Vec<Path>,
    parked: Vec<Path>,
    round: u32,
    pub(super) tally: Tally,
    /// Branch sides taken, each with inputs that take it.
    pub(super) sides: HashMap<Side, Option<Inputs>>,
    pub(super) executed: HashSet<(u32, u32)>,
    pub(super) stopped: Option<Stop>,
    /// Steps of the interpreter and of the solver after which an attempt by induction ends.
    allowed: (u64, u64),
    /// Whether an argument was changed on some path.
    is_touched: bool,
    /// Whether arguments that share objects were explored as well, and nothing was left open.
    knows_shared: bool,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        machine: Machine,
        parameters: Vec<Parameter>,
        budget: &'a Budget,
        outside: &'a dyn Replayer,
        progress: &'a dyn Progress,
    ) -> Self {
        let base = machine.state.clone();
        let solver = Solver::new(outside, budget.question_steps, budget.deadline);
        let mut search = Self {
            machine,
            base,
            parameters,
            solver,
            budget,
            progress,
            stack: Vec::new(),
            parked: Vec::new(),
            round: 0,
            tally: Tally::default(),
            sides: HashMap::new(),
            executed: HashSet::new(),
            stopped: None,
            allowed: (u64::MAX, u64::MAX),
            is_touched: false,
            knows_shared: false,
        };
        search.machine.step_limit = budget.interpreter_steps;
        search.machine.steps = 0;
        search
    }

    pub(super) fn has_solver(&self) -> bool {
        !self.solver.is_missing
    }

    /// Runs one call on known inputs. `None` when it did not end within `steps`, or is beyond the engine.
    pub(super) fn run_known(
        &mut self,
        plan: &mut dyn Plan,
        inputs: &[PyValue],
        steps: u64,
    ) -> Option<Option<Finding>> {
        let machine = &mut self.machine;
        machine.state = self.base.clone();
        machine.is_symbolic = false;
        machine.nesting = 0;
        machine.sides.clear();
        machine.induction.call += 1;
        machine.pause_at = steps;
        machine.step_limit =
            machine.steps.saturating_add(steps.saturating_mul(2)).min(self.budget.interpreter_steps);
        let mut stage = first_stage();
        let mut outcome = Outcome::Begin;
        loop {
            machine.nesting = 1;
            let step = plan.go_on(machine, &stage, &outcome, Some(inputs));
            machine.nesting = 0;
            match step {
                Ok(Step::Fine) => return Some(None),
                Ok(Step::Found(finding)) => return Some(Some(finding)),
                Ok(Step::Call { function, args, keywords, stage: next }) => {
                    stage = next;
                    outcome = match call(machine, &function, args, keywords).and_then(|()| machine.run(0)) {
                        Ok(Ran::Returned(value)) => Outcome::Returned(value),
                        Err(Trap::Raise(exception)) => Outcome::Raised(exception, machine.raised_at),
                        _ => return None,
                    };
                }
                Err(_) => return None,
            }
        }
    }

    fn stop_reason(&self) -> Option<Stop> {
        let spent = self.solver.cost.steps;
        if memory::is_exhausted() {
            Some(Stop::Memory)
        } else if Instant::now() >= self.budget.deadline {
            Some(Stop::Deadline)
        } else if self.machine.steps >= self.budget.interpreter_steps.min(self.allowed.0)
            || spent >= self.budget.solver_steps.min(self.allowed.1)
        {
            Some(Stop::Steps)
        } else {
            None
        }
    }

    /// Lets the exploration take so many more steps of the interpreter and of the solver.
    pub(super) fn allow(&mut self, interpreter: u64, solver: u64) {
        let (steps, spent) = (self.machine.steps, self.solver.cost.steps);
        self.allowed = (steps.saturating_add(interpreter), spent.saturating_add(solver));
    }

    /// Explores what a first round reaches. Whether the search is over: something was found, or nothing is left open.
    pub(super) fn explore_first(&mut self, plan: &mut dyn Plan) -> bool {
        self.begin_exploring();
        self.begin();
        if self.rounds(plan, 0) {
            return true;
        }
        if self.is_touched && InputType::can_share(&self.kinds()) && self.explore_shared(plan) {
            return true;
        }
        !self.is_open()
    }

    /// Explores what the first round left open, by induction and in further rounds.
    pub(super) fn explore_rest(&mut self, plan: &mut dyn Plan, last_round: u32) {
        self.begin_exploring();
        if self.is_open() && self.machine.induction.is_wanted && self.try_induction(plan) {
            return;
        }
        self.rounds(plan, last_round.min(ROUNDS));
        for path in std::mem::take(&mut self.parked) {
            self.leave_open(path);
        }
    }

    fn begin_exploring(&mut self) {
        self.machine.is_symbolic = true;
        self.machine.step_limit = self.budget.interpreter_steps;
    }

    fn is_open(&self) -> bool {
        !self.parked.is_empty() || !self.is_exhaustive(&[])
    }

    fn kinds(&self) -> Vec<&InputType> {
        self.parameters.iter().map(|parameter| &parameter.kind).collect()
    }

    fn begin(&mut self) {
        let model = Some(Rc::new(Model::default()));
        self.stack.push(Path {
            state: self.base.clone(),
            model,
            stage: first_stage(),
            ended: Some(Outcome::Begin),
        });
        self.tally.begun += 1;
    }

    /// Explores until this round is over. Whether the search is: something was found, or nothing is left to spend.
    fn rounds(&mut self, plan: &mut dyn Plan, last_round: u32) -> bool {
        loop {
            while let Some(path) = self.stack.pop() {
                if let Some(stop) = self.stop_reason() {
                    self.stopped = Some(stop);
                    self.leave_open(path);
                    return true;
                }
                if self.advance(path, plan) {
                    return true;
                }
                if self.tally.must_restart || self.tally.is_hopeless {
                    return false;
                }
            }
            if self.parked.is_empty() || self.round >= last_round {
                return false;
            }
            self.round += 1;
            self.progress.round(self.round, self.tally.ended);
            self.stack = std::mem::take(&mut self.parked);
            self.stack.reverse();
        }
    }

    /// A path that will not be followed further.
    fn leave_open(&mut self, path: Path) {
        let line = path.state.frames.last().map_or(0, |frame| frame.line());
        self.bound(format!("paths beyond line {line}"));
        for other in std::mem::take(&mut self.stack).into_iter().chain(std::mem::take(&mut self.parked)) {
            let line = other.state.frames.last().map_or(0, |frame| frame.line());
            self.bound(format!("paths beyond line {line}"));
        }
    }

    fn bound(&mut self, what: String) {
        if !self.tally.bounds.contains(&what) && self.tally.bounds.len() < 20 {
            self.tally.bounds.push(what);
        }
    }

    /// Follows a path until it ends or is put aside. Whether the search is over.
    fn advance(&mut self, mut path: Path, plan: &mut dyn Plan) -> bool {
        self.machine.state = std::mem::take(&mut path.state);
        loop {
            self.machine.nesting = 0;
            self.machine.snapshot = None;
            self.machine.pause_at = self.machine.state.steps + CHUNK;
            let trap = if let Some(outcome) = path.ended.clone() {
                let before = self.machine.state.clone();
                self.machine.nesting = 1;
                let step = plan.go_on(&mut self.machine, &path.stage, &outcome, None);
                self.machine.nesting = 0;
                match step {
                    Ok(Step::Fine) => {
                        self.end(&path);
                        self.tally.fine += 1;
                        return false;
                    }
                    Ok(Step::Found(finding)) => {
                        self.end(&path);
                        return self.report(&path, &finding, plan);
                    }
                    Ok(Step::Call { function, args, keywords, stage }) => {
                        path.stage = stage;
                        path.ended = None;
                        match call(&mut self.machine, &function, args, keywords) {
                            Ok(()) => continue,
                            Err(Trap::Raise(exception)) => {
                                path.ended = Some(Outcome::Raised(exception, self.machine.raised_at));
                                continue;
                            }
                            Err(trap) => trap,
                        }
                    }
                    Err(trap) => {
                        if matches!(trap, Trap::Fork(_) | Trap::Choose(_)) {
                            self.machine.state = before;
                        }
                        trap
                    }
                }
            } else {
                match self.machine.run(0) {
                    Ok(Ran::Returned(value)) => {
                        path.ended = Some(Outcome::Returned(value));
                        continue;
                    }
                    Ok(Ran::Yielded(..)) => Trap::Bug("a call yields"),
                    Err(Trap::Raise(exception)) => {
                        path.ended = Some(Outcome::Raised(exception, self.machine.raised_at));
                        continue;
                    }
                    Err(trap) => {
                        if let Some(before) = self.machine.snapshot.take() {
                            self.machine.state = before;
                        }
                        trap
                    }
                }
            };
            self.note_sides(&path);
            if !self.take_trap(&mut path, trap) {
                return false;
            }
        }
    }

    /// Deals with what stopped an instruction. Whether the path goes on.
    fn take_trap(&mut self, path: &mut Path, trap: Trap) -> bool {
        match trap {
            Trap::Fork(condition) => self.fork(path, condition),
            Trap::Choose(term) => {
                if path.model.is_none() {
                    path.model = match self.ask(Terms::TRUE, None) {
                        Answer::Sat(model) => Some(Rc::new(model)),
                        Answer::Unsat => return false,
                        Answer::Unknown => None,
                    };
                }
                let Some(model) = &path.model else {
                    self.tally.undecided += 1;
                    return false;
                };
                let value = model.int(&self.machine.terms, term);
                let value = self.machine.terms.int(value);
                let condition = self.machine.terms.int_eq(term, value);
                self.fork(path, condition)
            }
            Trap::Discard => {
                self.tally.discarded += 1;
                false
            }
            Trap::Closed => {
                self.tally.ended += 1;
                self.tally.fine += 1;
                false
            }
            Trap::Refuted(claim) => {
                self.machine.induction.refuted.insert(claim);
                self.tally.must_restart = true;
                false
            }
            Trap::Unrolled(which) => {
                self.machine.induction.unrolled.insert(which);
                self.tally.must_restart = true;
                false
            }
            Trap::Unsupported(construct) => {
                self.tally.is_hopeless = self.machine.induction.is_on;
                let found = Unsupported { line: self.machine.line(), construct };
                if !self.tally.unsupported.contains(&found) && self.tally.unsupported.len() < 20 {
                    self.tally.unsupported.push(found);
                }
                false
            }
            Trap::Bound(what) => {
                self.tally.is_hopeless = self.machine.induction.is_on;
                let line = self.machine.line();
                self.bound(format!("{what} at line {line}"));
                false
            }
            Trap::Pause => {
                let allowed = FIRST_STEPS << self.round.min(20);
                if self.machine.state.steps >= allowed || self.stop_reason().is_some() {
                    self.park(path);
                    return false;
                }
                true
            }
            Trap::Raise(_) => {
                self.tally.bug = Some("an exception left the plan".to_owned());
                false
            }
            Trap::Bug(what) => {
                self.tally.bug = Some(what.to_owned());
                false
            }
        }
    }

    fn park(&mut self, path: &Path) {
        let state = self.machine.state.clone();
        self.parked.push(Path { state, ..path.clone() });
    }

    fn ask(&mut self, more: Term, near: Option<&Model>) -> Answer {
        let path = self.machine.state.path.clone();
        self.solver.check(&self.machine.terms, &path, more, near)
    }

    /// Splits a path; the side its model takes goes on. Whether it does.
    fn fork(&mut self, path: &mut Path, condition: Term) -> bool {
        let allowed = FIRST_FORKS << self.round.min(20);
        if self.machine.state.forks >= allowed {
            self.park(path);
            return false;
        }
        let negated = self.machine.terms.not(condition);
        let value = path.model.as_ref().and_then(|model| model.value(&self.machine.terms, condition));
        let (own, other) = match value {
            Some(crate::terms::Scalar::Bool(true)) => (condition, negated),
            Some(_) => (negated, condition),
            None => {
                path.model = None;
                match self.ask(condition, None) {
                    Answer::Sat(model) => {
                        path.model = Some(Rc::new(model));
                        (condition, negated)
                    }
                    Answer::Unsat => {
                        Rc::make_mut(&mut self.machine.state.facts).push(negated);
                        return true;
                    }
                    Answer::Unknown => (condition, negated),
                }
            }
        };
        let other_model = match self.ask(other, path.model.as_deref()) {
            Answer::Unsat => {
                Rc::make_mut(&mut self.machine.state.facts).push(own);
                return true;
            }
            Answer::Sat(model) => Some(Rc::new(model)),
            Answer::Unknown => None,
        };
        self.machine.state.forks += 1;
        let mut state = self.machine.state.clone();
        Rc::make_mut(&mut state.path).push(other);
        if self.stack.len() < WIDEST {
            self.tally.begun += 1;
            self.stack.push(Path {
                state,
                model: other_model,
                stage: path.stage.clone(),
                ended: path.ended.clone(),
            });
        } else {
            self.bound("too many paths at once".to_owned());
        }
        Rc::make_mut(&mut self.machine.state.path).push(own);
        true
    }

    fn end(&mut self, path: &Path) {
        self.tally.ended += 1;
        self.is_touched |= self.machine.state.is_touched;
        self.note_sides(path);
    }

    /// Remembers the branch sides taken since the last time, with inputs that take them.
    fn note_sides(&mut self, path: &Path) {
        self.executed.extend(self.machine.executed.drain());
        let taken: Vec<Side> = self.machine.sides.drain().collect();
        for side in taken {
            if matches!(self.sides.get(&side), Some(Some(_))) {
                continue;
            }
            let inputs = path.model.clone().and_then(|model| self.inputs(&model));
            self.sides.insert(side, inputs);
        }
    }

    /// The inputs a model stands for.
    fn inputs(&self, model: &Model) -> Option<Inputs> {
        let names: Vec<String> = self.parameters.iter().map(|parameter| parameter.name.to_string()).collect();
        let kinds: Vec<&InputType> = self.parameters.iter().map(|parameter| &parameter.kind).collect();
        let values = self.machine.shared_inputs(model, &names, &kinds)?;
        let args = names.into_iter().zip(values).collect();
        let positional = self.parameters.iter().take_while(|parameter| parameter.is_positional).count();
        Some(Inputs { args, positional })
    }

    fn report(&mut self, path: &Path, finding: &Finding, plan: &mut dyn Plan) -> bool {
        let model = match &path.model {
            Some(model) => Some(model.clone()),
            None => match self.ask(Terms::TRUE, None) {
                Answer::Sat(model) => Some(Rc::new(model)),
                Answer::Unsat => return false,
                Answer::Unknown => None,
            },
        };
        let Some(inputs) = model.and_then(|model| self.inputs(&model)) else {
            self.tally.undecided += 1;
            return false;
        };
        let condition = self.condition();
        let before = plan.mismatches().map(|count| *count);
        let is_over = plan.found(finding, &inputs, &condition);
        self.tally.is_hopeless =
            self.machine.induction.is_on && plan.mismatches().map(|count| *count) != before;
        is_over
    }
}

fn first_stage() -> Stage {
    Stage { number: 0, kept: Rc::default(), first: None }
}

/// Begins a call at the top level.
fn call(machine: &mut Machine, function: &Value, args: Vec<Value>, keywords: Vec<(Name, Value)>) -> R<()> {
    let frame = machine.frame_for(function, args, keywords)?;
    machine.push_frame(frame)
}
