//! Iteration.

use std::rc::Rc;

use crate::explore::machine::{Machine, OrTrap, Trap, fits};
use crate::frontend::ir::{BinaryOp, CompareOp};
use crate::memory;
use crate::values::{Bool, Int, IteratorState, Object, ObjectId, Str, Value, ViewKind};

impl Machine {
    pub(crate) fn is_iterable(&mut self, value: &Value) -> OrTrap<bool> {
        Ok(match value {
            Value::Str(_) | Value::Bytes(_) | Value::Tuple(_) | Value::Range(_) => true,
            Value::Object(id) => match self.state.get(*id) {
                Object::List(_)
                | Object::OpenList(_)
                | Object::Dict(_)
                | Object::Set(_)
                | Object::FrozenSet(_)
                | Object::Deque(..)
                | Object::Iter(_)
                | Object::Generator(_)
                | Object::View(..) => true,
                Object::Instance(instance) => {
                    let payload = instance.payload.clone();
                    self.special(value, "__iter__")?.is_some()
                        || self.special(value, "__getitem__")?.is_some()
                        || (matches!(payload, Some(Value::Tuple(_) | Value::Str(_)))
                            && !self.is_exception(value))
                }
                _ => false,
            },
            Value::Type(crate::values::Type::User(id)) => self.enum_members(*id).is_some(),
            _ => false,
        })
    }

    /// `iter(value)`.
    pub(crate) fn iterator(&mut self, value: &Value) -> OrTrap<Value> {
        let iter = match value {
            Value::Str(_) | Value::Bytes(_) | Value::Tuple(_) => IteratorState::Sequence(value.clone(), 0),
            Value::Range(parts) => {
                let [start, stop, step] = (**parts).clone();
                IteratorState::Range(start, stop, step)
            }
            Value::Object(id) => match self.state.share(*id).as_ref() {
                Object::List(_) | Object::OpenList(_) | Object::Deque(..) => {
                    IteratorState::Sequence(value.clone(), 0)
                }
                Object::Dict(dict) => IteratorState::Dict(*id, ViewKind::Keys, 0, dict.entries.len()),
                Object::View(kind, dict) => {
                    let Object::Dict(found) = self.state.get(*dict) else { return Err(Trap::Bug("no dict")) };
                    IteratorState::Dict(*dict, *kind, 0, found.entries.len())
                }
                Object::Set(items) | Object::FrozenSet(items) => {
                    let items = self.in_set_order(items)?;
                    IteratorState::Items(Rc::new(items), 0)
                }
                Object::Iter(_) | Object::Generator(_) => return Ok(value.clone()),
                Object::Instance(instance) => {
                    if let Some(method) = self.special(value, "__iter__")? {
                        return self.call(&method, Vec::new(), Vec::new());
                    }
                    match &instance.payload {
                        Some(payload) if !self.is_exception(value) && !matches!(payload, Value::Int(_)) => {
                            return self.iterator(payload);
                        }
                        _ if self.special(value, "__getitem__")?.is_some() => {
                            return self.unsupported("iteration by __getitem__");
                        }
                        _ => return self.not_iterable(value),
                    }
                }
                _ => return self.not_iterable(value),
            },
            Value::Type(crate::values::Type::User(id)) => match self.enum_members(*id) {
                Some(members) => IteratorState::Items(Rc::new(members), 0),
                None => return self.not_iterable(value),
            },
            _ => return self.not_iterable(value),
        };
        Ok(self.object(Object::Iter(iter)))
    }

    fn not_iterable<T>(&mut self, value: &Value) -> OrTrap<T> {
        let name = self.type_name(value);
        self.raise("TypeError", format!("'{name}' object is not iterable"))
    }

    /// The next value of an iterator, or `None` if it is exhausted.
    pub(crate) fn next(&mut self, iterator: &Value) -> OrTrap<Option<Value>> {
        let Value::Object(id) = iterator else { return self.not_iterator(iterator) };
        match self.state.share(*id).as_ref() {
            Object::Iter(iter) => self.next_of(*id, iter.clone()),
            Object::Generator(_) => self.resume(*id, Value::None),
            Object::Instance(_) => match self.special(iterator, "__next__")? {
                Some(method) => match self.call(&method, Vec::new(), Vec::new()) {
                    Ok(value) => Ok(Some(value)),
                    Err(Trap::Raise(exception))
                        if self.is_instance_of(
                            &exception,
                            crate::values::BuiltinType::exception("StopIteration"),
                        ) =>
                    {
                        Ok(None)
                    }
                    Err(trap) => Err(trap),
                },
                None => self.not_iterator(iterator),
            },
            _ => self.not_iterator(iterator),
        }
    }

    fn not_iterator<T>(&mut self, value: &Value) -> OrTrap<T> {
        let name = self.type_name(value);
        self.raise("TypeError", format!("'{name}' object is not an iterator"))
    }

    fn set_iter(&mut self, id: ObjectId, iter: IteratorState) {
        self.state.set(id, Object::Iter(iter));
    }

    fn next_of(&mut self, id: ObjectId, iter: IteratorState) -> OrTrap<Option<Value>> {
        match iter {
            IteratorState::Done => Ok(None),
            IteratorState::Forgotten => self.unsupported("an iterator that a loop without a bound uses"),
            IteratorState::Items(items, at) => {
                let item = items.get(at).cloned();
                if item.is_some() {
                    self.set_iter(id, IteratorState::Items(items, at + 1));
                }
                Ok(item)
            }
            IteratorState::Sequence(source, at) => {
                let item = self.item_at(&source, at)?;
                let next = if item.is_some() {
                    IteratorState::Sequence(source, at + 1)
                } else {
                    IteratorState::Done
                };
                self.set_iter(id, next);
                Ok(item)
            }
            IteratorState::Range(current, stop, step) => self.next_of_range(id, &current, stop, step),
            IteratorState::Dict(dict, kind, at, size) => {
                let Object::Dict(found) = self.state.get(dict) else { return Err(Trap::Bug("no dict")) };
                if found.entries.len() != size {
                    return self.raise("RuntimeError", "dictionary changed size during iteration");
                }
                let Some((key, value)) = found.entries.get(at).cloned() else { return Ok(None) };
                self.set_iter(id, IteratorState::Dict(dict, kind, at + 1, size));
                Ok(Some(match kind {
                    ViewKind::Keys => key,
                    ViewKind::Values => value,
                    ViewKind::Items => Value::tuple(vec![key, value]),
                }))
            }
            IteratorState::Enumerate(inner, count) => {
                let Some(value) = self.next(&inner)? else { return Ok(None) };
                let next = self.binary(BinaryOp::Add, &Value::Int(count.clone()), &Value::int(1))?;
                let Value::Int(next) = next else { return Err(Trap::Bug("no count")) };
                self.set_iter(id, IteratorState::Enumerate(inner, next));
                Ok(Some(Value::tuple(vec![Value::Int(count), value])))
            }
            IteratorState::Zip(inners, strict) => self.next_of_zip(&inners, strict),
            IteratorState::Map(function, inners) => {
                let mut args = Vec::new();
                for inner in inners.iter() {
                    match self.next(inner)? {
                        Some(value) => args.push(value),
                        None => return Ok(None),
                    }
                }
                self.call(&function, args, Vec::new()).map(Some)
            }
            IteratorState::Filter(function, inner) => {
                while let Some(value) = self.next(&inner)? {
                    let keep = match &function {
                        Value::None => value.clone(),
                        function => self.call(function, vec![value.clone()], Vec::new())?,
                    };
                    if self.decide_value(&keep)? {
                        return Ok(Some(value));
                    }
                }
                Ok(None)
            }
            other => self.next_of_tool(id, other),
        }
    }

    fn next_of_range(&mut self, id: ObjectId, current: &Int, stop: Int, step: Int) -> OrTrap<Option<Value>> {
        let step_value = Value::Int(step.clone());
        let is_up = self.number_compare(CompareOp::Gt, &step_value, &Value::int(0))?;
        let op = if self.decide(is_up)? { CompareOp::Lt } else { CompareOp::Gt };
        let value = Value::Int(current.clone());
        let inside = self.number_compare(op, &value, &Value::Int(stop.clone()))?;
        if !self.decide(inside)? {
            return Ok(None);
        }
        let Value::Int(next) = self.binary(BinaryOp::Add, &value, &step_value)? else {
            return Err(Trap::Bug("no next"));
        };
        self.set_iter(id, IteratorState::Range(next, stop, step));
        Ok(Some(value))
    }

    fn next_of_zip(&mut self, inners: &Rc<Vec<Value>>, strict: bool) -> OrTrap<Option<Value>> {
        let mut values = Vec::new();
        for (index, inner) in inners.iter().enumerate() {
            match self.next(inner)? {
                Some(value) => values.push(value),
                None if strict && index > 0 => {
                    let text = format!("zip() argument {} is shorter than argument 1", index + 1);
                    return self.raise("ValueError", text);
                }
                None => {
                    if strict {
                        for (later, inner) in inners.iter().enumerate().skip(1) {
                            if self.next(inner)?.is_some() {
                                let text = format!("zip() argument {} is longer than argument 1", later + 1);
                                return self.raise("ValueError", text);
                            }
                        }
                    }
                    return Ok(None);
                }
            }
        }
        Ok(if values.is_empty() { None } else { Some(Value::tuple(values)) })
    }

    /// The item at an index of a sequence, or `None` past its end.
    fn item_at(&mut self, source: &Value, at: usize) -> OrTrap<Option<Value>> {
        Ok(match source {
            Value::Tuple(items) => items.get(at).cloned(),
            Value::Bytes(bytes) => bytes.get(at).map(|byte| Value::int(*byte)),
            Value::Str(Str::Known(points)) => points.get(at).map(|point| Value::points(vec![*point])),
            Value::Str(Str::Chars(points)) => {
                let point = points.get(at).copied();
                point.map(|point| self.str_of_points(vec![point]))
            }
            Value::Str(Str::Open(open)) => {
                let index = self.terms.int(at);
                let inside = self.terms.int_lt(index, open.length);
                if self.decide_term(inside)? {
                    let point = self.open_at(open, at);
                    Some(self.str_of_points(vec![point]))
                } else {
                    None
                }
            }
            Value::Object(id) => match self.state.share(*id).as_ref() {
                Object::List(items) | Object::Deque(items, _) => items.get(at).cloned(),
                Object::OpenList(open) => {
                    let index = self.terms.int(at);
                    let inside = self.terms.int_lt(index, open.length);
                    if self.decide_term(inside)? { Some(self.open_item(*id, at)?) } else { None }
                }
                _ => None,
            },
            _ => None,
        })
    }

    /// All values of an iterable.
    pub(crate) fn collect(&mut self, value: &Value) -> OrTrap<Vec<Value>> {
        match value {
            Value::Tuple(items) => return Ok(items.to_vec()),
            Value::Object(id) => match self.state.get(*id) {
                Object::List(items) | Object::Deque(items, _) => return Ok(items.clone()),
                Object::OpenList(_) => {
                    self.close_list(*id)?;
                    return self.collect(value);
                }
                _ => {}
            },
            _ => {}
        }
        let iterator = self.iterator(value)?;
        let mut items = Vec::new();
        while let Some(item) = self.next(&iterator)? {
            items.push(item);
            self.tick()?;
            fits(items.len())?;
        }
        Ok(items)
    }

    /// Like `collect`, for uses that do not depend on the order.
    pub(crate) fn collect_unordered(&mut self, value: &Value) -> OrTrap<Vec<Value>> {
        if let Value::Object(id) = value
            && let Object::Set(items) | Object::FrozenSet(items) = self.state.get(*id)
        {
            return Ok(items.clone());
        }
        self.collect(value)
    }

    /// Counts a step of a loop that runs inside one instruction.
    pub(crate) fn tick(&mut self) -> OrTrap<()> {
        self.steps += 1;
        self.state.steps += 1;
        if self.steps >= self.step_limit || memory::is_exhausted() { Err(Trap::Pause) } else { Ok(()) }
    }

    pub(crate) fn unpack(&mut self, value: &Value, count: usize) -> OrTrap<Vec<Value>> {
        if !self.is_iterable(value)?
            && !matches!(value, Value::Object(id) if matches!(self.state.get(*id), Object::Instance(_)))
        {
            let name = self.type_name(value);
            return self.raise("TypeError", format!("cannot unpack non-iterable {name} object"));
        }
        let iterator = self.iterator(value)?;
        let mut items = Vec::new();
        while items.len() < count {
            match self.next(&iterator)? {
                Some(item) => items.push(item),
                None => {
                    let found = items.len();
                    let text = format!("not enough values to unpack (expected {count}, got {found})");
                    return self.raise("ValueError", text);
                }
            }
        }
        if self.next(&iterator)?.is_some() {
            return self.raise("ValueError", format!("too many values to unpack (expected {count})"));
        }
        Ok(items)
    }

    pub(crate) fn unpack_star(&mut self, value: &Value, before: usize, after: usize) -> OrTrap<Vec<Value>> {
        if !self.is_iterable(value)? {
            let name = self.type_name(value);
            return self.raise("TypeError", format!("cannot unpack non-iterable {name} object"));
        }
        let mut items = self.collect(value)?;
        if items.len() < before + after {
            let (wanted, found) = (before + after, items.len());
            let text = format!("not enough values to unpack (expected at least {wanted}, got {found})");
            return self.raise("ValueError", text);
        }
        let tail = items.split_off(items.len() - after);
        let middle = items.split_off(before);
        let middle = self.list(middle);
        items.push(middle);
        items.extend(tail);
        Ok(items)
    }

    pub(crate) fn range_contains(&mut self, range: &Value, item: &Value) -> OrTrap<Bool> {
        let Value::Range(parts) = range else { return Err(Trap::Bug("no range")) };
        let [start, stop, step] = (**parts).clone();
        let (start, stop) = (Value::Int(start), Value::Int(stop));
        let is_up = self.number_compare(CompareOp::Gt, &Value::Int(step.clone()), &Value::int(0))?;
        let (low, high) =
            if self.decide(is_up)? { (CompareOp::Le, CompareOp::Lt) } else { (CompareOp::Ge, CompareOp::Gt) };
        let after = self.number_compare(low, &start, item)?;
        let before = self.number_compare(high, item, &stop)?;
        let inside = self.both(after, before);
        let distance = self.binary(BinaryOp::Sub, item, &start)?;
        let rest = self.binary(BinaryOp::Mod, &distance, &Value::Int(step))?;
        let fits = self.number_compare(CompareOp::Eq, &rest, &Value::int(0))?;
        Ok(self.both(inside, fits))
    }
}
