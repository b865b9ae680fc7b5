//! `compare`: runs two functions on the same inputs.

use std::rc::Rc;

use super::Analysis;
use super::check::{KNOWN_REPLAYS, SeedInputs, shortfall, try_seed_inputs};
use super::conditions::{arguments, assume, raised, replay, split};
use super::function::{AnalysedFunction, load};
use super::report::{
    CompareReport, CompareVerdict, Difference, Failure, Inputs, Proof, UnsupportedConstruct,
};
use super::search::{CallOutcome, Harness, HarnessState, HarnessStep, PathFinding, Search};
use crate::explore::{Machine, OrTrap, Trap};
use crate::values::{Bool, Float, Object, Value};
use crate::{Completion, ConditionOutcome, PyValue, ReplayOutcome, Replayer};

struct CompareHarness<'a> {
    a: &'a AnalysedFunction,
    b: &'a AnalysedFunction,
    code: &'a str,
    replayer: &'a dyn Replayer,
    deadline: std::time::Instant,
    replayed: u64,
    mismatches: u64,
    pairs: u64,
    difference: Option<Difference>,
}

impl Harness for CompareHarness<'_> {
    fn next_step(
        &mut self,
        machine: &mut Machine,
        stage: &HarnessState,
        outcome: &CallOutcome,
        given: Option<&[PyValue]>,
    ) -> OrTrap<HarnessStep> {
        match (stage.number, outcome) {
            (0, _) => {
                let values = arguments(machine, self.a, given)?;
                for subject in [self.a, self.b] {
                    assume(machine, subject, &values)?;
                }
                let mut copies = Vec::new();
                let mut seen = Vec::new();
                for value in &values {
                    copies.push(machine.deep_copy(value, &mut seen)?);
                }
                let (args, keywords) = split(self.a, &values);
                let saved = values.into_iter().chain(copies).collect();
                let stage = HarnessState { number: 1, saved: Rc::new(saved), first: None };
                Ok(HarnessStep::Call { function: self.a.function.clone(), args, keywords, stage })
            }
            (1, first) => {
                let half = stage.saved.len() / 2;
                let copies = stage.saved.get(half..).unwrap_or_default();
                let (args, keywords) = split(self.b, copies);
                let stage = HarnessState {
                    number: 2,
                    saved: stage.saved.clone(),
                    first: Some(Rc::new(first.clone())),
                };
                Ok(HarnessStep::Call { function: self.b.function.clone(), args, keywords, stage })
            }
            (_, second) => {
                self.pairs += 1;
                let Some(first) = &stage.first else { return Err(Trap::Bug("no first call")) };
                if self.is_same(machine, stage, first, second)? {
                    Ok(HarnessStep::Fine)
                } else {
                    Ok(HarnessStep::Found(PathFinding { line: self.b.code.line, class: None }))
                }
            }
        }
    }

    fn found(&mut self, _finding: &PathFinding, inputs: &Inputs, _condition: &str) -> bool {
        self.replayed += 2;
        let a = replay(self.replayer, self.code, self.a, inputs, self.deadline);
        let b = replay(self.replayer, self.code, self.b, inputs, self.deadline);
        let difference = match (a, b) {
            (Ok(a), Ok(b)) => difference(self.a, self.b, inputs, &a, &b),
            _ => None,
        };
        match difference {
            Some(found) => {
                self.difference = Some(found);
                true
            }
            None => {
                self.mismatches += 1;
                false
            }
        }
    }

    fn mismatches(&mut self) -> Option<&mut u64> {
        Some(&mut self.mismatches)
    }
}

impl CompareHarness<'_> {
    fn is_same(
        &self,
        machine: &mut Machine,
        stage: &HarnessState,
        first: &CallOutcome,
        second: &CallOutcome,
    ) -> OrTrap<bool> {
        match (first, second) {
            (CallOutcome::Returned(a), CallOutcome::Returned(b)) => {
                let same = same(machine, a, b)?;
                if !machine.decide(same)? {
                    return Ok(false);
                }
            }
            (CallOutcome::Raised(a, _), CallOutcome::Raised(b, _)) => {
                if machine.type_of(a) != machine.type_of(b) {
                    return Ok(false);
                }
            }
            _ => return Ok(false),
        }
        let (left, right) = stage.saved.split_at(stage.saved.len() / 2);
        for (a, b) in left.iter().zip(right) {
            let same = same(machine, a, b)?;
            if !machine.decide(same)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Equality of values and of their types, recursively. A `nan` equals a `nan`.
fn same(machine: &mut Machine, a: &Value, b: &Value) -> OrTrap<Bool> {
    if machine.type_of(a) != machine.type_of(b) {
        return Ok(Bool::Known(false));
    }
    match (a, b) {
        (Value::Float(x), Value::Float(y)) => {
            let equal = machine.equal(a, b)?;
            let both_nan = both_nan(machine, *x, *y);
            Ok(machine.any_term(&[equal, both_nan]))
        }
        (Value::Tuple(x), Value::Tuple(y)) => all_same(machine, &x.clone(), &y.clone()),
        (Value::Object(x), Value::Object(y)) if x != y => {
            if let (Object::Pending(x, _), Object::Pending(y, _)) =
                (machine.state.get(*x), machine.state.get(*y))
                && x == y
            {
                return Ok(Bool::Known(true));
            }
            machine.force(a)?;
            machine.force(b)?;
            let (x, y) = (machine.state.share(*x), machine.state.share(*y));
            match (x.as_ref(), y.as_ref()) {
                (Object::OpenList(x), Object::OpenList(y)) if x.name == y.name => {
                    if x.element.is_plain() {
                        return Ok(Bool::Known(true));
                    }
                    // One of the functions may have changed items that it accessed.
                    let mut pairs = (Vec::new(), Vec::new());
                    for place in 0..x.prefix.len().max(y.prefix.len()) {
                        pairs.0.push(machine.item_of(a, place)?);
                        pairs.1.push(machine.item_of(b, place)?);
                    }
                    all_same(machine, &pairs.0, &pairs.1)
                }
                (Object::List(_) | Object::OpenList(_), Object::List(_) | Object::OpenList(_)) => {
                    let (x, y) = (machine.collect(a)?, machine.collect(b)?);
                    all_same(machine, &x, &y)
                }
                (Object::Dict(x), Object::Dict(y)) => {
                    let pairs = |entries: &[(Value, Value)]| {
                        entries
                            .iter()
                            .map(|(key, value)| Value::tuple(vec![key.clone(), value.clone()]))
                            .collect::<Vec<_>>()
                    };
                    // The insertion order of a dict is observable.
                    all_same(machine, &pairs(&x.entries), &pairs(&y.entries))
                }
                (Object::Instance(x), Object::Instance(y)) => {
                    if let crate::values::Type::User(class) = x.class
                        && machine.is_library_value(class)
                    {
                        return machine.equal(a, b);
                    }
                    let values = |instance: &crate::values::Instance| {
                        instance
                            .attributes
                            .iter()
                            .map(|(_, value)| value.clone())
                            .chain(instance.payload.clone())
                            .collect::<Vec<_>>()
                    };
                    all_same(machine, &values(x), &values(y))
                }
                (Object::Set(_) | Object::FrozenSet(_), _) => machine.equal(a, b),
                _ => machine.unsupported("comparing results of this kind"),
            }
        }
        (Value::Builtin(_) | Value::Method(_) | Value::Module(_) | Value::Slice(_), _) => {
            machine.unsupported("comparing results of this kind")
        }
        _ => machine.equal(a, b),
    }
}

fn both_nan(machine: &mut Machine, a: Float, b: Float) -> Bool {
    let (a, b) = (machine.is_not_nan(&Value::Float(a)), machine.is_not_nan(&Value::Float(b)));
    let (a, b) = (machine.not_truth(a), machine.not_truth(b));
    machine.both(a, b)
}

fn all_same(machine: &mut Machine, a: &[Value], b: &[Value]) -> OrTrap<Bool> {
    if a.len() != b.len() {
        return Ok(Bool::Known(false));
    }
    let mut all = Bool::Known(true);
    for (a, b) in a.iter().zip(b) {
        let one = same(machine, a, b)?;
        all = machine.both(all, one);
        if all == Bool::Known(false) {
            return Ok(all);
        }
    }
    Ok(all)
}

/// Replays the input in CPython. `None` if the outcomes are equal, or a precondition does not hold.
fn difference(
    a: &AnalysedFunction,
    b: &AnalysedFunction,
    inputs: &Inputs,
    first: &ReplayOutcome,
    second: &ReplayOutcome,
) -> Option<Difference> {
    for (subject, outcome) in [(a, first), (b, second)] {
        if outcome
            .conditions
            .iter()
            .take(subject.pre.len())
            .any(|condition| *condition != ConditionOutcome::Holds)
        {
            return None;
        }
        if let Completion::Raised { class, line: Some(line), .. } = &outcome.ended
            && class == "AssertionError"
            && subject.contract.leading.contains(line)
        {
            return None;
        }
    }
    let shown = |ended: &Completion| match ended {
        Completion::Returned { repr, .. } => repr.clone(),
        Completion::Raised { class, message, .. } => format!("raises {}", raised(class, message)),
    };
    let explanation = match (&first.ended, &second.ended) {
        (
            Completion::Returned { repr: x, type_name: t, .. },
            Completion::Returned { repr: y, type_name: u, .. },
        ) => {
            if t != u {
                format!("{} returns {t}, {} returns {u}", a.name, b.name)
            } else if x != y {
                format!("{} returns {x}, {} returns {y}", a.name, b.name)
            } else if first.args_after != second.args_after {
                format!("{} and {} leave their arguments in different states", a.name, b.name)
            } else {
                return None;
            }
        }
        (Completion::Raised { class: x, .. }, Completion::Raised { class: y, .. }) if x != y => {
            format!("{} raises {x}, {} raises {y}", a.name, b.name)
        }
        (Completion::Raised { .. }, Completion::Raised { .. }) if first.args_after != second.args_after => {
            format!("{} and {} leave their arguments in different states", a.name, b.name)
        }
        (Completion::Raised { .. }, Completion::Raised { .. }) => return None,
        (Completion::Raised { class, .. }, _) => format!("{} raises {class}, {} returns", a.name, b.name),
        (_, Completion::Raised { class, .. }) => format!("{} returns, {} raises {class}", a.name, b.name),
    };
    Some(Difference {
        inputs: inputs.clone(),
        function_a_result: shown(&first.ended),
        function_b_result: shown(&second.ended),
        explanation,
    })
}

pub(super) fn compare(analysis: &Analysis<'_>, names: (&str, &str)) -> CompareReport {
    let Analysis { program, budget, replayer, .. } = *analysis;
    let mut machine = match load(program) {
        Ok(machine) => machine,
        Err(failure) => return failed(failure),
    };
    let pair = (
        AnalysedFunction::new(program, &mut machine, names.0),
        AnalysedFunction::new(program, &mut machine, names.1),
    );
    let (a, mut b) = match pair {
        (Ok(a), Ok(b)) => (a, b),
        (Err(failure), _) | (_, Err(failure)) => return failed(failure),
    };
    let shape = |subject: &AnalysedFunction| {
        subject
            .parameters
            .iter()
            .map(|parameter| parameter.is_positional.then_some(()).ok_or(parameter.name.clone()))
            .collect::<Vec<_>>()
    };
    if shape(&a) != shape(&b) {
        let construct = "functions with different parameters".to_owned();
        return failed(Failure::Unsupported(UnsupportedConstruct { line: b.code.line, construct }));
    }
    // Inputs are created once, from the parameters of the first function. If only the second has annotations,
    // its parameters are used.
    let mut a = a;
    for (left, right) in a.parameters.iter_mut().zip(&mut b.parameters) {
        if matches!(left.kind, crate::explore::InputType::Unknown) {
            left.kind = right.kind.clone();
        }
    }
    let mut open_ends = a.open_ends.clone();
    open_ends.extend(b.open_ends.iter().filter(|end| !a.open_ends.contains(end)).cloned());
    let kinds_differ = a.parameters.iter().zip(&b.parameters).any(|(left, right)| {
        !matches!(right.kind, crate::explore::InputType::Unknown)
            && format!("{:?}", left.kind) != format!("{:?}", right.kind)
    });
    if kinds_differ {
        open_ends.push("the two functions annotate their parameters differently".to_owned());
    } else {
        open_ends.retain(|end| {
            !end.ends_with("has no annotation")
                || a.parameters
                    .iter()
                    .any(|parameter| matches!(parameter.kind, crate::explore::InputType::Unknown))
        });
    }
    machine.targets = vec![a.code.id, b.code.id];
    let mut search = Search::new(machine, a.parameters.clone(), analysis);
    let mut plan = CompareHarness {
        a: &a,
        b: &b,
        code: program.code(),
        replayer,
        deadline: budget.deadline,
        replayed: 0,
        mismatches: 0,
        pairs: 0,
        difference: None,
    };
    let mut known = SeedInputs::new(program, &search);
    if !try_seed_inputs(known.first(), &mut search, &mut plan, KNOWN_REPLAYS) {
        plan.pairs = 0;
        if !search.explore_first(&mut plan) {
            let pairs = plan.pairs;
            if !try_seed_inputs(known, &mut search, &mut plan, KNOWN_REPLAYS) {
                plan.pairs = pairs;
                search.explore_rest(&mut plan, u32::MAX);
            }
        }
    }
    let proof = search.proof(&open_ends, (plan.replayed, plan.mismatches));
    let verdict = match plan.difference {
        Some(found) => CompareVerdict::Different(found),
        None if proof.exhaustive => CompareVerdict::Equivalent,
        None => CompareVerdict::Failed(shortfall(&search, &proof)),
    };
    CompareReport { verdict, paths_compared: plan.pairs, proof }
}

fn failed(failure: Failure) -> CompareReport {
    CompareReport { verdict: CompareVerdict::Failed(failure), paths_compared: 0, proof: Proof::default() }
}

pub(super) fn crashed() -> CompareReport {
    failed(Failure::Bug("the analysis crashed".to_owned()))
}
