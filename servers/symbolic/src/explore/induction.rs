//! Loops without a bound, by induction.
//!
//! At the head of a loop over something finite but unbounded, everything the loop changes is forgotten but for a few claims
//! ([`super::invariants`]). Two paths go on from there: one that makes a single round, whichever it is, and has to come back to
//! the head with the claims intact; and one that leaves the loop with all rounds done. The claims hold before the first
//! round, or they are dropped. So every round of every call is covered, and what follows the loop knows no more than was
//! proven. Loops that end by themselves are the only ones taken: termination is part of what is proven.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use num_bigint::BigInt;
use num_traits::{Signed, Zero};

use super::inputs::InputType;
use super::invariants::{Claim, Factor, Rounds, guesses};
use super::machine::{Machine, R, Trap};
use super::run::Flow;
use super::state::Shape;
use crate::ir::{Code, Op};
use crate::terms::{Interval, Sort, Term, Terms};
use crate::values::{Float, Int, Iter, Object, ObjectId, Str, Truth, Value};

/// A loop: its code, and where its head is.
pub(crate) type LoopId = (u32, u32);

/// A claim about a loop, by its place among the guesses.
pub(crate) type ClaimId = (LoopId, u32);

/// Calls and rounds of a loop that are watched.
const MOST_RUNS: usize = 24;
const MOST_ROUNDS: usize = 10;

/// What is known about loops from one exploration to the next.
#[derive(Default, Debug)]
pub(crate) struct Induction {
    pub(crate) is_on: bool,
    /// Whether there was anything that induction could be tried on.
    pub(crate) is_wanted: bool,
    pub(crate) refuted: HashSet<ClaimId>,
    pub(crate) unrolled: HashSet<LoopId>,
    /// Counts the calls with known inputs.
    pub(crate) call: u64,
    watched: HashMap<LoopId, Vec<Watched>>,
}

#[derive(Debug)]
struct Watched {
    call: u64,
    iterator: ObjectId,
    rounds: Rounds,
}

/// A loop on a path.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    iterator: ObjectId,
    is_inside: bool,
    depth: usize,
    /// Rounds done before the one that is made.
    rounds: Term,
    start: Option<Term>,
    /// What the loop changes, and what it was before the loop.
    changed: Rc<Vec<(u32, Value)>>,
    /// Locals of which nothing is known until they are set again.
    forgotten: Vec<u32>,
    claims: Rc<Vec<(u32, Claim)>>,
    shape: Shape,
}

/// What the rounds of a loop are given.
enum Items {
    /// First item and distance.
    Numbers(Term, BigInt),
    /// Of a list input: its name, and the type of its items.
    OfList(String, Rc<InputType>),
    /// Of a text input.
    Letters(String),
    /// With numbers, from this one on.
    Numbered(Term, Box<Items>),
}

impl Machine {
    /// At the head of a loop. `None` when the next round is made as usual.
    pub(super) fn loop_head(&mut self, iterator: &Value, exit: u32, code: &Rc<Code>) -> R<Option<Flow>> {
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

    /// Remembers the integers of a round with known inputs.
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
            Object::Iter(Iter::Range(Int::Known(start), _, _)) => Some((**start).clone()),
            _ => None,
        };
        let call = self.induction.call;
        let all = self.induction.watched.entry(which).or_default();
        let is_new = !all.last().is_some_and(|last| last.call == call && last.iterator == iterator);
        if is_new && all.len() < MOST_RUNS {
            all.push(Watched { call, iterator, rounds: Rounds { start, rows: vec![row] } });
        } else if let Some(last) = all.last_mut().filter(|_| !is_new)
            && last.rounds.rows.len() < MOST_ROUNDS
        {
            last.rounds.rows.push(row);
        }
    }

    /// How many rounds a loop over this iterator makes, and what they are given. `None` when it can be unrolled, or is
    /// nothing that surely ends.
    fn rounds_of(&mut self, iterator: ObjectId) -> Option<(Term, Items)> {
        let Object::Iter(iter) = self.state.share(iterator).as_ref().clone() else { return None };
        match iter {
            Iter::Range(start, stop, Int::Known(step)) if !step.is_zero() => {
                if start.known().is_some() && stop.known().is_some() {
                    return None;
                }
                let (start, stop) = (self.int_term(&start), self.int_term(&stop));
                let (low, high) = if step.is_positive() { (start, stop) } else { (stop, start) };
                let (size, rest) = (self.terms.int(step.abs()), self.terms.int(step.abs() - 1));
                let span = self.terms.sub(high, low);
                let span = self.terms.add(span, rest);
                let count = self.terms.floor_div(span, size);
                Some((count, Items::Numbers(start, (*step).clone())))
            }
            Iter::Sequence(Value::Str(Str::Open(open)), at) => {
                let from = self.terms.int(at);
                let count = self.terms.sub(open.length, from);
                Some((count, Items::Letters(format!("{}[{}:]", open.name, open.offset + at))))
            }
            Iter::Sequence(Value::Object(list), at) => {
                let Object::OpenList(open) = self.state.get(list).clone() else { return None };
                if !open.element.is_plain() {
                    return None;
                }
                let at = self.terms.int(at);
                let count = self.terms.sub(open.length, at);
                Some((count, Items::OfList(open.name, open.element)))
            }
            Iter::Enumerate(Value::Object(inner), first) => {
                let (count, items) = self.rounds_of(inner)?;
                let first = self.int_term(&first);
                Some((count, Items::Numbered(first, Box::new(items))))
            }
            _ => None,
        }
    }

    fn summarise(
        &mut self,
        iterator: ObjectId,
        count: Term,
        items: Items,
        (exit, which): (u32, LoopId),
        code: &Rc<Code>,
    ) -> R<Option<Flow>> {
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
        let start = if let Items::Numbers(start, _) = &items { Some(*start) } else { None };
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
            (Items::Numbers(first, step), Some(_)) => {
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
        self.leave_iterator(iterator, if is_inside { Iter::Forgotten } else { Iter::Done });
        let shape = self.state.shape();
        let mark = Mark {
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

    /// The iterator may be held by somebody else too, who must not take it for unused.
    fn leave_iterator(&mut self, iterator: ObjectId, to: Iter) {
        if let Object::Iter(Iter::Enumerate(Value::Object(inner), _)) = self.state.get(iterator) {
            self.leave_iterator(*inner, to.clone());
        }
        self.state.set(iterator, Object::Iter(to));
    }

    /// Back at the head after one round.
    fn close_round(&mut self, mark: &Mark, which: LoopId) -> R<Option<Flow>> {
        if !mark.is_inside || mark.depth != self.state.frames.len() || !self.state.has_kept(&mark.shape) {
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

    /// Whether nothing is known of a local any more because a loop set it.
    pub(super) fn is_forgotten(&self, local: u32) -> bool {
        let depth = self.state.frames.len();
        self.state.marks.iter().any(|mark| mark.depth == depth && mark.forgotten.contains(&local))
    }

    /// A value of the same kind of which nothing is known.
    fn forget(&mut self, code: &Code, local: u32, value: &Value, tag: &str) -> Value {
        let name = code.locals.get(local as usize).map(ToString::to_string).unwrap_or_default();
        let name = format!("{name}, {tag}");
        match value {
            Value::Bool(_) => Value::Bool(Truth::Term(self.terms.var(&name, Sort::Bool, Interval::ALL))),
            Value::Float(_) => Value::Float(Float::Term(self.terms.var(&name, Sort::Float, Interval::ALL))),
            _ => Value::Int(Int::Term(self.terms.var(&name, Sort::Int, Interval::ALL))),
        }
    }

    fn item_of_round(&mut self, items: &Items, rounds: Term, tag: &str) -> R<Value> {
        Ok(match items {
            Items::Numbers(start, step) => {
                let step = self.terms.int(step.clone());
                let distance = self.terms.mul(rounds, step);
                let item = self.terms.add(*start, distance);
                self.int_value(item)
            }
            Items::OfList(name, element) => self.make_input(&format!("{name}[{tag}]"), element)?,
            Items::Letters(name) => {
                let name = format!("ord({name}[{tag}])");
                let point = self.terms.var(&name, Sort::Int, Interval::of(0, 0x10_FFFF));
                self.str_of_points(vec![point])
            }
            Items::Numbered(first, items) => {
                let number = self.terms.add(*first, rounds);
                let item = self.item_of_round(items, rounds, tag)?;
                Value::tuple(vec![self.int_value(number), item])
            }
        })
    }

    fn claims(&self, which: LoopId, code: &Code, stored: &[u32], target: Option<u32>) -> Vec<(u32, Claim)> {
        let Some(watched) = self.induction.watched.get(&which) else { return Vec::new() };
        let runs: Vec<Rounds> = watched.iter().map(|one| one.rounds.clone()).collect();
        let all = 0..u32::try_from(code.locals.len()).unwrap_or(0);
        let fixed: Vec<u32> = all.filter(|local| !stored.contains(local) && Some(*local) != target).collect();
        let numbered = guesses(&runs, stored, &fixed).into_iter().enumerate();
        numbered
            .filter_map(|(number, claim)| Some((u32::try_from(number).ok()?, claim)))
            .filter(|(number, _)| !self.induction.refuted.contains(&(which, *number)))
            .collect()
    }

    /// A claim as a term. `None` when a local it speaks of is no integer here.
    fn claimed(
        &mut self,
        claim: &Claim,
        rounds: Term,
        start: Option<Term>,
        now: &dyn Fn(u32) -> Option<Value>,
        before: &dyn Fn(u32) -> Option<Value>,
    ) -> R<Option<Term>> {
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
        let words: Vec<String> = claims.iter().map(|(_, claim)| in_words(claim, &name)).collect();
        let line = self.line();
        let text = match words.is_empty() {
            true => format!("the loop at line {line} by induction: what it changes may be anything"),
            false => format!("the loop at line {line} by induction, after k rounds: {}", words.join("; ")),
        };
        self.abstracted(&text);
    }
}

fn in_words<'n>(claim: &Claim, name: &dyn Fn(u32) -> &'n str) -> String {
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

/// The local that gets the items, when nothing else sets it, and every other local the loop sets. `None` when the loop
/// deletes locals.
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
