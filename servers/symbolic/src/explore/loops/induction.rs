//! Unbounded loops, by induction (ADR 0023).
//!
//! At the head of a loop over a finite but unbounded iterable, all changed values are forgotten except for a
//! few claims ([`super::invariants`]). Two paths continue from there. The first makes a single arbitrary
//! round and must return to the head with the claims intact. The second leaves the loop after all rounds. The
//! claims hold before the first round, or they are dropped. Every round of every call is therefore covered,
//! and the code after the loop relies only on proven claims. Only loops that surely terminate are handled:
//! termination is part of the proof.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use num_bigint::BigInt;
use num_traits::{Signed, Zero};

use super::invariants::{Claim, Factor, LoopTrace, guesses};
use crate::explore::inputs::InputType;
use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::explore::run::Flow;
use crate::explore::state::HeapSnapshot;
use crate::frontend::ir::{Code, Op};
use crate::terms::{Interval, Sort, Term, Terms};
use crate::values::{Bool, Float, Int, IteratorState, Object, ObjectId, Str, Value};

/// Identifies a loop: its code object, and the index of its head.
pub(crate) type LoopId = (u32, u32);

/// Identifies a claim about a loop: its index among the guesses.
pub(crate) type ClaimId = (LoopId, u32);

/// Maximum number of watched calls and rounds of a loop.
const MOST_RUNS: usize = 24;
const MOST_ROUNDS: usize = 10;

/// Facts about loops that carry over from one exploration to the next.
#[derive(Default, Debug)]
pub(crate) struct Induction {
    pub(crate) is_on: bool,
    /// Whether the exploration met anything that induction could help with.
    pub(crate) is_wanted: bool,
    pub(crate) refuted: HashSet<ClaimId>,
    pub(crate) unrolled: HashSet<LoopId>,
    /// The number of calls with known inputs.
    pub(crate) call: u64,
    watched: HashMap<LoopId, Vec<LoopRun>>,
}

#[derive(Debug)]
struct LoopRun {
    call: u64,
    iterator: ObjectId,
    rounds: LoopTrace,
}

/// A loop that the path is inside of, or has left by induction.
#[derive(Clone, Debug)]
pub(crate) struct LoopMark {
    iterator: ObjectId,
    is_inside: bool,
    depth: usize,
    /// The number of completed rounds before the current one.
    rounds: Term,
    start: Option<Term>,
    /// The locals that the loop changes, with their values before the loop.
    changed: Rc<Vec<(u32, Value)>>,
    /// Locals without a known value until they are set again.
    forgotten: Vec<u32>,
    claims: Rc<Vec<(u32, Claim)>>,
    shape: HeapSnapshot,
}

/// The items that the rounds of a loop receive.
enum LoopItems {
    /// The first item and the step.
    Numbers(Term, BigInt),
    /// Items of a list input: its name and their type.
    OfList(String, Rc<InputType>),
    /// Characters of a text input.
    Characters(String),
    /// Items with an index that starts at this number.
    Numbered(Term, Box<LoopItems>),
}

impl Machine {
    /// Handles the head of a loop. `None` if the next round runs as usual.
    pub(crate) fn loop_head(&mut self, iterator: &Value, exit: u32, code: &Rc<Code>) -> OrTrap<Option<Flow>> {
        let Value::Object(id) = iterator else { return Ok(None) };
        if self.nesting > 0 {
            return Ok(None);
        }
        let head = self.frame()?.pc;
        let which = (code.id, u32::try_from(head).unwrap_or(u32::MAX));
        if !self.is_symbolic {
            self.watch(which, *id);
            return Ok(None);
        }
        if self.induction.unrolled.contains(&which) {
            return Ok(None);
        }
        if let Some(mark) = self.state.marks.iter().rev().find(|mark| mark.iterator == *id).cloned() {
            return self.close_round(&mark, which);
        }
        let Some((count, items)) = self.rounds_of(*id) else { return Ok(None) };
        if !self.induction.is_on {
            self.induction.is_wanted = true;
            return Ok(None);
        }
        self.summarise(*id, count, items, (exit, which), code)
    }

    /// Records the integers of a round with known inputs.
    fn watch(&mut self, which: LoopId, iterator: ObjectId) {
        let Ok(frame) = self.frame() else { return };
        let row: Vec<Option<BigInt>> =
            frame
                .locals
                .iter()
                .map(|value| {
                    if let Some(Value::Int(Int::Known(value))) = value {
                        Some((**value).clone())
                    } else {
                        None
                    }
                })
                .collect();
        let start = match self.state.get(iterator) {
            Object::Iter(IteratorState::Range(Int::Known(start), _, _)) => Some((**start).clone()),
            _ => None,
        };
        let call = self.induction.call;
        let all = self.induction.watched.entry(which).or_default();
        let is_new = !all.last().is_some_and(|last| last.call == call && last.iterator == iterator);
        if is_new && all.len() < MOST_RUNS {
            all.push(LoopRun { call, iterator, rounds: LoopTrace { start, rows: vec![row] } });
        } else if let Some(last) = all.last_mut().filter(|_| !is_new)
            && last.rounds.rows.len() < MOST_ROUNDS
        {
            last.rounds.rows.push(row);
        }
    }

    /// The number of rounds over this iterator, and their items. `None` if the loop can be unrolled or may
    /// not terminate.
    fn rounds_of(&mut self, iterator: ObjectId) -> Option<(Term, LoopItems)> {
        let Object::Iter(iter) = self.state.share(iterator).as_ref().clone() else { return None };
        match iter {
            IteratorState::Range(start, stop, Int::Known(step)) if !step.is_zero() => {
                if start.known().is_some() && stop.known().is_some() {
                    return None;
                }
                let (start, stop) = (self.int_term(&start), self.int_term(&stop));
                let (low, high) = if step.is_positive() { (start, stop) } else { (stop, start) };
                let (size, rest) = (self.terms.int(step.abs()), self.terms.int(step.abs() - 1));
                let span = self.terms.sub(high, low);
                let span = self.terms.add(span, rest);
                let count = self.terms.floor_div(span, size);
                Some((count, LoopItems::Numbers(start, (*step).clone())))
            }
            IteratorState::Sequence(Value::Str(Str::Open(open)), at) => {
                let from = self.terms.int(at);
                let count = self.terms.sub(open.length, from);
                Some((count, LoopItems::Characters(format!("{}[{}:]", open.name, open.offset + at))))
            }
            IteratorState::Sequence(Value::Object(list), at) => {
                let Object::OpenList(open) = self.state.get(list).clone() else { return None };
                if !open.element.is_plain() {
                    return None;
                }
                let at = self.terms.int(at);
                let count = self.terms.sub(open.length, at);
                Some((count, LoopItems::OfList(open.name, open.element)))
            }
            IteratorState::Enumerate(Value::Object(inner), first) => {
                let (count, items) = self.rounds_of(inner)?;
                let first = self.int_term(&first);
                Some((count, LoopItems::Numbered(first, Box::new(items))))
            }
            _ => None,
        }
    }

    fn summarise(
        &mut self,
        iterator: ObjectId,
        count: Term,
        items: LoopItems,
        (exit, which): (u32, LoopId),
        code: &Rc<Code>,
    ) -> OrTrap<Option<Flow>> {
        let zero = self.terms.int(0);
        let is_over = self.terms.int_le(count, zero);
        if self.decide_term(is_over)? {
            return self.jump(exit).map(Some);
        }
        let head = which.1 as usize;
        let Some((target, stored)) = stored(code, head, exit as usize) else { return Ok(None) };
        let tag = format!("line {}, loop {}", self.line(), self.state.marks.len());
        let (mut changed, mut forgotten) = (Vec::new(), Vec::new());
        for local in &stored {
            match self.frame()?.locals.get(*local as usize).cloned().flatten() {
                Some(value @ (Value::Int(_) | Value::Bool(_) | Value::Float(_))) => {
                    changed.push((*local, value))
                }
                None => forgotten.push(*local),
                Some(_) => return Ok(None),
            }
        }
        let start = if let LoopItems::Numbers(start, _) = &items { Some(*start) } else { None };
        let claims = self.claims(which, code, &stored, target);
        let before =
            |local: u32| changed.iter().find(|(known, _)| *known == local).map(|(_, value)| value.clone());
        for (number, claim) in &claims {
            let Some(term) = self.claimed(claim, zero, start, &before, &before)? else {
                return Err(Trap::Refuted((which, *number)));
            };
            if !self.decide_term(term)? {
                return Err(Trap::Refuted((which, *number)));
            }
        }
        let inside = self.terms.var(&format!("inside {tag}"), Sort::Bool, Interval::ALL);
        let is_inside = self.decide_term(inside)?;
        let rounds = self.terms.var(&format!("rounds, {tag}"), Sort::Int, Interval::from(0));
        let done = if is_inside { rounds } else { count };
        let fresh: Vec<(u32, Value)> =
            changed.iter().map(|(local, value)| (*local, self.forget(code, *local, value, &tag))).collect();
        let now =
            |local: u32| fresh.iter().find(|(known, _)| *known == local).map(|(_, value)| value.clone());
        let mut assumed = if is_inside { self.terms.int_lt(rounds, count) } else { Terms::TRUE };
        for (number, claim) in &claims {
            let Some(term) = self.claimed(claim, done, start, &now, &before)? else {
                return Err(Trap::Refuted((which, *number)));
            };
            assumed = self.terms.and(assumed, term);
        }
        if !self.decide_term(assumed)? {
            return Err(Trap::Discard);
        }
        let item = if is_inside { Some(self.item_of_round(&items, rounds, &tag)?) } else { None };
        let last = match (&items, target) {
            (LoopItems::Numbers(first, step), Some(_)) => {
                let (one, step) = (self.terms.int(1), self.terms.int(step.clone()));
                let rounds = self.terms.sub(count, one);
                let distance = self.terms.mul(rounds, step);
                let last = self.terms.add(*first, distance);
                Some(self.int_value(last))
            }
            _ => None,
        };
        self.note_loop(&claims, code);
        let depth = self.state.frames.len();
        let locals = &mut self.frame_mut()?.locals;
        let mut set = |local: u32, value: Option<Value>| {
            if let Some(place) = locals.get_mut(local as usize) {
                *place = value;
            }
        };
        fresh.into_iter().for_each(|(local, value)| set(local, Some(value)));
        forgotten.iter().for_each(|local| set(*local, None));
        if let (Some(target), false) = (target, is_inside) {
            set(target, last.clone());
            if last.is_none() {
                forgotten.push(target);
            }
        }
        self.leave_iterator(iterator, if is_inside { IteratorState::Forgotten } else { IteratorState::Done });
        let shape = self.state.shape();
        let mark = LoopMark {
            iterator,
            is_inside,
            depth,
            rounds,
            start,
            changed: Rc::new(changed),
            forgotten,
            claims: Rc::new(claims),
            shape,
        };
        Rc::make_mut(&mut self.state.marks).push(mark);
        match item {
            Some(item) => {
                self.push(item)?;
                Ok(Some(Flow::Next))
            }
            None => self.jump(exit).map(Some),
        }
    }

    /// Advances the iterator: other references to it must see it as used.
    fn leave_iterator(&mut self, iterator: ObjectId, to: IteratorState) {
        if let Object::Iter(IteratorState::Enumerate(Value::Object(inner), _)) = self.state.get(iterator) {
            self.leave_iterator(*inner, to.clone());
        }
        self.state.set(iterator, Object::Iter(to));
    }

    /// Handles the return to the head after one round.
    fn close_round(&mut self, mark: &LoopMark, which: LoopId) -> OrTrap<Option<Flow>> {
        if !mark.is_inside
            || mark.depth != self.state.frames.len()
            || !self.state.is_unchanged_since(&mark.shape)
        {
            return Err(Trap::Unrolled(which));
        }
        let locals = self.frame()?.locals.clone();
        let now = |local: u32| locals.get(local as usize).cloned().flatten();
        for (local, before) in mark.changed.iter() {
            let is_same_kind = matches!(
                (before, now(*local)),
                (Value::Int(_), Some(Value::Int(_)))
                    | (Value::Bool(_), Some(Value::Bool(_)))
                    | (Value::Float(_), Some(Value::Float(_)))
            );
            if !is_same_kind {
                return Err(Trap::Unrolled(which));
            }
        }
        let before = |local: u32| {
            mark.changed.iter().find(|(known, _)| *known == local).map(|(_, value)| value.clone())
        };
        let one = self.terms.int(1);
        let rounds = self.terms.add(mark.rounds, one);
        for (number, claim) in mark.claims.iter() {
            let Some(term) = self.claimed(claim, rounds, mark.start, &now, &before)? else {
                return Err(Trap::Refuted((which, *number)));
            };
            if !self.decide_term(term)? {
                return Err(Trap::Refuted((which, *number)));
            }
        }
        Err(Trap::Closed)
    }

    /// Whether a local has no known value because a loop set it.
    pub(crate) fn is_forgotten(&self, local: u32) -> bool {
        let depth = self.state.frames.len();
        self.state.marks.iter().any(|mark| mark.depth == depth && mark.forgotten.contains(&local))
    }

    /// An unknown value of the same type.
    fn forget(&mut self, code: &Code, local: u32, value: &Value, tag: &str) -> Value {
        let name = code.locals.get(local as usize).map(ToString::to_string).unwrap_or_default();
        let name = format!("{name}, {tag}");
        match value {
            Value::Bool(_) => Value::Bool(Bool::Term(self.terms.var(&name, Sort::Bool, Interval::ALL))),
            Value::Float(_) => Value::Float(Float::Term(self.terms.var(&name, Sort::Float, Interval::ALL))),
            _ => Value::Int(Int::Term(self.terms.var(&name, Sort::Int, Interval::ALL))),
        }
    }

    fn item_of_round(&mut self, items: &LoopItems, rounds: Term, tag: &str) -> OrTrap<Value> {
        Ok(match items {
            LoopItems::Numbers(start, step) => {
                let step = self.terms.int(step.clone());
                let distance = self.terms.mul(rounds, step);
                let item = self.terms.add(*start, distance);
                self.int_value(item)
            }
            LoopItems::OfList(name, element) => self.make_input(&format!("{name}[{tag}]"), element)?,
            LoopItems::Characters(name) => {
                let name = format!("ord({name}[{tag}])");
                let point = self.terms.var(&name, Sort::Int, Interval::of(0, 0x10_FFFF));
                self.str_of_points(vec![point])
            }
            LoopItems::Numbered(first, items) => {
                let number = self.terms.add(*first, rounds);
                let item = self.item_of_round(items, rounds, tag)?;
                Value::tuple(vec![self.int_value(number), item])
            }
        })
    }

    fn claims(&self, which: LoopId, code: &Code, stored: &[u32], target: Option<u32>) -> Vec<(u32, Claim)> {
        let Some(watched) = self.induction.watched.get(&which) else { return Vec::new() };
        let runs: Vec<LoopTrace> = watched.iter().map(|one| one.rounds.clone()).collect();
        let all = 0..u32::try_from(code.locals.len()).unwrap_or(0);
        let fixed: Vec<u32> = all.filter(|local| !stored.contains(local) && Some(*local) != target).collect();
        let numbered = guesses(&runs, stored, &fixed).into_iter().enumerate();
        numbered
            .filter_map(|(number, claim)| Some((u32::try_from(number).ok()?, claim)))
            .filter(|(number, _)| !self.induction.refuted.contains(&(which, *number)))
            .collect()
    }

    /// A claim as a term. `None` if a local of the claim is not an integer here.
    fn claimed(
        &mut self,
        claim: &Claim,
        rounds: Term,
        start: Option<Term>,
        now: &dyn Fn(u32) -> Option<Value>,
        before: &dyn Fn(u32) -> Option<Value>,
    ) -> OrTrap<Option<Term>> {
        let locals = self.frame()?.locals.clone();
        let int = |machine: &mut Self, value: Option<Value>, local: u32| match value
            .or_else(|| locals.get(local as usize).cloned().flatten())
        {
            Some(Value::Int(value)) => Some(machine.int_term(&value)),
            _ => None,
        };
        let zero = self.terms.int(0);
        Ok(match claim {
            Claim::Sum { local, scale, parts } => {
                let (Some(value), Some(first)) =
                    (int(self, now(*local), *local), int(self, before(*local), *local))
                else {
                    return Ok(None);
                };
                let grown = self.terms.sub(value, first);
                let scale = self.terms.int(scale.clone());
                let left = self.terms.mul(grown, scale);
                let mut right = zero;
                for (coefficient, power, factor) in parts {
                    let mut part = match factor {
                        Factor::One => self.terms.int(1),
                        Factor::Start => match start {
                            Some(start) => start,
                            None => return Ok(None),
                        },
                        Factor::Local(local) => match int(self, None, *local) {
                            Some(term) => term,
                            None => return Ok(None),
                        },
                    };
                    for _ in 0..*power {
                        part = self.terms.mul(part, rounds);
                    }
                    let coefficient = self.terms.int(coefficient.clone());
                    let part = self.terms.mul(part, coefficient);
                    right = self.terms.add(right, part);
                }
                Some(self.terms.int_eq(left, right))
            }
            Claim::Ordered(a, b) => {
                let (a, b) = (int(self, now(*a), *a), int(self, now(*b), *b));
                a.zip(b).map(|(a, b)| self.terms.int_le(a, b))
            }
            Claim::NotBelowStart(local)
            | Claim::NotAboveStart(local)
            | Claim::NotNegative(local)
            | Claim::GrewByRounds(local) => {
                let (Some(value), Some(first)) =
                    (int(self, now(*local), *local), int(self, before(*local), *local))
                else {
                    return Ok(None);
                };
                Some(match claim {
                    Claim::NotBelowStart(_) => self.terms.int_le(first, value),
                    Claim::NotAboveStart(_) => self.terms.int_le(value, first),
                    Claim::NotNegative(_) => self.terms.int_le(zero, value),
                    _ => {
                        let most = self.terms.add(first, rounds);
                        self.terms.int_le(value, most)
                    }
                })
            }
        })
    }

    fn note_loop(&mut self, claims: &[(u32, Claim)], code: &Code) {
        let name = |local: u32| code.locals.get(local as usize).map_or("?", |name| &**name);
        let words: Vec<String> = claims.iter().map(|(_, claim)| describe_claims(claim, &name)).collect();
        let line = self.line();
        let text = match words.is_empty() {
            true => format!("the loop at line {line} by induction: what it changes may be anything"),
            false => format!("the loop at line {line} by induction, after k rounds: {}", words.join("; ")),
        };
        self.abstracted(&text);
    }
}

fn describe_claims<'n>(claim: &Claim, name: &dyn Fn(u32) -> &'n str) -> String {
    match claim {
        Claim::Sum { local, scale, parts } => {
            let part = |(coefficient, power, factor): &(BigInt, u32, Factor)| {
                let factor = match factor {
                    Factor::One => String::new(),
                    Factor::Start => "*first".to_owned(),
                    Factor::Local(local) => format!("*{}", name(*local)),
                };
                format!("{coefficient}*k**{power}{factor}")
            };
            let sum: Vec<String> = parts.iter().map(part).collect();
            let sum = if sum.is_empty() { "0".to_owned() } else { sum.join(" + ") };
            format!("{scale}*({0} - old {0}) == {sum}", name(*local))
        }
        Claim::NotBelowStart(local) => format!("{0} >= old {0}", name(*local)),
        Claim::NotAboveStart(local) => format!("{0} <= old {0}", name(*local)),
        Claim::NotNegative(local) => format!("{} >= 0", name(*local)),
        Claim::GrewByRounds(local) => format!("{0} <= old {0} + k", name(*local)),
        Claim::Ordered(a, b) => format!("{} <= {}", name(*a), name(*b)),
    }
}

/// The local that receives the items, if nothing else sets it, and all other locals that the loop sets.
/// `None` if the loop deletes locals.
fn stored(code: &Code, head: usize, exit: usize) -> Option<(Option<u32>, Vec<u32>)> {
    let body = code.ops.get(head + 1..exit)?;
    let mut stored: Vec<u32> = Vec::new();
    for op in body {
        match op {
            Op::StoreLocal(local) => stored.push(*local),
            Op::DelLocal(_) => return None,
            _ => {}
        }
    }
    let target = match body.first() {
        Some(Op::StoreLocal(local)) if stored.iter().filter(|known| *known == local).count() == 1 => {
            Some(*local)
        }
        _ => None,
    };
    stored.retain(|local| Some(*local) != target);
    stored.sort_unstable();
    stored.dedup();
    Some((target, stored))
}
