//! Indexing and slicing.

use std::rc::Rc;

use num_traits::Signed;

use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::frontend::ir::CompareOp;
use crate::terms::Term;
use crate::values::{DictKind, Int, Object, ObjectId, Str, Value};

impl Machine {
    pub(crate) fn subscript(&mut self, container: &Value, index: &Value) -> OrTrap<Value> {
        match container {
            Value::Tuple(items) => {
                let items = items.clone();
                match index {
                    Value::Slice(parts) => {
                        let places = self.slice_places(parts, items.len())?;
                        Ok(Value::tuple(pick(&items, &places)))
                    }
                    index => self.item(&items, index, "tuple"),
                }
            }
            Value::Str(text) => self.str_subscript(text, index),
            Value::Bytes(bytes) => {
                let items: Vec<Value> = bytes.iter().map(|byte| Value::int(*byte)).collect();
                match index {
                    Value::Slice(parts) => {
                        let places = self.slice_places(parts, items.len())?;
                        Ok(Value::Bytes(Rc::new(pick(bytes, &places))))
                    }
                    index => self.item(&items, index, "index"),
                }
            }
            Value::Range(_) => self.range_subscript(container, index),
            Value::Object(id) => self.object_subscript(*id, container, index),
            Value::Type(crate::values::Type::User(class)) if self.enum_members(*class).is_some() => {
                match index.as_text() {
                    Some(name) => match self.class_attribute(*class, &name) {
                        Some(member) => Ok(member),
                        None => self.raise_with("KeyError", vec![index.clone()]),
                    },
                    None => self.unsupported("a member by an unknown name"),
                }
            }
            // `list[int]` and similar expressions are annotations.
            Value::Type(_) | Value::Builtin(_) => Ok(container.clone()),
            other => {
                let name = self.type_name(other);
                self.raise("TypeError", format!("'{name}' object is not subscriptable"))
            }
        }
    }

    fn object_subscript(&mut self, id: ObjectId, container: &Value, index: &Value) -> OrTrap<Value> {
        match self.state.share(id).as_ref() {
            Object::List(items) => match index {
                Value::Slice(parts) => {
                    let places = self.slice_places(parts, items.len())?;
                    Ok(self.list(pick(items, &places)))
                }
                index => self.item(items, index, "list"),
            },
            Object::OpenList(_) => self.open_subscript(id, container, index),
            Object::Dict(dict) => {
                self.check_hashable(index)?;
                match self.key_position(&dict.entries, index)? {
                    Some(place) => {
                        Ok(dict.entries.get(place).map_or(Value::None, |(_, value)| value.clone()))
                    }
                    None => match &dict.kind {
                        DictKind::Default(factory) if !factory.is_none() => {
                            let value = self.call(factory, Vec::new(), Vec::new())?;
                            self.dict_set(container, index, value.clone())?;
                            Ok(value)
                        }
                        DictKind::Counter => Ok(Value::int(0)),
                        _ => self.raise_with("KeyError", vec![index.clone()]),
                    },
                }
            }
            Object::Deque(items, _) => self.item(items, index, "deque"),
            Object::Alias(_) => Ok(container.clone()),
            Object::Match(found) => self.match_method(found, "__getitem__", std::slice::from_ref(index)),
            Object::Instance(instance) => match self.special(container, "__getitem__")? {
                Some(method) => self.call(&method, vec![index.clone()], Vec::new()),
                None => match &instance.payload {
                    Some(payload) if !self.is_exception(container) => self.subscript(payload, index),
                    _ => {
                        let name = self.type_name(container);
                        self.raise("TypeError", format!("'{name}' object is not subscriptable"))
                    }
                },
            },
            _ => {
                let name = self.type_name(container);
                self.raise("TypeError", format!("'{name}' object is not subscriptable"))
            }
        }
    }

    /// An item at an index that may be unknown. The state forks over the possible indices.
    fn item(&mut self, items: &[Value], index: &Value, kind: &str) -> OrTrap<Value> {
        let place = self.place(items.len(), index, kind)?;
        items.get(place).cloned().ok_or(Trap::Bug("no item"))
    }

    /// The position of an index in a sequence of this length, or `IndexError`.
    pub(crate) fn place(&mut self, length: usize, index: &Value, kind: &str) -> OrTrap<usize> {
        let Some(index) = self.as_index(index) else {
            let name = self.type_name(index);
            let text = match kind {
                "str" => format!("string indices must be integers, not '{name}'"),
                "assignment" => format!("list indices must be integers or slices, not {name}"),
                kind => format!("{kind} indices must be integers or slices, not {name}"),
            };
            return self.raise("TypeError", text);
        };
        let bound = i64::try_from(length).unwrap_or(i64::MAX);
        let in_range = match &index {
            Int::Known(value) => **value >= (-bound).into() && **value < bound.into(),
            Int::Term(term) => self.is_between(*term, &(-bound).into(), &(bound - 1).into())?,
        };
        if !in_range {
            let text = match kind {
                "str" => "string index out of range".to_owned(),
                "range" => "range object index out of range".to_owned(),
                "assignment" => "list assignment index out of range".to_owned(),
                kind => format!("{kind} index out of range"),
            };
            return self.raise("IndexError", text);
        }
        let chosen = self.choose_small(&index)?;
        usize::try_from(if chosen < 0 { chosen + bound } else { chosen })
            .map_err(|_| Trap::Bug("negative place"))
    }

    /// The positions of a slice, in order.
    pub(crate) fn slice_places(&mut self, parts: &Rc<[Value; 3]>, length: usize) -> OrTrap<Vec<usize>> {
        let [start, stop, step] = &**parts;
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let step = self.slice_part(step)?.unwrap_or(1);
        if step == 0 {
            return self.raise("ValueError", "slice step cannot be zero");
        }
        let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
        let mut bound = |part: &Value, default: i64| -> OrTrap<i64> {
            Ok(match self.slice_clamped(part, length)? {
                None => default,
                Some(value) if value < 0 => (value + length).max(low),
                Some(value) => value.min(high),
            })
        };
        let start = bound(start, if step > 0 { low } else { high })?;
        let stop = bound(stop, if step > 0 { high } else { low })?;
        let mut places = Vec::new();
        let mut at = start;
        while if step > 0 { at < stop } else { at > stop } {
            if let Ok(place) = usize::try_from(at) {
                places.push(place);
            }
            at = at.saturating_add(step);
        }
        Ok(places)
    }

    /// A bound of a slice. Beyond the length only its side matters, so an unknown bound forks no further.
    fn slice_clamped(&mut self, part: &Value, length: i64) -> OrTrap<Option<i64>> {
        if part.is_none() {
            return Ok(None);
        }
        let Some(index) = self.as_index(part) else { return self.slice_part(part) };
        let value = Value::Int(index.clone());
        let too_high = self.number_compare(CompareOp::Ge, &value, &Value::int(length))?;
        if self.decide(too_high)? {
            return Ok(Some(length));
        }
        let too_low = self.number_compare(CompareOp::Lt, &value, &Value::int(-length))?;
        if self.decide(too_low)? {
            return Ok(Some(-length - 1));
        }
        Ok(Some(self.choose_small(&index)?))
    }

    fn slice_part(&mut self, part: &Value) -> OrTrap<Option<i64>> {
        if part.is_none() {
            return Ok(None);
        }
        match self.as_index(part) {
            Some(value) => {
                let chosen = self.choose(&value)?;
                let limit = if chosen.is_negative() { i64::MIN / 4 } else { i64::MAX / 4 };
                Ok(Some(i64::try_from(&chosen).unwrap_or(limit).clamp(i64::MIN / 4, i64::MAX / 4)))
            }
            None => {
                self.raise("TypeError", "slice indices must be integers or None or have an __index__ method")
            }
        }
    }

    fn str_subscript(&mut self, text: &Str, index: &Value) -> OrTrap<Value> {
        if let Str::Open(open) = text
            && let Some(place) = self.open_place(open.length, index, "str")?
        {
            let point = self.open_at(open, place);
            return Ok(Value::Str(Str::Chars(Rc::new(vec![point]))));
        }
        if let (Str::Open(open), Value::Slice(parts)) = (text, index)
            && let Some(part) = self.open_slice(open, parts)?
        {
            return Ok(part);
        }
        if let Str::Known(points) = text {
            let points = points.clone();
            let places = match index {
                Value::Slice(parts) => self.slice_places(parts, points.len())?,
                index => vec![self.place(points.len(), index, "str")?],
            };
            return Ok(Value::points(pick(&points, &places)));
        }
        let points = self.points_of(text)?;
        let places = match index {
            Value::Slice(parts) => self.slice_places(parts, points.len())?,
            index => vec![self.place(points.len(), index, "str")?],
        };
        Ok(self.str_of_points(pick(&points, &places)))
    }

    /// A known position from the start of a sequence of unknown length, if the index is one.
    fn open_place(&mut self, length: Term, index: &Value, kind: &str) -> OrTrap<Option<usize>> {
        let Some(place) = self.as_index(index).and_then(|index| index.small()) else { return Ok(None) };
        let Ok(place) = usize::try_from(place) else { return Ok(None) };
        let at = self.terms.int(place);
        let inside = self.terms.int_lt(at, length);
        if self.decide_term(inside)? {
            return Ok(Some(place));
        }
        let text = if kind == "str" { "string index out of range" } else { "list index out of range" };
        self.raise("IndexError", text)
    }

    fn open_subscript(&mut self, id: ObjectId, container: &Value, index: &Value) -> OrTrap<Value> {
        if let Object::OpenList(open) = self.state.get(id) {
            let length = open.length;
            if let Some(place) = self.open_place(length, index, "list")? {
                return self.open_item(id, place);
            }
        }
        self.close_list(id)?;
        self.subscript(container, index)
    }

    fn range_subscript(&mut self, container: &Value, index: &Value) -> OrTrap<Value> {
        let items = self.collect(container)?;
        match index {
            Value::Slice(_) => self.unsupported("a slice of a range"),
            index => self.item(&items, index, "range"),
        }
    }

    pub(crate) fn set_subscript(&mut self, container: &Value, index: &Value, value: Value) -> OrTrap<()> {
        let Value::Object(id) = container else {
            let name = self.type_name(container);
            return self.raise("TypeError", format!("'{name}' object does not support item assignment"));
        };
        match self.state.share(*id).as_ref() {
            Object::List(items) => match index {
                Value::Slice(parts) => {
                    let new = self.collect(&value)?;
                    let items = self.assign_slice(items, parts, new)?;
                    self.state.set(*id, Object::List(items));
                    Ok(())
                }
                index => {
                    let place = self.place(items.len(), index, "assignment")?;
                    if let Some(Object::List(items)) = self.state.change(*id)
                        && let Some(item) = items.get_mut(place)
                    {
                        *item = value;
                    }
                    Ok(())
                }
            },
            Object::OpenList(_) => {
                self.close_list(*id)?;
                self.set_subscript(container, index, value)
            }
            Object::Dict(_) => self.dict_set(container, index, value),
            Object::Deque(items, most) => {
                let place = self.place(items.len(), index, "deque")?;
                let mut items = items.clone();
                if let Some(item) = items.get_mut(place) {
                    *item = value;
                }
                self.state.set(*id, Object::Deque(items, *most));
                Ok(())
            }
            _ => match self.special(container, "__setitem__")? {
                Some(method) => self.call(&method, vec![index.clone(), value], Vec::new()).map(|_| ()),
                None => {
                    let name = self.type_name(container);
                    self.raise("TypeError", format!("'{name}' object does not support item assignment"))
                }
            },
        }
    }

    fn assign_slice(
        &mut self,
        items: &[Value],
        parts: &Rc<[Value; 3]>,
        new: Vec<Value>,
    ) -> OrTrap<Vec<Value>> {
        let places = self.slice_places(parts, items.len())?;
        let [first, _, step] = &**parts;
        let has_step = matches!(self.slice_part(step)?, Some(step) if step != 1);
        let mut items = items.to_vec();
        if has_step {
            if places.len() != new.len() {
                let text = format!(
                    "attempt to assign sequence of size {} to extended slice of size {}",
                    new.len(),
                    places.len()
                );
                return self.raise("ValueError", text);
            }
            for (place, value) in places.into_iter().zip(new) {
                if let Some(item) = items.get_mut(place) {
                    *item = value;
                }
            }
            return Ok(items);
        }
        let start = match places.first() {
            Some(first) => *first,
            None => {
                let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
                let start = self.slice_clamped(first, length)?.unwrap_or(0);
                let start = if start < 0 { (start + length).max(0) } else { start.min(length) };
                usize::try_from(start).unwrap_or(0)
            }
        };
        items.splice(start..start + places.len(), new);
        Ok(items)
    }

    pub(crate) fn delete_subscript(&mut self, container: &Value, index: &Value) -> OrTrap<()> {
        let Value::Object(id) = container else {
            let name = self.type_name(container);
            return self.raise("TypeError", format!("'{name}' object doesn't support item deletion"));
        };
        match self.state.share(*id).as_ref() {
            Object::OpenList(_) => {
                self.close_list(*id)?;
                self.delete_subscript(container, index)
            }
            Object::List(items) => {
                let places = match index {
                    Value::Slice(parts) => self.slice_places(parts, items.len())?,
                    index => vec![self.place(items.len(), index, "assignment")?],
                };
                let kept = items.iter().enumerate().filter(|(place, _)| !places.contains(place));
                let kept = kept.map(|(_, item)| item.clone()).collect();
                self.state.set(*id, Object::List(kept));
                Ok(())
            }
            Object::Dict(dict) => {
                self.check_hashable(index)?;
                match self.key_position(&dict.entries, index)? {
                    Some(place) => {
                        if let Some(Object::Dict(dict)) = self.state.change(*id) {
                            dict.entries.remove(place);
                        }
                        Ok(())
                    }
                    // Deleting a missing key of a counter has no effect.
                    None if matches!(dict.kind, DictKind::Counter) => Ok(()),
                    None => self.raise_with("KeyError", vec![index.clone()]),
                }
            }
            Object::Deque(items, most) => {
                let place = self.place(items.len(), index, "deque")?;
                let mut items = items.clone();
                items.remove(place);
                self.state.set(*id, Object::Deque(items, *most));
                Ok(())
            }
            _ => match self.special(container, "__delitem__")? {
                Some(method) => self.call(&method, vec![index.clone()], Vec::new()).map(|_| ()),
                None => {
                    let name = self.type_name(container);
                    self.raise("TypeError", format!("'{name}' object doesn't support item deletion"))
                }
            },
        }
    }
}

pub(crate) fn pick<T: Clone>(items: &[T], places: &[usize]) -> Vec<T> {
    places.iter().filter_map(|place| items.get(*place)).cloned().collect()
}
