//! Lists, dicts and sets on the heap.

use std::rc::Rc;

use crate::explore::machine::{Machine, OrTrap, Trap, fits};
use crate::frontend::ir::{BinaryOp, CompareOp};
use crate::terms::{Interval, Sort, Term};
use crate::values::{Bool, ClassKind, Dict, DictKind, Int, Object, ObjectId, Str, Type, Value, ViewKind};

impl Machine {
    /// `len(value)`.
    pub(crate) fn length(&mut self, value: &Value) -> OrTrap<Int> {
        let known = |length: usize| Ok(Int::from(length));
        match value {
            Value::Str(text) => {
                let term = self.str_length(text);
                Ok(self.int_of(term))
            }
            Value::Bytes(bytes) => known(bytes.len()),
            Value::Tuple(items) => known(items.len()),
            Value::Range(parts) => self.range_length(&parts.clone()),
            Value::Object(id) => match self.state.share(*id).as_ref() {
                Object::List(items)
                | Object::Set(items)
                | Object::FrozenSet(items)
                | Object::Deque(items, _) => known(items.len()),
                Object::OpenList(open) => Ok(self.int_of(open.length)),
                Object::Pending(name, kind) => {
                    let name = match **kind {
                        crate::explore::inputs::InputType::Dict(..) => format!("len(list({name}))"),
                        _ => format!("len({name})"),
                    };
                    let length = self.terms.var(&name, Sort::Int, Interval::from(0));
                    Ok(self.int_of(length))
                }
                Object::Dict(dict) => known(dict.entries.len()),
                Object::View(_, dict) => self.length(&Value::Object(*dict)),
                Object::Instance(instance) => match self.special(value, "__len__")? {
                    Some(method) => {
                        let length = self.call(&method, Vec::new(), Vec::new())?;
                        match self.as_index(&length) {
                            Some(length) => {
                                let negative = self.number_compare(
                                    CompareOp::Lt,
                                    &Value::Int(length.clone()),
                                    &Value::int(0),
                                )?;
                                if self.decide(negative)? {
                                    return self.raise("ValueError", "__len__() should return >= 0");
                                }
                                Ok(length)
                            }
                            None => self.raise("TypeError", "object cannot be interpreted as an integer"),
                        }
                    }
                    None => match &instance.payload {
                        Some(payload @ (Value::Tuple(_) | Value::Str(_))) if !self.is_exception(value) => {
                            self.length(payload)
                        }
                        _ => self.no_length(value),
                    },
                },
                _ => self.no_length(value),
            },
            Value::Type(Type::User(id)) => match self.enum_members(*id) {
                Some(members) => known(members.len()),
                None => self.no_length(value),
            },
            _ => self.no_length(value),
        }
    }

    fn no_length<T>(&mut self, value: &Value) -> OrTrap<T> {
        let name = self.type_name(value);
        self.raise("TypeError", format!("object of type '{name}' has no len()"))
    }

    fn range_length(&mut self, parts: &Rc<[Int; 3]>) -> OrTrap<Int> {
        let [start, stop, step] = &**parts;
        let is_up = self.number_compare(CompareOp::Gt, &Value::Int(step.clone()), &Value::int(0))?;
        let (first, last, step) = if self.decide(is_up)? {
            (start.clone(), stop.clone(), step.clone())
        } else {
            let step = self.int_term(step);
            let step = self.terms.neg(step);
            (stop.clone(), start.clone(), self.int_of(step))
        };
        let is_empty =
            self.number_compare(CompareOp::Ge, &Value::Int(first.clone()), &Value::Int(last.clone()))?;
        if self.decide(is_empty)? {
            return Ok(Int::from(0));
        }
        let (first, last, step) = (self.int_term(&first), self.int_term(&last), self.int_term(&step));
        let one = self.terms.int(1);
        let span = self.terms.sub(last, first);
        let span = self.terms.sub(span, one);
        let count = self.terms.floor_div(span, step);
        let count = self.terms.add(count, one);
        Ok(self.int_of(count))
    }

    /// An item of a list of unknown length, created on first access.
    pub(crate) fn open_item(&mut self, id: ObjectId, place: usize) -> OrTrap<Value> {
        loop {
            let Object::OpenList(open) = self.state.get(id).clone() else {
                return Err(Trap::Bug("no open list"));
            };
            if let Some(item) = open.prefix.get(place) {
                return Ok(item.clone());
            }
            let name = format!("{}[{}]", open.name, open.prefix.len());
            let item = match self.shared_item(&open.name, &open.element, &open.prefix)? {
                Some(item) => item,
                None => self.make_input(&name, &open.element)?,
            };
            if let Some(Object::OpenList(open)) = self.state.look_into(id) {
                open.prefix.push(item);
            }
        }
    }

    /// The same for a list given by value.
    pub(crate) fn item_of(&mut self, list: &Value, place: usize) -> OrTrap<Value> {
        match list {
            Value::Object(id) => self.open_item(*id, place),
            _ => Err(Trap::Bug("no open list")),
        }
    }

    /// Decides the length of a list of unknown length.
    pub(crate) fn close_list(&mut self, id: ObjectId) -> OrTrap<()> {
        let Object::OpenList(open) = self.state.get(id) else { return Ok(()) };
        let length = self.choose_length(open.length)?;
        if let Some(last) = length.checked_sub(1) {
            self.open_item(id, last)?;
        }
        if let Object::OpenList(open) = self.state.get(id).clone() {
            let mut items = open.prefix;
            items.truncate(length);
            self.state.settle(id, Object::List(items));
        }
        Ok(())
    }

    /// The code point of an open string.
    pub(crate) fn open_point(&mut self, name: &str, place: usize) -> Term {
        self.terms.var(&format!("ord({name}[{place}])"), Sort::Int, Interval::of(0, 0x10_FFFF))
    }

    /// A code point of a part of an open string.
    pub(crate) fn open_at(&mut self, open: &crate::values::UnboundedStr, place: usize) -> Term {
        self.open_point(&open.name, open.offset + place)
    }

    pub(crate) fn list_append(&mut self, list: &Value, value: Value) -> OrTrap<()> {
        let Value::Object(id) = list else { return Err(Trap::Bug("no list")) };
        self.close_list(*id)?;
        match self.state.change(*id) {
            Some(Object::List(items)) => {
                fits(items.len() + 1)?;
                items.push(value);
                Ok(())
            }
            _ => Err(Trap::Bug("no list")),
        }
    }

    pub(crate) fn list_extend(&mut self, list: &Value, new: Vec<Value>) -> OrTrap<()> {
        let Value::Object(id) = list else { return Err(Trap::Bug("no list")) };
        self.close_list(*id)?;
        if let Some(Object::List(items)) = self.state.change(*id) {
            fits(items.len() + new.len())?;
            items.extend(new);
        }
        Ok(())
    }

    pub(crate) fn repeat<T: Clone>(&mut self, items: &[T], count: &Int) -> OrTrap<Vec<T>> {
        if items.is_empty() {
            return Ok(Vec::new());
        }
        let negative = self.number_compare(CompareOp::Le, &Value::Int(count.clone()), &Value::int(0))?;
        if self.decide(negative)? {
            return Ok(Vec::new());
        }
        let count = usize::try_from(self.choose_small(count)?).unwrap_or(0);
        fits(items.len().saturating_mul(count))?;
        Ok(items.iter().cloned().cycle().take(items.len() * count).collect())
    }

    pub(crate) fn check_hashable(&mut self, value: &Value) -> OrTrap<()> {
        match value {
            Value::Tuple(items) => {
                for item in items.iter() {
                    self.check_hashable(item)?;
                }
                Ok(())
            }
            Value::Slice(_) => self.raise("TypeError", "unhashable type: 'slice'"),
            Value::Object(id) => match self.state.share(*id).as_ref() {
                Object::List(_)
                | Object::OpenList(_)
                | Object::Dict(_)
                | Object::Set(_)
                | Object::Deque(..) => {
                    let name = self.type_name(value);
                    self.raise("TypeError", format!("unhashable type: '{name}'"))
                }
                Object::Instance(instance) => {
                    let Type::User(class) = instance.class else { return Ok(()) };
                    let Some(class) = self.class_of(class) else { return Ok(()) };
                    let has = |name: &str| class.attributes.iter().any(|(known, _)| &**known == name);
                    let is_mutable_data =
                        matches!(class.kind, ClassKind::Data { frozen: false, has_eq: true, .. });
                    let is_refused =
                        class.attributes.iter().any(|(name, value)| &**name == "__hash__" && value.is_none());
                    if is_refused || (!has("__hash__") && (has("__eq__") || is_mutable_data)) {
                        let name = self.type_name(value);
                        return self.raise("TypeError", format!("unhashable type: '{name}'"));
                    }
                    if has("__hash__") && has("__eq__") && !class.is_library {
                        return self.unsupported("a key with its own __hash__");
                    }
                    Ok(())
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// The index of an equal item.
    pub(crate) fn position(&mut self, items: &[Value], item: &Value) -> OrTrap<Option<usize>> {
        for (index, found) in items.iter().enumerate() {
            let equal = self.same_or_equal(found, item)?;
            if self.decide(equal)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    pub(crate) fn key_position(&mut self, entries: &[(Value, Value)], key: &Value) -> OrTrap<Option<usize>> {
        // Known texts and integers are compared directly.
        if let Value::Str(Str::Known(wanted)) = key {
            for (index, (found, _)) in entries.iter().enumerate() {
                if let Value::Str(Str::Known(points)) = found {
                    if points == wanted {
                        return Ok(Some(index));
                    }
                    continue;
                }
                let equal = self.same_or_equal(found, key)?;
                if self.decide(equal)? {
                    return Ok(Some(index));
                }
            }
            return Ok(None);
        }
        for (index, (found, _)) in entries.iter().enumerate() {
            let equal = self.same_or_equal(found, key)?;
            if self.decide(equal)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Items without repetition, each checked to be hashable.
    pub(crate) fn distinct(&mut self, items: &[Value]) -> OrTrap<Vec<Value>> {
        let mut kept: Vec<Value> = Vec::new();
        for item in items {
            self.check_hashable(item)?;
            if self.position(&kept, item)?.is_none() {
                kept.push(item.clone());
            }
        }
        Ok(kept)
    }

    pub(crate) fn set_add(&mut self, set: &Value, value: Value) -> OrTrap<()> {
        let Value::Object(id) = set else { return Err(Trap::Bug("no set")) };
        self.check_hashable(&value)?;
        let shared = self.state.share(*id);
        let Object::Set(items) = shared.as_ref() else { return Err(Trap::Bug("no set")) };
        if self.position(items, &value)?.is_none() {
            drop(shared);
            if let Some(Object::Set(items)) = self.state.change(*id) {
                items.push(value);
            }
        }
        Ok(())
    }

    pub(crate) fn dict_set(&mut self, dict: &Value, key: &Value, value: Value) -> OrTrap<()> {
        let Value::Object(id) = dict else { return Err(Trap::Bug("no dict")) };
        self.check_hashable(key)?;
        let shared = self.state.share(*id);
        let Object::Dict(found) = shared.as_ref() else { return Err(Trap::Bug("no dict")) };
        let position = self.key_position(&found.entries, key)?;
        drop(shared);
        if let Some(Object::Dict(found)) = self.state.change(*id) {
            match position.and_then(|index| found.entries.get_mut(index)) {
                Some((_, place)) => *place = value,
                None => found.entries.push((key.clone(), value)),
            }
        }
        Ok(())
    }

    /// The entries of a mapping, or of an iterable of pairs.
    pub(crate) fn entries_of(&mut self, value: &Value) -> OrTrap<Vec<(Value, Value)>> {
        if let Value::Object(id) = value
            && let Object::Dict(dict) = self.state.get(*id)
        {
            return Ok(dict.entries.clone());
        }
        let mut entries = Vec::new();
        for (index, pair) in self.collect(value)?.into_iter().enumerate() {
            if !self.is_iterable(&pair)? {
                let text =
                    format!("cannot convert dictionary update sequence element #{index} to a sequence");
                return self.raise("TypeError", text);
            }
            let items = self.collect(&pair)?;
            match items.as_slice() {
                [key, value] => entries.push((key.clone(), value.clone())),
                items => {
                    let length = items.len();
                    let text = format!(
                        "dictionary update sequence element #{index} has length {length}; 2 is required"
                    );
                    return self.raise("ValueError", text);
                }
            }
        }
        Ok(entries)
    }

    pub(crate) fn merge(&mut self, dict: &Value, other: &Value, is_call: bool) -> OrTrap<()> {
        let is_mapping = matches!(other, Value::Object(id) if matches!(self.state.get(*id), Object::Dict(_)));
        if !is_mapping {
            let name = self.type_name(other);
            return self.raise("TypeError", format!("'{name}' object is not a mapping"));
        }
        for (key, value) in self.entries_of(other)? {
            if is_call {
                let known = self.entries_of(dict)?;
                if self.key_position(&known, &key)?.is_some() {
                    let text = format!(
                        "got multiple values for keyword argument '{}'",
                        key.as_text().unwrap_or_default()
                    );
                    return self.raise("TypeError", text);
                }
            }
            self.dict_set(dict, &key, value)?;
        }
        Ok(())
    }

    pub(crate) fn new_dict(&mut self, entries: Vec<(Value, Value)>, kind: DictKind) -> OrTrap<Value> {
        let dict = self.object(Object::Dict(Dict { entries: Vec::new(), kind }));
        for (key, value) in entries {
            self.dict_set(&dict, &key, value)?;
        }
        Ok(dict)
    }

    /// The elements of a set, a frozenset or a view of keys or items, for set operators.
    pub(crate) fn set_items(&mut self, value: &Value) -> OrTrap<Option<Vec<Value>>> {
        let Value::Object(id) = value else { return Ok(None) };
        Ok(match self.state.get(*id) {
            Object::Set(items) | Object::FrozenSet(items) => Some(items.clone()),
            Object::View(ViewKind::Keys | ViewKind::Items, _) => Some(self.collect(value)?),
            _ => None,
        })
    }

    pub(crate) fn set_operation(&mut self, op: BinaryOp, a: &[Value], b: &[Value]) -> OrTrap<Vec<Value>> {
        let mut result = Vec::new();
        for item in a {
            let inside = self.position(b, item)?.is_some();
            let keep = match op {
                BinaryOp::Or => true,
                BinaryOp::And => inside,
                _ => !inside,
            };
            if keep {
                result.push(item.clone());
            }
        }
        if matches!(op, BinaryOp::Or | BinaryOp::Xor) {
            for item in b {
                if self.position(a, item)?.is_none() {
                    result.push(item.clone());
                }
            }
        }
        Ok(result)
    }

    pub(crate) fn set_order(&mut self, op: CompareOp, a: &[Value], b: &[Value]) -> OrTrap<bool> {
        let (small, large) = if matches!(op, CompareOp::Lt | CompareOp::Le) { (a, b) } else { (b, a) };
        for item in small {
            if self.position(large, item)?.is_none() {
                return Ok(false);
            }
        }
        Ok(matches!(op, CompareOp::Le | CompareOp::Ge) || small.len() < large.len())
    }

    pub(crate) fn set_in_place(&mut self, op: BinaryOp, left: &Value, right: &Value) -> OrTrap<Value> {
        let Value::Object(id) = left else { return Err(Trap::Bug("no set")) };
        if let Object::Dict(_) = self.state.get(*id) {
            if op == BinaryOp::Or {
                for (key, value) in self.entries_of(right)? {
                    self.dict_set(left, &key, value)?;
                }
                return Ok(left.clone());
            }
            return self.binary(op, left, right);
        }
        match (self.set_items(left)?, self.set_items(right)?) {
            (Some(a), Some(b)) => {
                let items = self.set_operation(op, &a, &b)?;
                self.state.set(*id, Object::Set(items));
                Ok(left.clone())
            }
            _ => self.binary(op, left, right),
        }
    }

    /// `+`, `*`, `%` and set operators on containers. `None` if the operands have none.
    pub(crate) fn container_binary(
        &mut self,
        op: BinaryOp,
        left: &Value,
        right: &Value,
    ) -> OrTrap<Option<Value>> {
        if let (Some(left_inner), Some(right_inner)) = (self.underlying(left), self.underlying(right))
            && (matches!(left, Value::Object(_)) || matches!(right, Value::Object(_)))
            && !matches!(left_inner, Value::Object(_))
            && !matches!(right_inner, Value::Object(_))
        {
            return self.container_binary(op, &left_inner, &right_inner);
        }
        Ok(Some(match (op, left, right) {
            (BinaryOp::Add, Value::Str(_), Value::Str(_)) => {
                self.concatenate(&[left.clone(), right.clone()])?
            }
            (BinaryOp::Add, Value::Tuple(a), Value::Tuple(b)) => {
                fits(a.len() + b.len())?;
                Value::tuple(a.iter().chain(b.iter()).cloned().collect())
            }
            (BinaryOp::Add, Value::Bytes(a), Value::Bytes(b)) => {
                fits(a.len() + b.len())?;
                Value::Bytes(Rc::new(a.iter().chain(b.iter()).copied().collect()))
            }
            (BinaryOp::Mod, Value::Str(text), _) => self.percent_format(text, right)?,
            (BinaryOp::Mul, _, _) => return self.times(left, right),
            (op, Value::Object(a), Value::Object(b)) => {
                let (a, b) = (self.state.share(*a), self.state.share(*b));
                match (op, a.as_ref(), b.as_ref()) {
                    (
                        BinaryOp::Add,
                        Object::List(_) | Object::OpenList(_),
                        Object::List(_) | Object::OpenList(_),
                    ) => match self.open_lists(a.as_ref(), b.as_ref()) {
                        Some(list) => list,
                        None => {
                            let (mut items, more) = (self.collect(left)?, self.collect(right)?);
                            fits(items.len() + more.len())?;
                            items.extend(more);
                            self.list(items)
                        }
                    },
                    (BinaryOp::Add, Object::Deque(a, most), Object::Deque(b, _)) => {
                        fits(a.len() + b.len())?;
                        self.bounded_deque(a.iter().chain(b).cloned().collect(), *most)
                    }
                    (BinaryOp::Or, Object::Dict(a), Object::Dict(_))
                        if !matches!(a.kind, DictKind::Counter) =>
                    {
                        let mut entries = a.entries.clone();
                        entries.extend(self.entries_of(right)?);
                        self.new_dict(entries, a.kind.clone())?
                    }
                    (_, Object::Dict(a), Object::Dict(b)) if matches!(a.kind, DictKind::Counter) => {
                        return self.counter_operation(op, &a.entries, &b.entries);
                    }
                    (BinaryOp::Or | BinaryOp::And | BinaryOp::Sub | BinaryOp::Xor, first, _) => {
                        let is_frozen = matches!(first, Object::FrozenSet(_));
                        let (Some(a), Some(b)) = (self.set_items(left)?, self.set_items(right)?) else {
                            return Ok(None);
                        };
                        let items = self.set_operation(op, &a, &b)?;
                        self.object(if is_frozen { Object::FrozenSet(items) } else { Object::Set(items) })
                    }
                    _ => return Ok(None),
                }
            }
            // `int | None` is an annotation.
            (BinaryOp::Or, Value::Type(_) | Value::None, Value::Type(_) | Value::None) => {
                let union = Value::tuple(vec![left.clone(), right.clone()]);
                self.object(Object::Alias(union))
            }
            _ => return Ok(None),
        }))
    }

    /// Concatenates two unbounded lists. The length is exact, the items are not.
    fn open_lists(&mut self, a: &Object, b: &Object) -> Option<Value> {
        let (Object::OpenList(a), Object::OpenList(b)) = (a, b) else { return None };
        self.induction.is_wanted = true;
        let is_one_type = format!("{:?}", a.element) == format!("{:?}", b.element);
        if !self.induction.is_on || !is_one_type || !a.element.is_plain() {
            return None;
        }
        self.abstracted("lists put together may be any list of the same length");
        let length = self.terms.add(a.length, b.length);
        let number = crate::terms::Terms::number(length);
        let name = format!("{} + {}#{number}", a.name, b.name);
        let open =
            crate::values::UnboundedList { name, element: a.element.clone(), length, prefix: Vec::new() };
        Some(self.object(Object::OpenList(open)))
    }

    /// A deque of the last items.
    fn bounded_deque(&mut self, mut items: Vec<Value>, most: Option<usize>) -> Value {
        let excess = most.map_or(0, |most| items.len().saturating_sub(most));
        items.drain(..excess);
        self.object(Object::Deque(items, most))
    }

    fn times(&mut self, left: &Value, right: &Value) -> OrTrap<Option<Value>> {
        for (sequence, count) in [(left, right), (right, left)] {
            let Some(count) = self.as_index(count) else { continue };
            match sequence {
                Value::Str(text) => {
                    let points = self.points_of(text)?;
                    let points = self.repeat(&points, &count)?;
                    return Ok(Some(self.str_of_points(points)));
                }
                Value::Tuple(items) => return Ok(Some(Value::tuple(self.repeat(items, &count)?))),
                Value::Bytes(bytes) => return Ok(Some(Value::Bytes(Rc::new(self.repeat(bytes, &count)?)))),
                Value::Object(id) => match self.state.get(*id).clone() {
                    Object::List(_) | Object::OpenList(_) => {
                        let items = self.collect(sequence)?;
                        let items = self.repeat(&items, &count)?;
                        return Ok(Some(self.list(items)));
                    }
                    Object::Deque(items, most) => {
                        let items = self.repeat(&items, &count)?;
                        return Ok(Some(self.bounded_deque(items, most)));
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        Ok(None)
    }

    /// The iteration order of a set in CPython. It is known only for one item, and for small integers.
    pub(crate) fn in_set_order(&mut self, items: &[Value]) -> OrTrap<Vec<Value>> {
        if items.len() < 2 {
            return Ok(items.to_vec());
        }
        match super::set_order::order(items) {
            Some(ordered) => Ok(ordered),
            None => self.unsupported("the order of a set"),
        }
    }

    pub(crate) fn any_term(&mut self, truths: &[Bool]) -> Bool {
        let mut any = self.terms.bool(false);
        for truth in truths {
            let term = self.truth_term(*truth);
            any = self.terms.or(any, term);
        }
        self.truth_of(any)
    }
}
