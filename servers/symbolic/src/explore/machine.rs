//! The interpreter's core: deciding, raising, and what they share.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use num_bigint::BigInt;
use num_traits::ToPrimitive;

use super::induction::{ClaimId, Induction, LoopId};
use super::state::{Frame, State};
use crate::ir::{Code, Name};
use crate::terms::{Node, Term, Terms};
use crate::values::{Instance, Int, Kind, Object, ObjectId, Truth, Type, Value, exception_named};

/// Why an instruction did not finish.
#[derive(Clone, Debug)]
pub(crate) enum Trap {
    /// A Python exception.
    Raise(Value),
    /// The state splits on this condition, and the instruction runs again in both.
    Fork(Term),
    /// An integer has to be known: the state splits on one of its values.
    Choose(Term),
    /// The inputs assumed so far cannot be: the path does not exist.
    Discard,
    /// The path is back at the head of a loop, and everything claimed about the loop holds there: the rest is induction.
    Closed,
    /// A claim about a loop does not hold.
    Refuted(ClaimId),
    /// A loop does more than can be said about it: it has to be unrolled.
    Unrolled(LoopId),
    /// Something the engine does not know.
    Unsupported(String),
    /// A bound of the engine's own: too deep, too long, too large.
    Bound(String),
    /// The path has had its share of steps.
    Pause,
    /// The engine broke a promise of its own.
    Bug(&'static str),
}

pub(crate) type R<T> = Result<T, Trap>;

/// Frames that Python allows by default, less what the replay needs for itself.
pub(crate) const DEEPEST: usize = 960;

/// Rust's own stack: calls of Python from inside an instruction.
const DEEPEST_NESTING: usize = 150;

/// Longest string, list or dict built.
pub(crate) const LONGEST: usize = 1_000_000;

/// Whether a container may have so many items.
pub(crate) fn fits(items: usize) -> R<()> {
    if items > LONGEST { Err(Trap::Bound("a million items".to_owned())) } else { Ok(()) }
}

/// A side of a branch: code, branch, which.
pub(crate) type Side = (u32, u32, bool);

pub(crate) struct Machine {
    pub(crate) terms: Terms,
    pub(crate) state: State,
    /// Whether inputs have terms, so that states may have to be forked.
    pub(crate) is_symbolic: bool,
    /// The state before the instruction at hand.
    pub(crate) snapshot: Option<State>,
    pub(crate) nesting: usize,
    pub(crate) steps: u64,
    /// When `state.steps` reaches this the path pauses.
    pub(crate) pause_at: u64,
    /// Branch sides taken since last cleared.
    pub(crate) sides: HashSet<Side>,
    /// Instructions begun, by code and index.
    pub(crate) executed: HashSet<(u32, u32)>,
    /// Where the last exception began: code id, line.
    pub(crate) raised_at: u32,
    /// The codes whose leading asserts are preconditions.
    pub(crate) targets: Vec<u32>,
    pub(crate) step_limit: u64,
    /// What was left free to be more than it can be, in words.
    pub(crate) abstractions: BTreeSet<String>,
    /// What was left out of the inputs, in words.
    pub(crate) left_out: BTreeSet<String>,
    pub(crate) induction: Induction,
    /// Whether inputs may be one and the same object.
    pub(crate) is_sharing: bool,
    /// Modules of the library that were lowered, whichever path asked for them.
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

    /// Notes that something has more values here than it can have. What is proven holds all the same; what is found may not be.
    pub(crate) fn abstracted(&mut self, what: &str) {
        if !self.abstractions.contains(what) {
            self.abstractions.insert(what.to_owned());
        }
    }

    /// Notes that some inputs are none here.
    pub(crate) fn leave_out(&mut self, what: String) {
        self.left_out.insert(what);
    }

    /// Notes that a float is one of those that C libraries may round in ways of their own.
    pub(crate) fn rounds_as_here(&mut self) {
        if self.is_symbolic {
            self.leave_out("powers, logarithms and angles of floats are rounded by one C library".to_owned());
        }
    }

    /// A name for something free that belongs to these terms and to no others.
    pub(crate) fn named_after(&self, what: &str, terms: &[Term]) -> String {
        let shown: Vec<String> = terms.iter().map(|term| crate::terms::show(&self.terms, *term)).collect();
        // Long terms are shown cut off; their numbers tell them apart.
        let numbers: Vec<String> = terms.iter().map(|term| Terms::number(*term).to_string()).collect();
        format!("{what}({})#{}", shown.join(", "), numbers.join("#"))
    }

    /// Decides a condition: known on this path, or the state has to fork.
    pub(crate) fn decide_term(&mut self, condition: Term) -> R<bool> {
        if let Some(value) = self.terms.as_bool(condition) {
            return Ok(value);
        }
        if let Some(value) = self.known(condition) {
            return Ok(value);
        }
        // A conjunction is decided part by part when one part is known already.
        match *self.terms.node(condition) {
            Node::And(a, b) => match (self.known(a), self.known(b)) {
                (Some(false), _) | (_, Some(false)) => return Ok(false),
                (Some(true), _) => return self.decide_term(b),
                (_, Some(true)) => return self.decide_term(a),
                _ => {}
            },
            Node::Or(a, b) => match (self.known(a), self.known(b)) {
                (Some(true), _) | (_, Some(true)) => return Ok(true),
                (Some(false), _) => return self.decide_term(b),
                (_, Some(false)) => return self.decide_term(a),
                _ => {}
            },
            Node::Not(a) => return self.decide_term(a).map(|value| !value),
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

    pub(crate) fn decide(&mut self, truth: Truth) -> R<bool> {
        match truth {
            Truth::Known(value) => Ok(value),
            Truth::Term(term) => self.decide_term(term),
        }
    }

    pub(crate) fn truth_of(&self, term: Term) -> Truth {
        self.terms.as_bool(term).map_or(Truth::Term(term), Truth::Known)
    }

    pub(crate) fn truth_term(&mut self, truth: Truth) -> Term {
        match truth {
            Truth::Known(value) => self.terms.bool(value),
            Truth::Term(term) => term,
        }
    }

    pub(crate) fn not_truth(&mut self, truth: Truth) -> Truth {
        match truth {
            Truth::Known(value) => Truth::Known(!value),
            Truth::Term(term) => {
                let term = self.terms.not(term);
                self.truth_of(term)
            }
        }
    }

    pub(crate) fn both(&mut self, a: Truth, b: Truth) -> Truth {
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

    /// The value of an integer on this path; the state splits when it can have several.
    pub(crate) fn choose(&mut self, value: &Int) -> R<BigInt> {
        let term = match value {
            Int::Known(value) => return Ok((**value).clone()),
            Int::Term(term) => *term,
        };
        let all: Vec<Term> = self.state.path.iter().chain(self.state.facts.iter()).copied().collect();
        for assumed in all {
            if let Node::IntEq(a, b) = *self.terms.node(assumed) {
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

    pub(crate) fn choose_small(&mut self, value: &Int) -> R<i64> {
        let chosen = self.choose(value)?;
        chosen
            .to_i64()
            .ok_or_else(|| Trap::Bound("an integer beyond 64 bits as an index or a count".to_owned()))
    }

    /// A length on this path, the smallest tried first.
    pub(crate) fn choose_length(&mut self, length: Term) -> R<usize> {
        for candidate in 0..LONGEST {
            let value = self.terms.int(candidate);
            let is = self.terms.int_eq(length, value);
            if self.decide_term(is)? {
                return Ok(candidate);
            }
        }
        Err(Trap::Bound("a longer input".to_owned()))
    }

    pub(crate) fn unsupported<T>(&self, what: impl Into<String>) -> R<T> {
        Err(Trap::Unsupported(what.into()))
    }

    /// The line of the code being executed; what a module of the library does happens where it was called.
    pub(crate) fn line(&self) -> u32 {
        let own = self.state.frames.iter().rev().find(|frame| !frame.code.is_library);
        own.map_or(0, |frame| frame.line())
    }

    pub(crate) fn raise<T>(&mut self, class: &str, message: impl AsRef<str>) -> R<T> {
        let args = vec![Value::text(message.as_ref())];
        self.raise_with(class, args)
    }

    pub(crate) fn raise_with<T>(&mut self, class: &str, args: Vec<Value>) -> R<T> {
        let exception = self.exception(class, args);
        self.raised_at = self.line();
        Err(Trap::Raise(exception))
    }

    pub(crate) fn exception(&mut self, class: &str, args: Vec<Value>) -> Value {
        let index = exception_named(class).unwrap_or(1);
        let class = Type::Builtin(Kind::Exception(index));
        let payload = Some(Value::tuple(args));
        self.object(Object::Instance(Instance { class, attributes: Vec::new(), payload }))
    }

    pub(crate) fn object(&mut self, object: Object) -> Value {
        Value::Object(self.state.allocate(object))
    }

    pub(crate) fn list(&mut self, items: Vec<Value>) -> Value {
        self.object(Object::List(items))
    }

    pub(crate) fn frame(&self) -> R<&Frame> {
        self.state.frames.last().map(|frame| &**frame).ok_or(Trap::Bug("no frame"))
    }

    pub(crate) fn frame_mut(&mut self) -> R<&mut Frame> {
        self.state.frames.last_mut().map(Rc::make_mut).ok_or(Trap::Bug("no frame"))
    }

    pub(crate) fn push(&mut self, value: Value) -> R<()> {
        self.frame_mut()?.stack.push(value);
        Ok(())
    }

    /// The value this far below the top.
    pub(crate) fn peek(&self, below: usize) -> R<Value> {
        let stack = &self.frame()?.stack;
        stack
            .len()
            .checked_sub(below + 1)
            .and_then(|index| stack.get(index))
            .cloned()
            .ok_or(Trap::Bug("empty stack"))
    }

    pub(crate) fn pop(&mut self) -> R<Value> {
        self.frame_mut()?.stack.pop().ok_or(Trap::Bug("empty stack"))
    }

    /// The top values, the lowest first; they stay.
    pub(crate) fn top(&self, count: usize) -> R<Vec<Value>> {
        let stack = &self.frame()?.stack;
        let from = stack.len().checked_sub(count).ok_or(Trap::Bug("empty stack"))?;
        Ok(stack.get(from..).unwrap_or_default().to_vec())
    }

    /// Takes values off and puts one in their place.
    pub(crate) fn replace(&mut self, count: usize, value: Value) -> R<()> {
        let stack = &mut self.frame_mut()?.stack;
        let length = stack.len().checked_sub(count).ok_or(Trap::Bug("empty stack"))?;
        stack.truncate(length);
        stack.push(value);
        Ok(())
    }

    pub(crate) fn drop(&mut self, count: usize) -> R<()> {
        let stack = &mut self.frame_mut()?.stack;
        let length = stack.len().checked_sub(count).ok_or(Trap::Bug("empty stack"))?;
        stack.truncate(length);
        Ok(())
    }

    pub(crate) fn enter_nested(&mut self) -> R<()> {
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
    pub(crate) fn keywords_of(&mut self, value: &Value) -> R<Vec<(Name, Value)>> {
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
