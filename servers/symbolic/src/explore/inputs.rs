//! Symbolic inputs: values with unknown leaves, and their concrete values under a model.

use std::rc::Rc;

use super::machine::{Machine, OrTrap, Trap};
use crate::frontend::ir::Name;
use crate::terms::{Interval, Model, Sort};
use crate::values::{
    Bool, ClassKind, Dict, DictKind, Float, InstanceField, Int, Object, ObjectId, PyValue, Str, Type,
    UnboundedList, UnboundedStr, Value,
};

/// The type of a symbolic input.
#[derive(Clone, Debug)]
pub(crate) enum InputType {
    None,
    Bool,
    Int,
    Float,
    Str,
    List(Rc<InputType>),
    Tuple(Vec<InputType>),
    /// `tuple[int, ...]`.
    TupleOf(Rc<InputType>),
    Dict(Rc<InputType>, Rc<InputType>),
    Set(Rc<InputType>),
    FrozenSet(Rc<InputType>),
    Union(Vec<InputType>),
    /// Values of the analysed code: literals, members of an enum.
    OneOf(Vec<Value>),
    /// An instance created by calling a class with keyword arguments.
    Instance(ObjectId, Vec<(Name, InputType)>),
    /// A function that returns the same value for every argument. It covers only some functions, so the
    /// verdict is not a proof.
    Constant(Rc<InputType>),
    /// No annotation. The common types are tried, and the verdict is not a proof.
    Unknown,
    /// An unsupported annotation.
    Unsupported(String),
}

impl InputType {
    /// The types that are tried without an annotation.
    pub(crate) fn common() -> Vec<Self> {
        vec![Self::Int, Self::Bool, Self::Str, Self::Float, Self::None, Self::List(Rc::new(Self::Int))]
    }

    /// Whether values of this type are immutable.
    pub(crate) fn is_plain(&self) -> bool {
        match self {
            Self::None | Self::Bool | Self::Int | Self::Float | Self::Str => true,
            Self::Union(kinds) | Self::Tuple(kinds) => kinds.iter().all(Self::is_plain),
            Self::TupleOf(kind) | Self::FrozenSet(kind) => kind.is_plain(),
            Self::OneOf(values) => values.iter().all(|value| !matches!(value, Value::Object(_))),
            _ => false,
        }
    }
}

impl Machine {
    /// Creates an input of a type. Its variables are named after it.
    pub(crate) fn make_input(&mut self, name: &str, kind: &InputType) -> OrTrap<Value> {
        let value = self.make_kind(name, kind)?;
        if matches!(
            kind,
            InputType::List(_) | InputType::Dict(..) | InputType::Set(_) | InputType::Instance(..)
        ) {
            self.state.note_input(&value);
        }
        Ok(value)
    }

    fn make_kind(&mut self, name: &str, kind: &InputType) -> OrTrap<Value> {
        Ok(match kind {
            InputType::None => Value::None,
            InputType::Bool => {
                let term = self.terms.var(name, Sort::Bool, Interval::ALL);
                Value::Bool(Bool::Term(term))
            }
            InputType::Int => {
                let term = self.terms.var(name, Sort::Int, Interval::ALL);
                Value::Int(Int::Term(term))
            }
            InputType::Float => {
                let term = self.terms.var(name, Sort::Float, Interval::ALL);
                Value::Float(Float::Term(term))
            }
            InputType::Str => {
                let length = self.terms.var(&format!("len({name})"), Sort::Int, Interval::from(0));
                Value::Str(Str::Open(Rc::new(UnboundedStr { name: name.to_owned(), offset: 0, length })))
            }
            InputType::List(element) => {
                let length = self.terms.var(&format!("len({name})"), Sort::Int, Interval::from(0));
                let (name, element) = (name.to_owned(), element.clone());
                self.object(Object::OpenList(UnboundedList { name, element, length, prefix: Vec::new() }))
            }
            InputType::Tuple(items) => {
                let mut values = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    values.push(self.make_input(&format!("{name}[{index}]"), item)?);
                }
                Value::tuple(values)
            }
            InputType::TupleOf(element) => Value::tuple(self.make_items(name, element)?),
            InputType::Set(element) => {
                let items = self.make_distinct(name, element)?;
                self.object(Object::Set(items))
            }
            InputType::FrozenSet(element) => {
                let items = self.make_distinct(name, element)?;
                self.object(Object::FrozenSet(items))
            }
            InputType::Dict(key, value) => {
                let keys = self.make_distinct(&format!("list({name})"), key)?;
                let mut entries = Vec::new();
                for (index, key) in keys.into_iter().enumerate() {
                    let item = self.make_input(&format!("list({name}.values())[{index}]"), value)?;
                    entries.push((key, item));
                }
                self.object(Object::Dict(Dict { entries, kind: DictKind::Plain }))
            }
            InputType::Union(kinds) => {
                let chosen = self.make_choice(name, kinds.len())?;
                match kinds.get(chosen) {
                    Some(kind) => self.make_input(name, kind)?,
                    None => return Err(Trap::Bug("no alternative")),
                }
            }
            InputType::Unknown => return self.make_input(name, &InputType::Union(InputType::common())),
            InputType::OneOf(values) => {
                let chosen = self.make_choice(name, values.len())?;
                values.get(chosen).cloned().ok_or(Trap::Bug("no alternative"))?
            }
            InputType::Instance(class, fields) => {
                let mut keywords = Vec::new();
                for (field, kind) in fields {
                    keywords.push((field.clone(), self.make_lazily(&format!("{name}.{field}"), kind)?));
                }
                match self.instantiate(Type::User(*class), Vec::new(), keywords) {
                    Err(Trap::Raise(_)) => {
                        let class = self.name_of_type(Type::User(*class));
                        self.leave_out(format!("arguments that {class}() refuses make no input"));
                        return Err(Trap::Discard);
                    }
                    other => other?,
                }
            }
            InputType::Constant(result) => {
                let result = self.make_input(&format!("{name}()"), result)?;
                self.constant_function(result)
            }
            InputType::Unsupported(what) => return self.unsupported(format!("a parameter of type {what}")),
        })
    }

    /// Like `make_input`, but defers a collection whose size must be decided.
    pub(crate) fn make_lazily(&mut self, name: &str, kind: &InputType) -> OrTrap<Value> {
        match kind {
            InputType::Dict(..) | InputType::Set(_) | InputType::FrozenSet(_) => {
                let value = self.object(Object::Pending(name.into(), Rc::new(kind.clone())));
                self.state.note_input(&value);
                Ok(value)
            }
            kind => self.make_input(name, kind),
        }
    }

    /// Creates a deferred input.
    pub(crate) fn force(&mut self, value: &Value) -> OrTrap<()> {
        let Value::Object(id) = value else { return Ok(()) };
        let Object::Pending(name, kind) = self.state.get(*id).clone() else { return Ok(()) };
        let made = self.make_input(&name, &kind)?;
        if let Value::Object(made) = made {
            let object = self.state.get(made).clone();
            self.state.settle(*id, object);
        }
        Ok(())
    }

    fn make_choice(&mut self, name: &str, count: usize) -> OrTrap<usize> {
        let last = i64::try_from(count).unwrap_or(1) - 1;
        let kind = self.terms.var(&format!("type({name})"), Sort::Int, Interval::of(0, last.max(0)));
        for candidate in 0..count.saturating_sub(1) {
            let value = self.terms.int(candidate);
            let is = self.terms.int_eq(kind, value);
            if self.decide_term(is)? {
                return Ok(candidate);
            }
        }
        Ok(count.saturating_sub(1))
    }

    fn make_items(&mut self, name: &str, element: &InputType) -> OrTrap<Vec<Value>> {
        let length = self.terms.var(&format!("len({name})"), Sort::Int, Interval::from(0));
        let length = self.choose_length(length)?;
        (0..length).map(|index| self.make_input(&format!("{name}[{index}]"), element)).collect()
    }

    fn make_distinct(&mut self, name: &str, element: &InputType) -> OrTrap<Vec<Value>> {
        let items = self.make_items(name, element)?;
        for (index, item) in items.iter().enumerate() {
            self.check_hashable(item)?;
            for earlier in items.iter().take(index) {
                let equal = self.equal(earlier, item)?;
                if self.decide(equal)? {
                    return Err(Trap::Discard);
                }
                // A nan equals nothing, not even itself. Two nan keys are left out.
                let (one, two) = (self.is_not_nan(earlier), self.is_not_nan(item));
                let (one, two) = (self.truth_term(one), self.truth_term(two));
                let is_one_at_most = self.terms.or(one, two);
                if !self.decide_term(is_one_at_most)? {
                    self.leave_out("a set, or the keys of a dict, hold at most one nan".to_owned());
                    return Err(Trap::Discard);
                }
            }
        }
        Ok(items)
    }

    /// The value of an input under a model, by the names and choices of `make_input`. `None` if it is not
    /// data.
    pub(crate) fn input_under(&self, model: &Model, name: &str, kind: &InputType) -> Option<PyValue> {
        let var = |name: &str, sort| self.terms.find_var(name, sort);
        Some(match kind {
            InputType::None => PyValue::None,
            InputType::Bool => {
                PyValue::Bool(var(name, Sort::Bool).is_some_and(|term| model.truth(&self.terms, term)))
            }
            InputType::Int => PyValue::Int(
                var(name, Sort::Int).map(|term| model.int(&self.terms, term)).unwrap_or_default(),
            ),
            InputType::Float => {
                PyValue::Float(var(name, Sort::Float).map_or(0.0, |term| model.float(&self.terms, term)))
            }
            InputType::Str => {
                let length = self.length_under(model, name)?;
                let point = |place| match var(&format!("ord({name}[{place}])"), Sort::Int) {
                    Some(term) => u32::try_from(model.int(&self.terms, term)).unwrap_or(97),
                    // The path never accessed it.
                    None => 97,
                };
                PyValue::Str((0..length).map(point).collect())
            }
            InputType::List(element) => PyValue::List(self.items_under(model, name, element)?),
            InputType::TupleOf(element) => PyValue::Tuple(self.items_under(model, name, element)?),
            InputType::Set(element) => PyValue::Set(self.items_under(model, name, element)?),
            InputType::FrozenSet(element) => PyValue::FrozenSet(self.items_under(model, name, element)?),
            InputType::Tuple(items) => {
                let items = items.iter().enumerate();
                let values =
                    items.map(|(index, item)| self.input_under(model, &format!("{name}[{index}]"), item));
                PyValue::Tuple(values.collect::<Option<_>>()?)
            }
            InputType::Dict(key, value) => {
                let keys = self.items_under(model, &format!("list({name})"), key)?;
                let mut entries = Vec::new();
                for (index, key) in keys.into_iter().enumerate() {
                    let name = format!("list({name}.values())[{index}]");
                    entries.push((key, self.input_under(model, &name, value)?));
                }
                PyValue::Dict(entries)
            }
            InputType::Union(kinds) => {
                self.input_under(model, name, kinds.get(self.choice_under(model, name))?)?
            }
            InputType::Unknown => self.input_under(model, name, &InputType::Union(InputType::common()))?,
            InputType::OneOf(values) => self.known_data(values.get(self.choice_under(model, name))?)?,
            InputType::Instance(class, fields) => {
                let mut known = Vec::new();
                for (field, kind) in fields {
                    let value = self.input_under(model, &format!("{name}.{field}"), kind)?;
                    known.push(InstanceField { name: field.to_string(), value });
                }
                PyValue::Instance { class: self.class_of(*class)?.name.to_string(), fields: known }
            }
            InputType::Constant(result) => {
                let result = self.input_under(model, &format!("{name}()"), result)?;
                PyValue::Constant(Box::new(result))
            }
            InputType::Unsupported(_) => return None,
        })
    }

    fn length_under(&self, model: &Model, name: &str) -> Option<usize> {
        let length = match self.terms.find_var(&format!("len({name})"), Sort::Int) {
            Some(term) => model.int(&self.terms, term),
            None => return Some(0),
        };
        usize::try_from(length).ok().filter(|length| *length < 10_000)
    }

    fn items_under(&self, model: &Model, name: &str, element: &InputType) -> Option<Vec<PyValue>> {
        let length = self.length_under(model, name)?;
        let names: Vec<String> = (0..length).map(|index| format!("{name}[{index}]")).collect();
        self.shared_inputs(model, &names, &vec![element; length])
    }

    /// Inputs under a model. Some may be the same object as an earlier one.
    pub(crate) fn shared_inputs(
        &self,
        model: &Model,
        names: &[String],
        kinds: &[&InputType],
    ) -> Option<Vec<PyValue>> {
        let mut found: Vec<PyValue> = Vec::new();
        for (index, (name, kind)) in names.iter().zip(kinds).enumerate() {
            let earlier = names.get(..index).unwrap_or_default();
            let same = if self.is_sharing { self.shared_under(model, name, earlier) } else { None };
            let value = match same.and_then(|place| names.get(place).zip(found.get_mut(place))) {
                Some((_, PyValue::SameAs(label))) => PyValue::SameAs(label.clone()),
                Some((first, value)) => {
                    let label = super::label(first);
                    if !matches!(value, PyValue::Named(..)) {
                        *value = PyValue::Named(label.clone(), Box::new(value.clone()));
                    }
                    PyValue::SameAs(label)
                }
                None => self.input_under(model, name, kind)?,
            };
            found.push(value);
        }
        Some(found)
    }

    fn choice_under(&self, model: &Model, name: &str) -> usize {
        let term = self.terms.find_var(&format!("type({name})"), Sort::Int);
        term.and_then(|term| usize::try_from(model.int(&self.terms, term)).ok()).unwrap_or(0)
    }

    /// Converts a value without unknown parts to data.
    pub(crate) fn known_data(&self, value: &Value) -> Option<PyValue> {
        let all =
            |items: &[Value]| items.iter().map(|item| self.known_data(item)).collect::<Option<Vec<_>>>();
        Some(match value {
            Value::None => PyValue::None,
            Value::Bool(Bool::Known(value)) => PyValue::Bool(*value),
            Value::Int(Int::Known(value)) => PyValue::Int((**value).clone()),
            Value::Float(Float::Known(value)) => PyValue::Float(*value),
            Value::Str(Str::Known(points)) => PyValue::Str(points.to_vec()),
            Value::Bytes(bytes) => PyValue::Bytes(bytes.to_vec()),
            Value::Tuple(items) => PyValue::Tuple(all(items)?),
            Value::Object(id) => match self.state.get(*id) {
                Object::List(items) => PyValue::List(all(items)?),
                Object::Set(items) => PyValue::Set(all(items)?),
                Object::FrozenSet(items) => PyValue::FrozenSet(all(items)?),
                Object::Dict(dict) if matches!(dict.kind, DictKind::Plain) => {
                    let pairs = dict.entries.iter();
                    let pairs =
                        pairs.map(|(key, value)| Some((self.known_data(key)?, self.known_data(value)?)));
                    PyValue::Dict(pairs.collect::<Option<_>>()?)
                }
                Object::Instance(instance) => {
                    let Type::User(class) = instance.class else { return None };
                    let found = self.class_of(class)?;
                    if found.kind != ClassKind::Enum {
                        return None;
                    }
                    let name = instance.attributes.iter().find(|(name, _)| &**name == "name")?;
                    PyValue::EnumMember { class: found.name.to_string(), member: name.1.as_text()? }
                }
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Converts data to a value of the interpreter.
    pub(crate) fn value_of(&mut self, data: &PyValue) -> OrTrap<Value> {
        Ok(match data {
            PyValue::None => Value::None,
            PyValue::Bool(value) => Value::bool(*value),
            PyValue::Int(value) => Value::int(value.clone()),
            PyValue::Float(value) => Value::float(*value),
            PyValue::Str(points) => Value::points(points.clone()),
            PyValue::Bytes(bytes) => Value::Bytes(Rc::new(bytes.clone())),
            PyValue::Tuple(items) => Value::tuple(self.values_of(items)?),
            PyValue::List(items) => {
                let items = self.values_of(items)?;
                self.list(items)
            }
            PyValue::Set(items) => {
                let items = self.values_of(items)?;
                self.object(Object::Set(items))
            }
            PyValue::FrozenSet(items) => {
                let items = self.values_of(items)?;
                self.object(Object::FrozenSet(items))
            }
            PyValue::Dict(entries) => {
                let mut values = Vec::new();
                for (key, value) in entries {
                    values.push((self.value_of(key)?, self.value_of(value)?));
                }
                self.new_dict(values, DictKind::Plain)?
            }
            PyValue::EnumMember { class, member } => {
                let class = self.named_global(class)?;
                self.attribute(&class, member)?
            }
            PyValue::Instance { class, fields } => {
                let class = self.named_global(class)?;
                let mut keywords = Vec::new();
                for field in fields {
                    keywords.push((Rc::from(field.name.as_str()), self.value_of(&field.value)?));
                }
                self.call(&class, Vec::new(), keywords)?
            }
            PyValue::Constant(result) => {
                let result = self.value_of(result)?;
                self.constant_function(result)
            }
            PyValue::Named(_, value) => self.value_of(value)?,
            PyValue::SameAs(_) => return self.unsupported("a shared value"),
            PyValue::Opaque(_) => return self.unsupported("an opaque value"),
        })
    }

    fn constant_function(&mut self, result: Value) -> Value {
        let constant = Value::Builtin("functools.constant");
        self.object(Object::Partial(constant, Rc::new(vec![result]), Rc::default()))
    }

    fn values_of(&mut self, items: &[PyValue]) -> OrTrap<Vec<Value>> {
        items.iter().map(|item| self.value_of(item)).collect()
    }

    fn named_global(&self, name: &str) -> OrTrap<Value> {
        self.state.globals.get(name).cloned().ok_or(Trap::Bug("no such class"))
    }
}
