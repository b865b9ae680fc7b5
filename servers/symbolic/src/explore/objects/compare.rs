//! Truth, equality, order and membership.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::explore::machine::{Machine, OrTrap};
use crate::frontend::ir::CompareOp;
use crate::terms::Terms;
use crate::values::{Bool, Class, ClassKind, Dict, DictKind, Object, ObjectId, Str, Type, Value};

impl Machine {
    /// `bool(value)`.
    pub(crate) fn truth(&mut self, value: &Value) -> OrTrap<Bool> {
        Ok(match value {
            Value::None => Bool::Known(false),
            Value::Bool(truth) => *truth,
            Value::Int(_) | Value::Float(_) => {
                let zero = Value::int(0);
                let is_zero = self.number_compare(CompareOp::Eq, value, &zero)?;
                self.not_truth(is_zero)
            }
            Value::Str(text) => {
                let length = self.str_length(text);
                let zero = self.terms.int(0);
                let empty = self.terms.int_eq(length, zero);
                let filled = self.terms.not(empty);
                self.truth_of(filled)
            }
            Value::Bytes(bytes) => Bool::Known(!bytes.is_empty()),
            Value::Tuple(items) => Bool::Known(!items.is_empty()),
            Value::Range(_) => {
                let length = self.length(value)?;
                return self.truth(&Value::Int(length));
            }
            Value::Object(id) => return self.object_truth(*id, value),
            _ => Bool::Known(true),
        })
    }

    fn object_truth(&mut self, id: ObjectId, value: &Value) -> OrTrap<Bool> {
        match self.state.get(id) {
            Object::Instance(instance) => {
                let payload = instance.payload.clone();
                if let Some(method) = self.special(value, "__bool__")? {
                    let result = self.call(&method, Vec::new(), Vec::new())?;
                    return match result {
                        Value::Bool(truth) => Ok(truth),
                        other => {
                            let name = self.type_name(&other);
                            self.raise("TypeError", format!("__bool__ should return bool, returned {name}"))
                        }
                    };
                }
                if self.special(value, "__len__")?.is_some() {
                    let length = self.length(value)?;
                    return self.truth(&Value::Int(length));
                }
                match payload {
                    Some(payload) if !self.is_exception(value) && !self.is_plain_enum(value) => {
                        self.truth(&payload)
                    }
                    _ => Ok(Bool::Known(true)),
                }
            }
            Object::List(_)
            | Object::OpenList(_)
            | Object::Pending(..)
            | Object::Dict(_)
            | Object::Set(_)
            | Object::FrozenSet(_)
            | Object::Deque(..)
            | Object::View(..) => {
                let length = self.length(value)?;
                self.truth(&Value::Int(length))
            }
            _ => Ok(Bool::Known(true)),
        }
    }

    fn is_plain_enum(&self, value: &Value) -> bool {
        match self.type_of(value) {
            Type::User(id) => self.class_of(id).is_some_and(|class| {
                class.kind == ClassKind::Enum
                    && !self.is_subtype(Type::User(id), Type::Builtin(crate::values::BuiltinType::Int))
            }),
            Type::Builtin(_) => false,
        }
    }

    pub(crate) fn compare(&mut self, op: CompareOp, left: &Value, right: &Value) -> OrTrap<Value> {
        let truth = match op {
            CompareOp::Eq | CompareOp::Ne => return self.rich_equal(op, left, right),
            CompareOp::Is => self.identical(left, right)?,
            CompareOp::IsNot => {
                let same = self.identical(left, right)?;
                self.not_truth(same)
            }
            CompareOp::In => self.contains(right, left)?,
            CompareOp::NotIn => {
                let inside = self.contains(right, left)?;
                self.not_truth(inside)
            }
            _ => return self.order(op, left, right),
        };
        Ok(Value::Bool(truth))
    }

    fn rich_equal(&mut self, op: CompareOp, left: &Value, right: &Value) -> OrTrap<Value> {
        // A method of the analysed code may return any value.
        let name = if op == CompareOp::Eq { "__eq__" } else { "__ne__" };
        for (receiver, other) in [(left, right), (right, left)] {
            if let Some(method) = self.special(receiver, name)? {
                let result = self.call(&method, vec![other.clone()], Vec::new())?;
                if !matches!(result, Value::NotImplemented) {
                    return Ok(result);
                }
            }
        }
        let equal = self.equal(left, right)?;
        Ok(Value::Bool(if op == CompareOp::Eq { equal } else { self.not_truth(equal) }))
    }

    /// `a == b` as a bool.
    pub(crate) fn equal(&mut self, left: &Value, right: &Value) -> OrTrap<Bool> {
        match (left, right) {
            (
                Value::Bool(_) | Value::Int(_) | Value::Float(_),
                Value::Bool(_) | Value::Int(_) | Value::Float(_),
            ) => self.number_compare(CompareOp::Eq, left, right),
            (Value::Str(a), Value::Str(b)) => self.str_equal(a, b),
            (Value::Bytes(a), Value::Bytes(b)) => Ok(Bool::Known(a == b)),
            (Value::None, Value::None) | (Value::Ellipsis, Value::Ellipsis) => Ok(Bool::Known(true)),
            (Value::Tuple(a), Value::Tuple(b)) => self.all_equal(&a.clone(), &b.clone()),
            (Value::Type(a), Value::Type(b)) => Ok(Bool::Known(a == b)),
            (Value::Builtin(a), Value::Builtin(b)) => Ok(Bool::Known(a == b)),
            (Value::Range(_), Value::Range(_)) => {
                let (a, b) = (self.collect(left)?, self.collect(right)?);
                self.all_equal(&a, &b)
            }
            (Value::Object(a), Value::Object(b)) if a == b && !self.is_number_like(*a) => {
                // Identity implies equality unless a class overrides it.
                match self.special(left, "__eq__")? {
                    Some(method) => self.call_equal(&method, right, left),
                    None => Ok(Bool::Known(true)),
                }
            }
            (Value::Object(_), _) | (_, Value::Object(_)) => self.object_equal(left, right),
            _ => Ok(Bool::Known(false)),
        }
    }

    fn is_number_like(&self, id: ObjectId) -> bool {
        matches!(self.state.get(id), Object::Instance(instance) if matches!(instance.payload, Some(Value::Float(_))))
    }

    fn call_equal(&mut self, method: &Value, other: &Value, own: &Value) -> OrTrap<Bool> {
        let result = self.call(method, vec![other.clone()], Vec::new())?;
        if matches!(result, Value::NotImplemented) {
            let same = matches!((own, other), (Value::Object(a), Value::Object(b)) if a == b);
            return Ok(Bool::Known(same));
        }
        self.truth(&result)
    }

    fn object_equal(&mut self, left: &Value, right: &Value) -> OrTrap<Bool> {
        for (receiver, other) in [(left, right), (right, left)] {
            if let Some(method) = self.special(receiver, "__eq__")? {
                let result = self.call(&method, vec![other.clone()], Vec::new())?;
                if !matches!(result, Value::NotImplemented) {
                    return self.truth(&result);
                }
            }
        }
        if let (Some(a), Some(b)) = (self.underlying(left), self.underlying(right)) {
            return self.equal(&a, &b);
        }
        let (Value::Object(a), Value::Object(b)) = (left, right) else { return Ok(Bool::Known(false)) };
        match (self.state.share(*a).as_ref(), self.state.share(*b).as_ref()) {
            (Object::List(_) | Object::OpenList(_), Object::List(_) | Object::OpenList(_)) => {
                self.lists_equal(left, right)
            }
            (Object::Deque(a, _), Object::Deque(b, _)) => self.all_equal(a, b),
            (Object::Set(a) | Object::FrozenSet(a), Object::Set(b) | Object::FrozenSet(b)) => {
                if a.len() != b.len() {
                    return Ok(Bool::Known(false));
                }
                for item in a {
                    if self.position(b, item)?.is_none() {
                        return Ok(Bool::Known(false));
                    }
                }
                Ok(Bool::Known(true))
            }
            (
                Object::Dict(Dict { kind: DictKind::Counter, .. }),
                Object::Dict(Dict { kind: DictKind::Counter, .. }),
            ) => {
                let args = vec![left.clone(), right.clone()];
                let equal = self.call_library("collections", "_counts_equal", args)?;
                self.truth(&equal)
            }
            (Object::Dict(a), Object::Dict(b)) => {
                if a.entries.len() != b.entries.len() {
                    return Ok(Bool::Known(false));
                }
                let mut all = Bool::Known(true);
                let is_ordered = matches!((&a.kind, &b.kind), (DictKind::Ordered, DictKind::Ordered));
                for (place, (key, value)) in a.entries.iter().enumerate() {
                    let Some(index) = self.key_position(&b.entries, key)? else {
                        return Ok(Bool::Known(false));
                    };
                    if is_ordered && index != place {
                        return Ok(Bool::Known(false));
                    }
                    let other = b.entries.get(index).map_or(Value::None, |(_, value)| value.clone());
                    let equal = self.same_or_equal(value, &other)?;
                    all = self.both(all, equal);
                }
                Ok(all)
            }
            (Object::Instance(a), Object::Instance(b)) => {
                let (Type::User(x), Type::User(y)) = (a.class, b.class) else {
                    return Ok(Bool::Known(false));
                };
                let is_data = |class: &Rc<Class>| matches!(class.kind, ClassKind::Data { has_eq: true, .. });
                if x != y || !self.class_of(x).as_ref().is_some_and(is_data) {
                    return Ok(Bool::Known(false));
                }
                let (a, b) = (self.field_values(left)?, self.field_values(right)?);
                self.all_equal(&a, &b)
            }
            _ => Ok(Bool::Known(false)),
        }
    }

    /// The tuple, number or text that an instance of a subclass contains.
    pub(crate) fn underlying(&self, value: &Value) -> Option<Value> {
        match value {
            Value::Object(id) => match self.state.get(*id) {
                Object::Instance(instance) if !self.is_exception(value) && !self.is_plain_enum(value) => {
                    instance.payload.clone()
                }
                _ => None,
            },
            Value::None | Value::Type(_) | Value::Builtin(_) => None,
            other => Some(other.clone()),
        }
    }

    fn lists_equal(&mut self, left: &Value, right: &Value) -> OrTrap<Bool> {
        let (a, b) = (self.length(left)?, self.length(right)?);
        let same = self.number_compare(CompareOp::Eq, &Value::Int(a), &Value::Int(b))?;
        if !self.decide(same)? {
            return Ok(Bool::Known(false));
        }
        let (a, b) = (self.collect(left)?, self.collect(right)?);
        self.all_equal(&a, &b)
    }

    fn all_equal(&mut self, a: &[Value], b: &[Value]) -> OrTrap<Bool> {
        if a.len() != b.len() {
            return Ok(Bool::Known(false));
        }
        let mut all = Bool::Known(true);
        for (a, b) in a.iter().zip(b) {
            let equal = self.same_or_equal(a, b)?;
            if equal == Bool::Known(false) {
                return Ok(equal);
            }
            all = self.both(all, equal);
        }
        Ok(all)
    }

    /// Containers compare identity first: a `nan` equals itself inside them.
    pub(crate) fn same_or_equal(&mut self, a: &Value, b: &Value) -> OrTrap<Bool> {
        if let (Value::Float(x), Value::Float(y)) = (a, b) {
            let is_same_object = match (x, y) {
                (crate::values::Float::Known(x), crate::values::Float::Known(y)) => x.is_nan() && y.is_nan(),
                (crate::values::Float::Term(x), crate::values::Float::Term(y)) => x == y,
                _ => false,
            };
            if is_same_object {
                // Identity of the two is not tracked. It matters only if one may be nan.
                let not_nan = self.is_not_nan(a);
                if !self.decide(not_nan)? {
                    return self.unsupported("identity of nan in a container");
                }
                return Ok(Bool::Known(true));
            }
        }
        self.equal(a, b)
    }

    /// `a is b`.
    fn identical(&mut self, left: &Value, right: &Value) -> OrTrap<Bool> {
        let known = |value| Ok(Bool::Known(value));
        match (left, right) {
            (Value::None, Value::None)
            | (Value::NotImplemented, Value::NotImplemented)
            | (Value::Ellipsis, Value::Ellipsis) => known(true),
            (Value::Bool(a), Value::Bool(b)) => {
                let (a, b) = (self.truth_term(*a), self.truth_term(*b));
                let same = self.terms.iff(a, b);
                Ok(self.truth_of(same))
            }
            (Value::Object(a), Value::Object(b)) => {
                self.state.is_touched |= self.state.is_input(*a) && self.state.is_input(*b);
                known(a == b)
            }
            (Value::Type(a), Value::Type(b)) => known(a == b),
            (Value::Builtin(a), Value::Builtin(b)) => known(a == b),
            (Value::Module(a), Value::Module(b)) => known(a == b),
            (Value::Int(_), Value::Int(_))
            | (Value::Str(_), Value::Str(_))
            | (Value::Float(_), Value::Float(_))
            | (Value::Bytes(_), Value::Bytes(_))
            | (Value::Tuple(_), Value::Tuple(_)) => {
                self.unsupported("`is` on values without a promised identity")
            }
            _ => known(false),
        }
    }

    /// `item in container`.
    pub(crate) fn contains(&mut self, container: &Value, item: &Value) -> OrTrap<Bool> {
        match container {
            Value::Str(text) => match item {
                Value::Str(part) => self.str_contains(text, part),
                other => {
                    let name = self.type_name(other);
                    let text = format!("'in <string>' requires string as left operand, not {name}");
                    self.raise("TypeError", text)
                }
            },
            Value::Range(_) if matches!(item, Value::Int(_) | Value::Bool(_)) => {
                self.range_contains(container, item)
            }
            Value::Object(id) => match self.state.share(*id).as_ref() {
                Object::Dict(dict) => {
                    self.check_hashable(item)?;
                    Ok(Bool::Known(self.key_position(&dict.entries, item)?.is_some()))
                }
                Object::View(crate::values::ViewKind::Keys, dict) => {
                    self.contains(&Value::Object(*dict), item)
                }
                Object::Set(items) | Object::FrozenSet(items) => {
                    self.check_hashable(item)?;
                    self.any_equal(items, item)
                }
                Object::Instance(_) => match self.special(container, "__contains__")? {
                    Some(method) => {
                        let result = self.call(&method, vec![item.clone()], Vec::new())?;
                        self.truth(&result)
                    }
                    None => self.contains_by_iteration(container, item),
                },
                _ => self.contains_by_iteration(container, item),
            },
            _ => self.contains_by_iteration(container, item),
        }
    }

    fn contains_by_iteration(&mut self, container: &Value, item: &Value) -> OrTrap<Bool> {
        let iterable = match self.is_iterable(container)? {
            true => container.clone(),
            false => {
                let name = self.type_name(container);
                return self.raise("TypeError", format!("argument of type '{name}' is not iterable"));
            }
        };
        if let Value::Tuple(items) = &iterable {
            return self.any_equal(items, item);
        }
        if let Value::Object(id) = &iterable
            && let Object::List(items) = self.state.share(*id).as_ref()
        {
            return self.any_equal(items, item);
        }
        let iterator = self.iterator(&iterable)?;
        while let Some(found) = self.next(&iterator)? {
            let equal = self.same_or_equal(&found, item)?;
            if self.decide(equal)? {
                return Ok(Bool::Known(true));
            }
        }
        Ok(Bool::Known(false))
    }

    fn any_equal(&mut self, items: &[Value], item: &Value) -> OrTrap<Bool> {
        let mut any = Terms::FALSE;
        for found in items {
            let equal = self.same_or_equal(found, item)?;
            if equal == Bool::Known(true) {
                return Ok(equal);
            }
            let equal = self.truth_term(equal);
            any = self.terms.or(any, equal);
        }
        Ok(self.truth_of(any))
    }

    /// `<`, `<=`, `>`, `>=`.
    pub(crate) fn order(&mut self, op: CompareOp, left: &Value, right: &Value) -> OrTrap<Value> {
        let truth = match (left, right) {
            (
                Value::Bool(_) | Value::Int(_) | Value::Float(_),
                Value::Bool(_) | Value::Int(_) | Value::Float(_),
            ) => self.number_compare(op, left, right)?,
            (Value::Str(a), Value::Str(b)) => self.str_order(op, a, b)?,
            (Value::Bytes(a), Value::Bytes(b)) => Bool::Known(holds(op, a.cmp(b))),
            (Value::Tuple(a), Value::Tuple(b)) => return self.order_items(op, &a.clone(), &b.clone()),
            (Value::Object(_), _) | (_, Value::Object(_)) => return self.order_objects(op, left, right),
            _ => return self.no_order(op, left, right),
        };
        Ok(Value::Bool(truth))
    }

    fn no_order<T>(&mut self, op: CompareOp, left: &Value, right: &Value) -> OrTrap<T> {
        let (a, b) = (self.type_name(left), self.type_name(right));
        let symbol = symbol(op);
        self.raise("TypeError", format!("'{symbol}' not supported between instances of '{a}' and '{b}'"))
    }

    fn order_items(&mut self, op: CompareOp, a: &[Value], b: &[Value]) -> OrTrap<Value> {
        for (x, y) in a.iter().zip(b) {
            let equal = self.same_or_equal(x, y)?;
            if !self.decide(equal)? {
                return self.order(op, x, y);
            }
        }
        Ok(Value::bool(holds(op, a.len().cmp(&b.len()))))
    }

    fn order_objects(&mut self, op: CompareOp, left: &Value, right: &Value) -> OrTrap<Value> {
        let attempts = [(left, right, op), (right, left, mirrored(op))];
        for (receiver, other, op) in attempts {
            if let Some(method) = self.special(receiver, method_name(op))? {
                let result = self.call(&method, vec![other.clone()], Vec::new())?;
                if !matches!(result, Value::NotImplemented) {
                    return Ok(result);
                }
            }
        }
        if let (Value::Object(a), Value::Object(b)) = (left, right) {
            match (self.state.share(*a).as_ref(), self.state.share(*b).as_ref()) {
                (Object::List(_) | Object::OpenList(_), Object::List(_) | Object::OpenList(_)) => {
                    let (a, b) = (self.collect(left)?, self.collect(right)?);
                    return self.order_items(op, &a, &b);
                }
                (Object::Deque(a, _), Object::Deque(b, _)) => return self.order_items(op, a, b),
                (Object::Set(a) | Object::FrozenSet(a), Object::Set(b) | Object::FrozenSet(b)) => {
                    let result = self.set_order(op, a, b)?;
                    return Ok(Value::bool(result));
                }
                (
                    Object::Dict(Dict { kind: DictKind::Counter, .. }),
                    Object::Dict(Dict { kind: DictKind::Counter, .. }),
                ) => return self.order_counters(op, left, right),
                (Object::Instance(a), Object::Instance(b)) if a.class == b.class => {
                    if let Type::User(id) = a.class
                        && let Some(class) = self.class_of(id)
                        && matches!(class.kind, ClassKind::Data { ordered: true, .. })
                    {
                        let (a, b) = (self.field_values(left)?, self.field_values(right)?);
                        return self.order_items(op, &a, &b);
                    }
                }
                _ => {}
            }
        }
        match (self.underlying(left), self.underlying(right)) {
            (Some(a), Some(b)) if !matches!((&a, &b), (Value::Object(_), _) | (_, Value::Object(_))) => {
                self.order(op, &a, &b)
            }
            _ => self.no_order(op, left, right),
        }
    }

    /// Counters are ordered by inclusion.
    fn order_counters(&mut self, op: CompareOp, left: &Value, right: &Value) -> OrTrap<Value> {
        let (a, b) = if matches!(op, CompareOp::Lt | CompareOp::Le) { (left, right) } else { (right, left) };
        let args = vec![a.clone(), b.clone()];
        let below = self.call_library("collections", "_counts_below", args.clone())?;
        if matches!(op, CompareOp::Le | CompareOp::Ge) || !self.decide_value(&below)? {
            return Ok(below);
        }
        let equal = self.call_library("collections", "_counts_equal", args)?;
        let truth = self.truth(&equal)?;
        Ok(Value::Bool(self.not_truth(truth)))
    }

    /// Decides `left < right`.
    pub(crate) fn is_less(&mut self, left: &Value, right: &Value) -> OrTrap<bool> {
        let result = self.order(CompareOp::Lt, left, right)?;
        self.decide_value(&result)
    }

    /// Whether two strings are equal.
    pub(crate) fn str_equal(&mut self, a: &Str, b: &Str) -> OrTrap<Bool> {
        match (a, b) {
            (Str::Known(a), Str::Known(b)) => Ok(Bool::Known(a == b)),
            (Str::Open(a), Str::Open(b))
                if (&a.name, a.offset, a.length) == (&b.name, b.offset, b.length) =>
            {
                Ok(Bool::Known(true))
            }
            _ => self.str_equal_terms(a, b),
        }
    }
}

pub(crate) fn holds(op: CompareOp, order: Ordering) -> bool {
    match op {
        CompareOp::Lt => order.is_lt(),
        CompareOp::Le => order.is_le(),
        CompareOp::Gt => order.is_gt(),
        CompareOp::Ge => order.is_ge(),
        CompareOp::Ne => order.is_ne(),
        _ => order.is_eq(),
    }
}

fn symbol(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
        _ => "==",
    }
}

fn method_name(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Lt => "__lt__",
        CompareOp::Le => "__le__",
        CompareOp::Gt => "__gt__",
        _ => "__ge__",
    }
}

pub(crate) fn mirrored(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Lt => CompareOp::Gt,
        CompareOp::Le => CompareOp::Ge,
        CompareOp::Gt => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Le,
        other => other,
    }
}
