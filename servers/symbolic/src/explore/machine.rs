//! The core of the interpreter: decisions, exceptions and shared operations.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use num_bigint::BigInt;
use num_traits::ToPrimitive;

use super::loops::induction::{ClaimId, Induction, LoopId};
use super::state::{Frame, State};
use crate::frontend::ir::{Code, Name};
use crate::terms::{Term, TermNode, Terms};
use crate::values::{Bool, BuiltinType, Instance, Int, Object, ObjectId, Type, Value, exception_named};

#[derive(Clone, Debug)]
pub(crate) enum Trap {
    /// A Python exception.
    Raise(Value),
    /// The state forks on this condition, and the instruction runs again in both states.
    Fork(Term),
    /// An integer must be known: the state forks on one of its values.
    Choose(Term),
    /// The assumed inputs are impossible, so the path does not exist.
    Discard,
    /// The path is back at the head of a loop, and all claims about the loop hold there. Induction covers the
    /// rest.
    Closed,
    /// A claim about a loop is refuted.
    Refuted(ClaimId),
    /// The claims cannot describe the loop, so it must be unrolled.
    Unrolled(LoopId),
    /// An unsupported construct.
    Unsupported(String),
    /// A bound of the engine: too deep, too long, too large.
    Bound(String),
    /// The path has used its share of steps.
    Pause,
    /// A broken invariant of the engine.
    Bug(&'static str),
}

pub(crate) type OrTrap<T> = Result<T, Trap>;

/// Python's default recursion limit, less the frames of the replay.
pub(crate) const DEEPEST: usize = 960;

/// Maximum nesting of Python calls inside instructions. It bounds Rust's own stack.
const DEEPEST_NESTING: usize = 150;

/// Maximum length of a string, list or dict.
pub(crate) const LONGEST: usize = 1_000_000;

/// Whether a container may have this many items.
pub(crate) fn fits(items: usize) -> OrTrap<()> {
    if items > LONGEST { Err(Trap::Bound("a million items".to_owned())) } else { Ok(()) }
}

/// A side of a branch: code object, branch, outcome.
pub(crate) type BranchSide = (u32, u32, bool);

pub(crate) struct Machine {
    pub(crate) terms: Terms,
    pub(crate) state: State,
    /// Whether inputs have terms, so that states may fork.
    pub(crate) is_symbolic: bool,
    /// The state before the current instruction.
    pub(crate) snapshot: Option<State>,
    pub(crate) nesting: usize,
    pub(crate) steps: u64,
    /// The path pauses when `state.steps` reaches this.
    pub(crate) pause_at: u64,
    /// The branch sides taken since the last clearing.
    pub(crate) sides: HashSet<BranchSide>,
    /// The executed instructions, by code and index.
    pub(crate) executed: HashSet<(u32, u32)>,
    /// The line where the last exception was raised.
    pub(crate) raised_at: u32,
    /// The code objects with leading asserts as preconditions.
    pub(crate) targets: Vec<u32>,
    pub(crate) step_limit: u64,
    /// Descriptions of over-approximated values.
    pub(crate) abstractions: BTreeSet<String>,
    /// Descriptions of excluded inputs.
    pub(crate) left_out: BTreeSet<String>,
    pub(crate) induction: Induction,
    /// Whether inputs may be the same object.
    pub(crate) is_sharing: bool,
    /// The lowered library modules, shared by all paths.
    pub(crate) lowered: Vec<(&'static str, Rc<Code>)>,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self {
            terms: Terms::new(),
            state: State::default(),
            is_symbolic: false,
            snapshot: None,
            nesting: 0,
            steps: 0,
            pause_at: u64::MAX,
            sides: HashSet::new(),
            executed: HashSet::new(),
            raised_at: 0,
            targets: Vec::new(),
            step_limit: u64::MAX,
            abstractions: BTreeSet::new(),
            left_out: BTreeSet::new(),
            induction: Induction::default(),
            is_sharing: false,
            lowered: Vec::new(),
        }
    }

    /// Records an over-approximation. A proof remains valid; a finding may be false.
    pub(crate) fn abstracted(&mut self, what: &str) {
        if !self.abstractions.contains(what) {
            self.abstractions.insert(what.to_owned());
        }
    }

    /// Records that some inputs are excluded.
    pub(crate) fn leave_out(&mut self, what: String) {
        self.left_out.insert(what);
    }

    /// Records a float operation that C libraries may round differently.
    pub(crate) fn rounds_as_here(&mut self) {
        if self.is_symbolic {
            self.leave_out("powers, logarithms and angles of floats are rounded by one C library".to_owned());
        }
    }

    /// A name for a free variable that belongs to these terms only.
    pub(crate) fn named_after(&self, what: &str, terms: &[Term]) -> String {
        let shown: Vec<String> = terms.iter().map(|term| crate::terms::show(&self.terms, *term)).collect();
        // Long terms are truncated, so their numbers distinguish them.
        let numbers: Vec<String> = terms.iter().map(|term| Terms::number(*term).to_string()).collect();
        format!("{what}({})#{}", shown.join(", "), numbers.join("#"))
    }

    /// Decides a condition: it is known on this path, or the state forks.
    pub(crate) fn decide_term(&mut self, condition: Term) -> OrTrap<bool> {
        if let Some(value) = self.terms.as_bool(condition) {
            return Ok(value);
        }
        if let Some(value) = self.known(condition) {
            return Ok(value);
        }
        // A conjunction is decided part by part if one part is already known.
        match *self.terms.node(condition) {
            TermNode::And(a, b) => match (self.known(a), self.known(b)) {
                (Some(false), _) | (_, Some(false)) => return Ok(false),
                (Some(true), _) => return self.decide_term(b),
                (_, Some(true)) => return self.decide_term(a),
                _ => {}
            },
            TermNode::Or(a, b) => match (self.known(a), self.known(b)) {
                (Some(true), _) | (_, Some(true)) => return Ok(true),
                (Some(false), _) => return self.decide_term(b),
                (_, Some(false)) => return self.decide_term(a),
                _ => {}
            },
            TermNode::Not(a) => return self.decide_term(a).map(|value| !value),
            _ => {}
        }
        Err(Trap::Fork(condition))
    }

    fn known(&mut self, condition: Term) -> Option<bool> {
        if let Some(value) = self.terms.as_bool(condition) {
            return Some(value);
        }
        let negated = self.terms.not(condition);
        let all = self.state.path.iter().rev().chain(self.state.facts.iter().rev());
        for term in all {
            if *term == condition {
                return Some(true);
            }
            if *term == negated {
                return Some(false);
            }
        }
        None
    }

    pub(crate) fn decide(&mut self, truth: Bool) -> OrTrap<bool> {
        match truth {
            Bool::Known(value) => Ok(value),
            Bool::Term(term) => self.decide_term(term),
        }
    }

    pub(crate) fn truth_of(&self, term: Term) -> Bool {
        self.terms.as_bool(term).map_or(Bool::Term(term), Bool::Known)
    }

    pub(crate) fn truth_term(&mut self, truth: Bool) -> Term {
        match truth {
            Bool::Known(value) => self.terms.bool(value),
            Bool::Term(term) => term,
        }
    }

    pub(crate) fn not_truth(&mut self, truth: Bool) -> Bool {
        match truth {
            Bool::Known(value) => Bool::Known(!value),
            Bool::Term(term) => {
                let term = self.terms.not(term);
                self.truth_of(term)
            }
        }
    }

    pub(crate) fn both(&mut self, a: Bool, b: Bool) -> Bool {
        let (a, b) = (self.truth_term(a), self.truth_term(b));
        let term = self.terms.and(a, b);
        self.truth_of(term)
    }

    pub(crate) fn int_term(&mut self, value: &Int) -> Term {
        match value {
            Int::Known(value) => self.terms.int((**value).clone()),
            Int::Term(term) => *term,
        }
    }

    pub(crate) fn int_of(&self, term: Term) -> Int {
        self.terms.as_int(term).map_or(Int::Term(term), |value| Int::from(value.clone()))
    }

    pub(crate) fn int_value(&self, term: Term) -> Value {
        Value::Int(self.int_of(term))
    }

    /// The value of an integer on this path. The state forks if there are several.
    pub(crate) fn choose(&mut self, value: &Int) -> OrTrap<BigInt> {
        let term = match value {
            Int::Known(value) => return Ok((**value).clone()),
            Int::Term(term) => *term,
        };
        let all: Vec<Term> = self.state.path.iter().chain(self.state.facts.iter()).copied().collect();
        for assumed in all {
            if let TermNode::IntEq(a, b) = *self.terms.node(assumed) {
                let other = if a == term {
                    b
                } else if b == term {
                    a
                } else {
                    continue;
                };
                if let Some(value) = self.terms.as_int(other) {
                    return Ok(value.clone());
                }
            }
        }
        Err(Trap::Choose(term))
    }

    pub(crate) fn choose_small(&mut self, value: &Int) -> OrTrap<i64> {
        let chosen = self.choose(value)?;
        chosen
            .to_i64()
            .ok_or_else(|| Trap::Bound("an integer beyond 64 bits as an index or a count".to_owned()))
    }

    /// A length on this path. The smallest is tried first.
    pub(crate) fn choose_length(&mut self, length: Term) -> OrTrap<usize> {
        for candidate in 0..LONGEST {
            let value = self.terms.int(candidate);
            let is = self.terms.int_eq(length, value);
            if self.decide_term(is)? {
                return Ok(candidate);
            }
        }
        Err(Trap::Bound("a longer input".to_owned()))
    }

    pub(crate) fn unsupported<T>(&self, what: impl Into<String>) -> OrTrap<T> {
        Err(Trap::Unsupported(what.into()))
    }

    /// The current line of the analysed code. Code of a library module counts as the line of its call.
    pub(crate) fn line(&self) -> u32 {
        let own = self.state.frames.iter().rev().find(|frame| !frame.code.is_library);
        own.map_or(0, |frame| frame.line())
    }

    pub(crate) fn raise<T>(&mut self, class: &str, message: impl AsRef<str>) -> OrTrap<T> {
        let args = vec![Value::text(message.as_ref())];
        self.raise_with(class, args)
    }

    pub(crate) fn raise_with<T>(&mut self, class: &str, args: Vec<Value>) -> OrTrap<T> {
        let exception = self.exception(class, args);
        self.raised_at = self.line();
        Err(Trap::Raise(exception))
    }

    pub(crate) fn exception(&mut self, class: &str, args: Vec<Value>) -> Value {
        let index = exception_named(class).unwrap_or(1);
        let class = Type::Builtin(BuiltinType::Exception(index));
        let payload = Some(Value::tuple(args));
        self.object(Object::Instance(Instance { class, attributes: Vec::new(), payload }))
    }

    pub(crate) fn object(&mut self, object: Object) -> Value {
        Value::Object(self.state.allocate(object))
    }

    pub(crate) fn list(&mut self, items: Vec<Value>) -> Value {
        self.object(Object::List(items))
    }

    pub(crate) fn frame(&self) -> OrTrap<&Frame> {
        self.state.frames.last().map(|frame| &**frame).ok_or(Trap::Bug("no frame"))
    }

    pub(crate) fn frame_mut(&mut self) -> OrTrap<&mut Frame> {
        self.state.frames.last_mut().map(Rc::make_mut).ok_or(Trap::Bug("no frame"))
    }

    pub(crate) fn push(&mut self, value: Value) -> OrTrap<()> {
        self.frame_mut()?.stack.push(value);
        Ok(())
    }

    /// The value at this distance below the top.
    pub(crate) fn peek(&self, below: usize) -> OrTrap<Value> {
        let stack = &self.frame()?.stack;
        stack
            .len()
            .checked_sub(below + 1)
            .and_then(|index| stack.get(index))
            .cloned()
            .ok_or(Trap::Bug("empty stack"))
    }

    pub(crate) fn pop(&mut self) -> OrTrap<Value> {
        self.frame_mut()?.stack.pop().ok_or(Trap::Bug("empty stack"))
    }

    /// The top values, lowest first. They stay on the stack.
    pub(crate) fn top(&self, count: usize) -> OrTrap<Vec<Value>> {
        let stack = &self.frame()?.stack;
        let from = stack.len().checked_sub(count).ok_or(Trap::Bug("empty stack"))?;
        Ok(stack.get(from..).unwrap_or_default().to_vec())
    }

    /// Pops values and pushes one.
    pub(crate) fn replace(&mut self, count: usize, value: Value) -> OrTrap<()> {
        let stack = &mut self.frame_mut()?.stack;
        let length = stack.len().checked_sub(count).ok_or(Trap::Bug("empty stack"))?;
        stack.truncate(length);
        stack.push(value);
        Ok(())
    }

    pub(crate) fn drop(&mut self, count: usize) -> OrTrap<()> {
        let stack = &mut self.frame_mut()?.stack;
        let length = stack.len().checked_sub(count).ok_or(Trap::Bug("empty stack"))?;
        stack.truncate(length);
        Ok(())
    }

    pub(crate) fn enter_nested(&mut self) -> OrTrap<()> {
        self.nesting += 1;
        if self.nesting > DEEPEST_NESTING {
            return Err(Trap::Bound("calls nested too deeply".to_owned()));
        }
        Ok(())
    }

    pub(crate) fn class_of(&self, id: ObjectId) -> Option<Rc<crate::values::Class>> {
        if let Object::Class(class) = self.state.get(id) { Some(class.clone()) } else { None }
    }

    pub(crate) fn name_of_type(&self, class: Type) -> String {
        match class {
            Type::Builtin(kind) => kind.name().to_owned(),
            Type::User(id) => self.class_of(id).map_or_else(String::new, |class| class.name.to_string()),
        }
    }

    /// The names and values of a dict with text keys, as keyword arguments.
    pub(crate) fn keywords_of(&mut self, value: &Value) -> OrTrap<Vec<(Name, Value)>> {
        let Value::Object(id) = value else { return Err(Trap::Bug("keywords are no dict")) };
        let Object::Dict(dict) = self.state.get(*id) else { return Err(Trap::Bug("keywords are no dict")) };
        let entries = dict.entries.clone();
        let mut keywords = Vec::new();
        for (key, value) in entries {
            match key.as_text() {
                Some(name) => keywords.push((Rc::from(name.as_str()), value)),
                None => return self.raise("TypeError", "keywords must be strings"),
            }
        }
        Ok(keywords)
    }
}
