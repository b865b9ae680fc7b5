//! `itertools`.

use std::rc::Rc;

use crate::explore::calls::Keywords;
use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::frontend::ir::BinaryOp;
use crate::values::{IteratorState, Object, ObjectId, Value};

/// Maximum number of items of a combinatoric function.
const MOST: usize = 100_000;

impl Machine {
    pub(super) fn call_itertools(
        &mut self,
        name: &'static str,
        args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<Value> {
        let named = |wanted: &str| {
            keywords.iter().find(|(name, _)| &**name == wanted).map(|(_, value)| value.clone())
        };
        let iter = match (name, args.as_slice()) {
            ("itertools.chain", sources) => IteratorState::Chain(Rc::new(sources.to_vec()), 0),
            ("itertools.chain.from_iterable", [_]) => {
                return self.call_library("itertools", "_from_iterable", args);
            }
            ("itertools.count", parts) => {
                let start =
                    parts.first().cloned().or_else(|| named("start")).unwrap_or_else(|| Value::int(0));
                let step = parts.get(1).cloned().or_else(|| named("step")).unwrap_or_else(|| Value::int(1));
                match (self.as_index(&start), self.as_index(&step)) {
                    (Some(start), Some(step)) => IteratorState::Count(start, step),
                    _ => return self.call_library("itertools", "count", vec![start, step]),
                }
            }
            ("itertools.repeat", [value, rest @ ..]) => {
                let times = match rest.first().cloned().or_else(|| named("times")) {
                    Some(times) => self.small_count(&times)?.or(Some(0)),
                    None => None,
                };
                IteratorState::Repeat(value.clone(), times)
            }
            ("itertools.takewhile", [function, items]) => {
                IteratorState::TakeWhile(function.clone(), self.iterator(items)?)
            }
            ("itertools.dropwhile", [function, items]) => {
                IteratorState::DropWhile(function.clone(), self.iterator(items)?, false)
            }
            ("itertools.accumulate", [items, rest @ ..]) => {
                let function =
                    rest.first().cloned().or_else(|| named("func")).filter(|value| !value.is_none());
                let initial = named("initial").filter(|value| !value.is_none());
                IteratorState::Accumulate(self.iterator(items)?, function, initial, false)
            }
            ("itertools.starmap", [function, items]) => {
                IteratorState::StarMap(function.clone(), self.iterator(items)?)
            }
            ("itertools.product", sources) => {
                let mut pools = Vec::new();
                for source in sources {
                    pools.push(self.collect(source)?);
                }
                if let Some(times) = named("repeat") {
                    let times = self.small_count(&times)?.unwrap_or(0);
                    pools = pools.iter().cloned().cycle().take(pools.len() * times).collect();
                }
                self.make_iterator(product(&pools))?
            }
            ("itertools.permutations", [items, rest @ ..]) => {
                let items = self.collect(items)?;
                let count = self.select_items(rest.first().cloned().or_else(|| named("r")), items.len())?;
                self.make_iterator(selections(&items, count, SelectionKind::Permutation))?
            }
            ("itertools.combinations" | "itertools.combinations_with_replacement", [items, count]) => {
                let items = self.collect(items)?;
                let count = self.select_items(Some(count.clone()), items.len())?;
                let how = if name.ends_with("replacement") {
                    SelectionKind::Repetition
                } else {
                    SelectionKind::Combination
                };
                self.make_iterator(selections(&items, count, how))?
            }
            _ => return self.unsupported(format!("this call of {name}")),
        };
        Ok(self.object(Object::Iter(iter)))
    }

    fn make_iterator(&mut self, items: Option<Vec<Vec<Value>>>) -> OrTrap<IteratorState> {
        match items {
            Some(items) => {
                Ok(IteratorState::Items(Rc::new(items.into_iter().map(Value::tuple).collect()), 0))
            }
            None => Err(Trap::Bound("a hundred thousand combinations".to_owned())),
        }
    }

    fn select_items(&mut self, count: Option<Value>, default: usize) -> OrTrap<usize> {
        match count {
            None | Some(Value::None) => Ok(default),
            Some(count) => match self.small_count(&count)? {
                Some(count) => Ok(count),
                None => self.raise("ValueError", "r must be non-negative"),
            },
        }
    }

    /// The next item of an iterator of this module.
    pub(in crate::explore) fn next_of_tool(
        &mut self,
        id: ObjectId,
        iter: IteratorState,
    ) -> OrTrap<Option<Value>> {
        let (item, next) = match iter {
            IteratorState::Calls(function, sentinel) => {
                let value = self.call(&function, Vec::new(), Vec::new())?;
                let done = self.same_or_equal(&value, &sentinel)?;
                if self.decide(done)? {
                    (None, IteratorState::Done)
                } else {
                    (Some(value), IteratorState::Calls(function, sentinel))
                }
            }
            IteratorState::Count(current, step) => {
                let value = Value::Int(current);
                let Value::Int(next) = self.binary(BinaryOp::Add, &value, &Value::Int(step.clone()))? else {
                    return Err(Trap::Bug("no count"));
                };
                (Some(value), IteratorState::Count(next, step))
            }
            IteratorState::Repeat(_, Some(0)) => (None, IteratorState::Done),
            IteratorState::Repeat(value, times) => {
                (Some(value.clone()), IteratorState::Repeat(value, times.map(|times| times - 1)))
            }
            IteratorState::Chain(sources, at) => return self.next_of_chain(id, &sources, at),
            IteratorState::TakeWhile(function, inner) => match self.next(&inner)? {
                Some(item) => {
                    let keep = self.call(&function, vec![item.clone()], Vec::new())?;
                    if self.decide_value(&keep)? {
                        (Some(item), IteratorState::TakeWhile(function, inner))
                    } else {
                        (None, IteratorState::Done)
                    }
                }
                None => (None, IteratorState::Done),
            },
            IteratorState::DropWhile(function, inner, started) => loop {
                let Some(item) = self.next(&inner)? else { break (None, IteratorState::Done) };
                if !started {
                    let skip = self.call(&function, vec![item.clone()], Vec::new())?;
                    if self.decide_value(&skip)? {
                        continue;
                    }
                }
                break (Some(item), IteratorState::DropWhile(function, inner, true));
            },
            IteratorState::Accumulate(inner, function, total, started) => {
                if let (Some(initial), false) = (&total, started) {
                    let first = initial.clone();
                    (Some(first.clone()), IteratorState::Accumulate(inner, function, Some(first), true))
                } else {
                    match self.next(&inner)? {
                        None => (None, IteratorState::Done),
                        Some(item) => {
                            let next = match (&total, &function) {
                                (None, _) => item,
                                (Some(total), None) => self.binary(BinaryOp::Add, total, &item)?,
                                (Some(total), Some(function)) => {
                                    self.call(function, vec![total.clone(), item], Vec::new())?
                                }
                            };
                            (Some(next.clone()), IteratorState::Accumulate(inner, function, Some(next), true))
                        }
                    }
                }
            }
            IteratorState::StarMap(function, inner) => match self.next(&inner)? {
                Some(args) => {
                    let args = self.collect(&args)?;
                    (Some(self.call(&function, args, Vec::new())?), IteratorState::StarMap(function, inner))
                }
                None => (None, IteratorState::Done),
            },
            _ => return Err(Trap::Bug("no such iterator")),
        };
        self.state.set(id, Object::Iter(next));
        Ok(item)
    }

    fn next_of_chain(&mut self, id: ObjectId, sources: &Rc<Vec<Value>>, at: usize) -> OrTrap<Option<Value>> {
        let mut sources = sources.clone();
        let mut at = at;
        loop {
            let Some(source) = sources.get(at).cloned() else { return Ok(None) };
            let iterator = self.iterator(&source)?;
            if let Some(place) = Rc::make_mut(&mut sources).get_mut(at) {
                *place = iterator.clone();
            }
            self.state.set(id, Object::Iter(IteratorState::Chain(sources.clone(), at)));
            if let Some(item) = self.next(&iterator)? {
                return Ok(Some(item));
            }
            at += 1;
            self.state.set(id, Object::Iter(IteratorState::Chain(sources.clone(), at)));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SelectionKind {
    Permutation,
    Combination,
    Repetition,
}

fn product(pools: &[Vec<Value>]) -> Option<Vec<Vec<Value>>> {
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for pool in pools {
        if rows.len().saturating_mul(pool.len()) > MOST {
            return None;
        }
        rows = rows
            .iter()
            .flat_map(|row| pool.iter().map(|item| [row.as_slice(), std::slice::from_ref(item)].concat()))
            .collect();
    }
    Some(rows)
}

fn selections(items: &[Value], count: usize, how: SelectionKind) -> Option<Vec<Vec<Value>>> {
    let mut rows: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..count {
        let mut next = Vec::new();
        for row in &rows {
            let from = match how {
                SelectionKind::Permutation => 0,
                SelectionKind::Combination => row.last().map_or(0, |last| last + 1),
                SelectionKind::Repetition => row.last().copied().unwrap_or(0),
            };
            for place in from..items.len() {
                if how == SelectionKind::Permutation && row.contains(&place) {
                    continue;
                }
                next.push([row.as_slice(), &[place]].concat());
                if next.len() > MOST {
                    return None;
                }
            }
        }
        rows = next;
    }
    Some(rows.iter().map(|row| crate::explore::collections::subscripts::pick(items, row)).collect())
}
