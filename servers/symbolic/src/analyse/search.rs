//! The search. It runs each path until it forks, ends, or has used its share of the round.

mod attempts;
mod proof;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::Instant;

use super::function::Parameter;
use super::report::{Inputs, UnsupportedConstruct};
use super::{Analysis, Budget, Progress, StopReason};
use crate::PyValue;
use crate::explore::{BranchSide, InputType, Machine, OrTrap, RunEnd, State, Trap};
use crate::frontend::ir::Name;
use crate::memory;
use crate::solve::{SatResult, Solver};
use crate::terms::{Model, Term, Terms};
use crate::values::Value;

/// Number of instructions between two checks of the clock.
const CHUNK: u64 = 20_000;

/// Decisions and instructions of a path in the first round. Each round allows more.
const FIRST_FORKS: u32 = 10;
const FIRST_STEPS: u64 = 20_000;

/// Maximum number of rounds.
const ROUNDS: u32 = 6;

/// Maximum number of waiting paths.
const WIDEST: usize = 200_000;

#[derive(Clone, Debug)]
pub(super) enum CallOutcome {
    /// The path has not started a call.
    Begin,
    Returned(Value),
    Raised(Value, u32),
}

/// The state of a harness on one path: the number of the next call, and values stored between calls.
#[derive(Clone, Debug)]
pub(super) struct HarnessState {
    pub(super) number: u8,
    pub(super) saved: Rc<Vec<Value>>,
    pub(super) first: Option<Rc<CallOutcome>>,
}

/// The next step of a harness.
pub(super) enum HarnessStep {
    Call {
        function: Value,
        args: Vec<Value>,
        keywords: Vec<(Name, Value)>,
        stage: HarnessState,
    },
    /// The path ended without a finding.
    Fine,
    /// A finding to replay.
    Found(PathFinding),
}

/// A violation at the end of a path, not yet confirmed by CPython.
#[derive(Clone, Debug)]
pub(super) struct PathFinding {
    pub(super) line: u32,
    /// The class of an exception.
    pub(super) class: Option<String>,
}

/// A proof harness: it makes symbolic inputs, calls the function, and checks the outcome of each call.
pub(super) trait Harness {
    /// Runs as one instruction: it may be run again after a fork.
    fn next_step(
        &mut self,
        machine: &mut Machine,
        stage: &HarnessState,
        outcome: &CallOutcome,
        given: Option<&[PyValue]>,
    ) -> OrTrap<HarnessStep>;

    /// Handles a finding and the inputs that lead there. Returns whether the search is over.
    fn found(&mut self, finding: &PathFinding, inputs: &Inputs, condition: &str) -> bool;

    /// Counts findings that CPython did not confirm. `None` if the harness needs every path without
    /// abstraction and induction.
    fn mismatches(&mut self) -> Option<&mut u64>;
}

#[derive(Clone)]
struct PathState {
    state: State,
    model: Option<Rc<Model>>,
    stage: HarnessState,
    ended: Option<CallOutcome>,
}

/// Counters of one search.
#[derive(Default)]
pub(super) struct SearchStats {
    pub(super) begun: u64,
    pub(super) ended: u64,
    pub(super) fine: u64,
    pub(super) discarded: u64,
    pub(super) unsupported: Vec<UnsupportedConstruct>,
    pub(super) bounds: Vec<String>,
    /// Findings without inputs.
    pub(super) undecided: u64,
    pub(super) bug: Option<String>,
    /// A claim about a loop was refuted, so the exploration that relied on it is invalid.
    must_restart: bool,
    /// An attempt by induction reached a construct that it cannot handle.
    is_hopeless: bool,
}

pub(super) struct Search<'a> {
    pub(super) machine: Machine,
    base: State,
    pub(super) parameters: Vec<Parameter>,
    solver: Solver<'a>,
    budget: Budget,
    progress: &'a dyn Progress,
    stack: Vec<PathState>,
    parked: Vec<PathState>,
    round: u32,
    pub(super) tally: SearchStats,
    /// The taken branch sides, each with inputs that take it.
    pub(super) sides: HashMap<BranchSide, Option<Inputs>>,
    pub(super) executed: HashSet<(u32, u32)>,
    pub(super) stopped: Option<StopReason>,
    /// Steps of the interpreter and of the solver after which an attempt by induction ends.
    allowed: (u64, u64),
    /// Whether an argument was changed on some path.
    is_touched: bool,
    /// Whether arguments that share objects were explored too, with nothing left open.
    knows_shared: bool,
}

impl<'a> Search<'a> {
    pub(super) fn new(machine: Machine, parameters: Vec<Parameter>, analysis: &Analysis<'a>) -> Self {
        let Analysis { budget, replayer, progress, .. } = *analysis;
        let base = machine.state.clone();
        let solver = Solver::new(replayer, budget.question_steps, budget.deadline);
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
            tally: SearchStats::default(),
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

    /// Runs one call on known inputs. `None` if it did not end within `steps`, or is beyond the engine.
    pub(super) fn run_known(
        &mut self,
        plan: &mut dyn Harness,
        inputs: &[PyValue],
        steps: u64,
    ) -> Option<Option<PathFinding>> {
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
        let mut outcome = CallOutcome::Begin;
        loop {
            machine.nesting = 1;
            let step = plan.next_step(machine, &stage, &outcome, Some(inputs));
            machine.nesting = 0;
            match step {
                Ok(HarnessStep::Fine) => return Some(None),
                Ok(HarnessStep::Found(finding)) => return Some(Some(finding)),
                Ok(HarnessStep::Call { function, args, keywords, stage: next }) => {
                    stage = next;
                    outcome = match call(machine, &function, args, keywords).and_then(|()| machine.run(0)) {
                        Ok(RunEnd::Returned(value)) => CallOutcome::Returned(value),
                        Err(Trap::Raise(exception)) => CallOutcome::Raised(exception, machine.raised_at),
                        _ => return None,
                    };
                }
                Err(_) => return None,
            }
        }
    }

    fn stop_reason(&self) -> Option<StopReason> {
        let spent = self.solver.cost.steps;
        if memory::is_exhausted() {
            Some(StopReason::Memory)
        } else if Instant::now() >= self.budget.deadline {
            Some(StopReason::Deadline)
        } else if self.machine.steps >= self.budget.interpreter_steps.min(self.allowed.0)
            || spent >= self.budget.solver_steps.min(self.allowed.1)
        {
            Some(StopReason::Steps)
        } else {
            None
        }
    }

    /// Increases the budget of the exploration by these steps of the interpreter and of the solver.
    pub(super) fn allow(&mut self, interpreter: u64, solver: u64) {
        let (steps, spent) = (self.machine.steps, self.solver.cost.steps);
        self.allowed = (steps.saturating_add(interpreter), spent.saturating_add(solver));
    }

    /// Runs the first round. Returns whether the search is over: there is a finding, or nothing is left open.
    pub(super) fn explore_first(&mut self, plan: &mut dyn Harness) -> bool {
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

    /// Explores the paths that the first round left open, by induction and in further rounds.
    pub(super) fn explore_rest(&mut self, plan: &mut dyn Harness, last_round: u32) {
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
        self.stack.push(PathState {
            state: self.base.clone(),
            model,
            stage: first_stage(),
            ended: Some(CallOutcome::Begin),
        });
        self.tally.begun += 1;
    }

    /// Explores until the round is over. Returns whether the search is over: there is a finding, or the
    /// budget is exhausted.
    fn rounds(&mut self, plan: &mut dyn Harness, last_round: u32) -> bool {
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

    /// Abandons this path and all waiting ones, and records them as open.
    fn leave_open(&mut self, path: PathState) {
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

    /// Follows a path until it ends or is put aside. Returns whether the search is over.
    fn advance(&mut self, mut path: PathState, plan: &mut dyn Harness) -> bool {
        self.machine.state = std::mem::take(&mut path.state);
        loop {
            self.machine.nesting = 0;
            self.machine.snapshot = None;
            self.machine.pause_at = self.machine.state.steps + CHUNK;
            let trap = if let Some(outcome) = path.ended.clone() {
                let before = self.machine.state.clone();
                self.machine.nesting = 1;
                let step = plan.next_step(&mut self.machine, &path.stage, &outcome, None);
                self.machine.nesting = 0;
                match step {
                    Ok(HarnessStep::Fine) => {
                        self.end(&path);
                        self.tally.fine += 1;
                        return false;
                    }
                    Ok(HarnessStep::Found(finding)) => {
                        self.end(&path);
                        return self.report(&path, &finding, plan);
                    }
                    Ok(HarnessStep::Call { function, args, keywords, stage }) => {
                        path.stage = stage;
                        path.ended = None;
                        match call(&mut self.machine, &function, args, keywords) {
                            Ok(()) => continue,
                            Err(Trap::Raise(exception)) => {
                                path.ended = Some(CallOutcome::Raised(exception, self.machine.raised_at));
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
                    Ok(RunEnd::Returned(value)) => {
                        path.ended = Some(CallOutcome::Returned(value));
                        continue;
                    }
                    Ok(RunEnd::Yielded(..)) => Trap::Bug("a call yields"),
                    Err(Trap::Raise(exception)) => {
                        path.ended = Some(CallOutcome::Raised(exception, self.machine.raised_at));
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

    /// Handles the trap of an instruction. Returns whether the path continues.
    fn take_trap(&mut self, path: &mut PathState, trap: Trap) -> bool {
        match trap {
            Trap::Fork(condition) => self.fork(path, condition),
            Trap::Choose(term) => {
                if path.model.is_none() {
                    path.model = match self.ask(Terms::TRUE, None) {
                        SatResult::Sat(model) => Some(Rc::new(model)),
                        SatResult::Unsat => return false,
                        SatResult::Unknown => None,
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
                let found = UnsupportedConstruct { line: self.machine.line(), construct };
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

    fn park(&mut self, path: &PathState) {
        let state = self.machine.state.clone();
        self.parked.push(PathState { state, ..path.clone() });
    }

    fn ask(&mut self, more: Term, near: Option<&Model>) -> SatResult {
        let path = self.machine.state.path.clone();
        self.solver.check(&self.machine.terms, &path, more, near)
    }

    /// Forks a path. The side of its model continues. Returns whether it does.
    fn fork(&mut self, path: &mut PathState, condition: Term) -> bool {
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
                    SatResult::Sat(model) => {
                        path.model = Some(Rc::new(model));
                        (condition, negated)
                    }
                    SatResult::Unsat => {
                        Rc::make_mut(&mut self.machine.state.facts).push(negated);
                        return true;
                    }
                    SatResult::Unknown => (condition, negated),
                }
            }
        };
        let other_model = match self.ask(other, path.model.as_deref()) {
            SatResult::Unsat => {
                Rc::make_mut(&mut self.machine.state.facts).push(own);
                return true;
            }
            SatResult::Sat(model) => Some(Rc::new(model)),
            SatResult::Unknown => None,
        };
        self.machine.state.forks += 1;
        let mut state = self.machine.state.clone();
        Rc::make_mut(&mut state.path).push(other);
        if self.stack.len() < WIDEST {
            self.tally.begun += 1;
            self.stack.push(PathState {
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

    fn end(&mut self, path: &PathState) {
        self.tally.ended += 1;
        self.is_touched |= self.machine.state.is_touched;
        self.note_sides(path);
    }

    /// Records the branch sides taken since the last call, with inputs that take them.
    fn note_sides(&mut self, path: &PathState) {
        self.executed.extend(self.machine.executed.drain());
        let taken: Vec<BranchSide> = self.machine.sides.drain().collect();
        for side in taken {
            if matches!(self.sides.get(&side), Some(Some(_))) {
                continue;
            }
            let inputs = path.model.clone().and_then(|model| self.inputs(&model));
            self.sides.insert(side, inputs);
        }
    }

    fn inputs(&self, model: &Model) -> Option<Inputs> {
        let names: Vec<String> = self.parameters.iter().map(|parameter| parameter.name.to_string()).collect();
        let kinds: Vec<&InputType> = self.parameters.iter().map(|parameter| &parameter.kind).collect();
        let values = self.machine.shared_inputs(model, &names, &kinds)?;
        let args = names.into_iter().zip(values).collect();
        let positional = self.parameters.iter().take_while(|parameter| parameter.is_positional).count();
        Some(Inputs { args, positional })
    }

    fn report(&mut self, path: &PathState, finding: &PathFinding, plan: &mut dyn Harness) -> bool {
        let model = match &path.model {
            Some(model) => Some(model.clone()),
            None => match self.ask(Terms::TRUE, None) {
                SatResult::Sat(model) => Some(Rc::new(model)),
                SatResult::Unsat => return false,
                SatResult::Unknown => None,
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

fn first_stage() -> HarnessState {
    HarnessState { number: 0, saved: Rc::default(), first: None }
}

/// Starts a call at the top level.
fn call(
    machine: &mut Machine,
    function: &Value,
    args: Vec<Value>,
    keywords: Vec<(Name, Value)>,
) -> OrTrap<()> {
    let frame = machine.frame_for(function, args, keywords)?;
    machine.push_frame(frame)
}
