//! Methods and construction of dicts.

use crate::explore::calls::Keywords;
use crate::explore::machine::{Machine, OrTrap, Trap, fits};
use crate::frontend::ir::{BinaryOp, CompareOp};
use crate::values::{BuiltinType, Dict, DictKind, Object, ObjectId, Value, ViewKind};

impl Machine {
    pub(super) fn dict_method(
        &mut self,
        dict: &Value,
        name: &str,
        args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<Value> {
        let Value::Object(id) = dict else { return Err(Trap::Bug("no dict")) };
        let Object::Dict(Dict { entries, kind }) = self.state.get(*id).clone() else {
            return Err(Trap::Bug("no dict"));
        };
        if matches!(kind, DictKind::Ordered) && matches!(name, "move_to_end" | "popitem") {
            return self.ordered_method(*id, name, &args, &keywords);
        }
        match (name, args.as_slice()) {
            ("get", [key, rest @ ..]) => {
                self.check_hashable(key)?;
                let place = self.key_position(&entries, key)?;
                let found = place.and_then(|place| entries.get(place)).map(|(_, value)| value.clone());
                Ok(found.or_else(|| rest.first().cloned()).unwrap_or(Value::None))
            }
            ("keys", []) => Ok(self.object(Object::View(ViewKind::Keys, *id))),
            ("values", []) => Ok(self.object(Object::View(ViewKind::Values, *id))),
            ("items", []) => Ok(self.object(Object::View(ViewKind::Items, *id))),
            ("pop", [key, rest @ ..]) => {
                self.check_hashable(key)?;
                match self.key_position(&entries, key)? {
                    Some(place) => match self.state.change(*id) {
                        Some(Object::Dict(dict)) if place < dict.entries.len() => {
                            Ok(dict.entries.remove(place).1)
                        }
                        _ => Err(Trap::Bug("no entry")),
                    },
                    None => match rest.first() {
                        Some(default) => Ok(default.clone()),
                        None => self.raise_with("KeyError", vec![key.clone()]),
                    },
                }
            }
            ("popitem", []) => match self.state.change(*id) {
                Some(Object::Dict(dict)) => match dict.entries.pop() {
                    Some((key, value)) => Ok(Value::tuple(vec![key, value])),
                    None => self.raise("KeyError", "popitem(): dictionary is empty"),
                },
                _ => Err(Trap::Bug("no dict")),
            },
            ("setdefault", [key, rest @ ..]) => {
                self.check_hashable(key)?;
                let place = self.key_position(&entries, key)?;
                match place.and_then(|place| entries.get(place)) {
                    Some((_, value)) => Ok(value.clone()),
                    None => {
                        let value = rest.first().cloned().unwrap_or(Value::None);
                        self.dict_set(dict, key, value.clone())?;
                        Ok(value)
                    }
                }
            }
            ("update" | "subtract", args @ ([] | [_])) => {
                let mut more = match args.first() {
                    Some(other) if matches!(kind, DictKind::Counter) => self.counts_of(other)?,
                    Some(other) => self.entries_of(other)?,
                    None => Vec::new(),
                };
                more.extend(keywords.iter().map(|(name, value)| (Value::text(name), value.clone())));
                for (key, value) in more {
                    if matches!(kind, DictKind::Counter) {
                        let op = if name == "update" { BinaryOp::Add } else { BinaryOp::Sub };
                        let before = self.subscript(dict, &key)?;
                        let after = self.binary(op, &before, &value)?;
                        self.dict_set(dict, &key, after)?;
                    } else {
                        self.dict_set(dict, &key, value)?;
                    }
                }
                Ok(Value::None)
            }
            ("clear", []) => {
                self.state.set(*id, Object::Dict(Dict { entries: Vec::new(), kind }));
                Ok(Value::None)
            }
            ("copy", []) => Ok(self.object(Object::Dict(Dict { entries, kind }))),
            ("most_common", args @ ([] | [_])) => {
                let pairs =
                    entries.into_iter().map(|(key, value)| (value.clone(), Value::tuple(vec![key, value])));
                let (keys, items): (Vec<Value>, Vec<Value>) = pairs.unzip();
                let sorted = self.sort_by(keys, items)?;
                let count = match args.first() {
                    Some(count) if !count.is_none() => self.small_count(count)?.unwrap_or(0),
                    _ => usize::MAX,
                };
                let items = sorted.into_iter().take(count).collect();
                Ok(self.list(items))
            }
            ("elements", []) => {
                let mut items = Vec::new();
                for (key, count) in entries {
                    let count = self.small_count(&count)?.unwrap_or(0);
                    fits(items.len().saturating_add(count))?;
                    items.extend(std::iter::repeat_n(key, count));
                }
                let items = self.list(items);
                self.iterator(&items)
            }
            ("total", []) => {
                let mut total = Value::int(0);
                for (_, count) in entries {
                    total = self.binary(BinaryOp::Add, &total, &count)?;
                }
                Ok(total)
            }
            _ => self.unsupported(format!("dict.{name}")),
        }
    }

    /// Sorts items by their keys, in descending order. Equal ones keep their order.
    fn sort_by(&mut self, keys: Vec<Value>, items: Vec<Value>) -> OrTrap<Vec<Value>> {
        let mut left: Vec<(Value, Value)> = keys.into_iter().zip(items).collect();
        let mut sorted: Vec<(Value, Value)> = Vec::new();
        for (key, item) in left.drain(..) {
            let mut at = sorted.len();
            while let Some((before, _)) = at.checked_sub(1).and_then(|place| sorted.get(place)) {
                if self.is_less(&before.clone(), &key)? {
                    at -= 1;
                } else {
                    break;
                }
            }
            sorted.insert(at, (key, item));
        }
        Ok(sorted.into_iter().map(|(_, item)| item).collect())
    }

    /// The counts that `Counter` takes from a mapping or an iterable.
    fn counts_of(&mut self, value: &Value) -> OrTrap<Vec<(Value, Value)>> {
        if let Value::Object(id) = value
            && let Object::Dict(dict) = self.state.get(*id)
        {
            return Ok(dict.entries.clone());
        }
        Ok(self.collect(value)?.into_iter().map(|item| (item, Value::int(1))).collect())
    }

    pub(in crate::explore) fn construct_dict(
        &mut self,
        kind: BuiltinType,
        mut args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<Value> {
        let dict_kind = match kind {
            BuiltinType::DefaultDict => {
                DictKind::Default(if args.is_empty() { Value::None } else { args.remove(0) })
            }
            BuiltinType::Counter => DictKind::Counter,
            BuiltinType::OrderedDict => DictKind::Ordered,
            _ => DictKind::Plain,
        };
        let dict = self.object(Object::Dict(Dict { entries: Vec::new(), kind: dict_kind }));
        if args.len() > 1 {
            return self.wrong_arguments(kind.name());
        }
        self.dict_method(&dict, "update", args, keywords)?;
        Ok(dict)
    }

    pub(in crate::explore) fn construct_deque(
        &mut self,
        args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<Value> {
        let most = args.get(1).cloned().or_else(|| keywords.first().map(|(_, value)| value.clone()));
        let most = match most {
            None | Some(Value::None) => None,
            Some(most) => self.small_count(&most)?,
        };
        let mut items = match args.first() {
            Some(items) => self.collect(items)?,
            None => Vec::new(),
        };
        if let Some(most) = most
            && items.len() > most
        {
            items.drain(..items.len() - most);
        }
        Ok(self.object(Object::Deque(items, most)))
    }

    /// `+=` and similar operators. The counter stays the same object. The right operand must be a counter too.
    pub(in crate::explore) fn counter_in_place(
        &mut self,
        op: BinaryOp,
        left: &Value,
        right: &Value,
    ) -> OrTrap<Value> {
        let (Value::Object(a), Value::Object(b)) = (left, right) else {
            return self.unsupported("this change of a counter");
        };
        let (Object::Dict(one), Object::Dict(two)) = (self.state.get(*a).clone(), self.state.get(*b).clone())
        else {
            return self.unsupported("this change of a counter");
        };
        if !matches!(two.kind, DictKind::Counter) {
            return self.unsupported("this change of a counter");
        }
        if let Some(Value::Object(made)) = self.counter_operation(op, &one.entries, &two.entries)? {
            let made = self.state.get(made).clone();
            self.state.set(*a, made);
        }
        Ok(left.clone())
    }

    /// `move_to_end` and `popitem` of an `OrderedDict`.
    fn ordered_method(
        &mut self,
        id: ObjectId,
        name: &str,
        args: &[Value],
        keywords: &Keywords,
    ) -> OrTrap<Value> {
        let Object::Dict(Dict { mut entries, kind }) = self.state.get(id).clone() else {
            return Err(Trap::Bug("no dict"));
        };
        let is_move = name == "move_to_end";
        let last = args
            .get(usize::from(is_move))
            .or_else(|| keywords.iter().find(|(name, _)| &**name == "last").map(|(_, value)| value));
        let is_last = match last.cloned() {
            Some(last) => self.decide_value(&last)?,
            None => true,
        };
        let place = match args.first().filter(|_| is_move) {
            Some(key) => {
                self.check_hashable(key)?;
                match self.key_position(&entries, key)? {
                    Some(place) => place,
                    None => return self.raise_with("KeyError", vec![key.clone()]),
                }
            }
            None if is_move => return self.wrong_arguments(name),
            None if entries.is_empty() => return self.raise("KeyError", "dictionary is empty"),
            None if is_last => entries.len() - 1,
            None => 0,
        };
        let (key, value) = entries.remove(place);
        if is_move {
            let to = if is_last { entries.len() } else { 0 };
            entries.insert(to, (key, value));
            self.state.set(id, Object::Dict(Dict { entries, kind }));
            return Ok(Value::None);
        }
        self.state.set(id, Object::Dict(Dict { entries, kind }));
        Ok(Value::tuple(vec![key, value]))
    }

    /// `+`, `-`, `|`, `&` of counters: only positive counts remain.
    pub(in crate::explore) fn counter_operation(
        &mut self,
        op: BinaryOp,
        a: &[(Value, Value)],
        b: &[(Value, Value)],
    ) -> OrTrap<Option<Value>> {
        let mut counts: Vec<(Value, Value)> = Vec::new();
        let zero = Value::int(0);
        let keys: Vec<Value> = a.iter().chain(b).map(|(key, _)| key.clone()).collect();
        for key in self.distinct(&keys)? {
            let count = |machine: &mut Self, entries: &[(Value, Value)]| -> OrTrap<Value> {
                let place = machine.key_position(entries, &key)?;
                Ok(place
                    .and_then(|place| entries.get(place))
                    .map_or(zero.clone(), |(_, count)| count.clone()))
            };
            let (x, y) = (count(self, a)?, count(self, b)?);
            let result = match op {
                BinaryOp::Add | BinaryOp::Sub => self.binary(op, &x, &y)?,
                BinaryOp::Or => {
                    if self.is_less(&x, &y)? {
                        y
                    } else {
                        x
                    }
                }
                BinaryOp::And => {
                    if self.is_less(&y, &x)? {
                        y
                    } else {
                        x
                    }
                }
                _ => return Ok(None),
            };
            let positive = self.order(CompareOp::Gt, &result, &zero)?;
            if self.decide_value(&positive)? {
                counts.push((key.clone(), result));
            }
        }
        self.new_dict(counts, DictKind::Counter).map(Some)
    }
}
