//! Calling Python's own types.

use std::rc::Rc;

use num_traits::ToPrimitive;

use super::calls::Keywords;
use super::machine::{Machine, R};
use super::numbers::Number;
use crate::values::{Float, Instance, Int, Iter, Kind, Object, Str, Type, Value};

impl Machine {
    /// Calls one of Python's own types.
    pub(super) fn construct(&mut self, kind: Kind, args: Vec<Value>, keywords: Keywords) -> R<Value> {
        if let Kind::Exception(_) = kind {
            let class = Type::Builtin(kind);
            let payload = Some(Value::tuple(args));
            return Ok(self.object(Object::Instance(Instance { class, attributes: Vec::new(), payload })));
        }
        match kind {
            Kind::Dict | Kind::OrderedDict | Kind::DefaultDict | Kind::Counter => {
                return self.construct_dict(kind, args, keywords);
            }
            Kind::Deque => return self.construct_deque(args, keywords),
            Kind::Enumerate | Kind::Zip | Kind::Map | Kind::Filter | Kind::Reversed => {
                return self.construct_iterator(kind, args, keywords);
            }
            Kind::Partial => {
                let mut args = args;
                if args.is_empty() {
                    return self.wrong_arguments("partial");
                }
                let function = args.remove(0);
                return Ok(self.object(Object::Partial(function, Rc::new(args), Rc::new(keywords))));
            }
            Kind::Int => return self.construct_int(&args, &keywords),
            _ => {}
        }
        if !keywords.is_empty() {
            return self.unsupported(format!("keywords of {}()", kind.name()));
        }
        match (kind, args.as_slice()) {
            (Kind::Bool, []) => Ok(Value::bool(false)),
            (Kind::Bool, [value]) => self.truth(value).map(Value::Bool),
            (Kind::Float, []) => Ok(Value::float(0.0)),
            (Kind::Float, [value]) => self.construct_float(value),
            (Kind::Str, []) => Ok(Value::text("")),
            (Kind::Str, [value]) => self.str_of(value).map(Value::Str),
            (Kind::Tuple, []) => Ok(Value::tuple(Vec::new())),
            (Kind::Tuple, [Value::Tuple(items)]) => Ok(Value::Tuple(items.clone())),
            (Kind::Tuple, [items]) => self.collect(items).map(Value::tuple),
            (Kind::List, []) => Ok(self.list(Vec::new())),
            (Kind::List, [items]) => {
                let items = self.collect(items)?;
                Ok(self.list(items))
            }
            (Kind::Set | Kind::FrozenSet, args @ ([] | [_])) => {
                let items = match args.first() {
                    Some(items) => self.collect_unordered(items)?,
                    None => Vec::new(),
                };
                let items = self.distinct(&items)?;
                Ok(self.object(if kind == Kind::Set { Object::Set(items) } else { Object::FrozenSet(items) }))
            }
            (Kind::Range, args @ ([_] | [_, _] | [_, _, _])) => self.construct_range(args),
            (Kind::Slice, [stop]) => Ok(Value::Slice(Rc::new([Value::None, stop.clone(), Value::None]))),
            (Kind::Slice, [a, b]) => Ok(Value::Slice(Rc::new([a.clone(), b.clone(), Value::None]))),
            (Kind::Slice, [a, b, c]) => Ok(Value::Slice(Rc::new([a.clone(), b.clone(), c.clone()]))),
            (Kind::Object, []) => Ok(self.object(Object::Instance(Instance {
                class: Type::Builtin(Kind::Object),
                attributes: Vec::new(),
                payload: None,
            }))),
            (Kind::Type, [value]) => Ok(Value::Type(self.type_of(value))),
            (Kind::Property, [getter]) => Ok(self.object(Object::Property(getter.clone(), Value::None))),
            (Kind::Property, [getter, setter]) => {
                Ok(self.object(Object::Property(getter.clone(), setter.clone())))
            }
            (Kind::StaticMethod, [function]) => Ok(self.object(Object::Static(function.clone()))),
            (Kind::ClassMethod, [function]) => Ok(self.object(Object::ClassMethod(function.clone()))),
            (Kind::Super, []) => self.make_super(),
            (Kind::Super, [Value::Type(Type::User(class)), receiver]) => {
                Ok(self.object(Object::Super(*class, receiver.clone())))
            }
            _ => self.unsupported(format!("this call of {}()", kind.name())),
        }
    }

    fn construct_range(&mut self, args: &[Value]) -> R<Value> {
        let mut parts = Vec::new();
        for value in args {
            match self.as_index(value) {
                Some(value) => parts.push(value),
                None => {
                    let name = self.type_name(value);
                    return self
                        .raise("TypeError", format!("'{name}' object cannot be interpreted as an integer"));
                }
            }
        }
        let (start, stop, step) = match parts.as_slice() {
            [stop] => (Int::from(0), stop.clone(), Int::from(1)),
            [start, stop] => (start.clone(), stop.clone(), Int::from(1)),
            [start, stop, step] => (start.clone(), stop.clone(), step.clone()),
            _ => return self.wrong_arguments("range"),
        };
        let is_zero =
            self.number_compare(crate::ir::CompareOp::Eq, &Value::Int(step.clone()), &Value::int(0))?;
        if self.decide(is_zero)? {
            return self.raise("ValueError", "range() arg 3 must not be zero");
        }
        Ok(Value::Range(Rc::new([start, stop, step])))
    }

    fn construct_iterator(&mut self, kind: Kind, args: Vec<Value>, keywords: Keywords) -> R<Value> {
        let iter = match (kind, args.as_slice()) {
            (Kind::Enumerate, [items, rest @ ..]) => {
                let start =
                    rest.first().cloned().or_else(|| keywords.first().map(|(_, value)| value.clone()));
                let start = start.unwrap_or_else(|| Value::int(0));
                let Some(start) = self.as_index(&start) else { return self.wrong_arguments("enumerate") };
                let inner = self.iterator(items)?;
                Iter::Enumerate(inner, start)
            }
            (Kind::Zip, args) => {
                let strict = match keywords.first() {
                    Some((_, value)) => self.decide_value(value)?,
                    None => false,
                };
                let mut inners = Vec::new();
                for value in args {
                    inners.push(self.iterator(value)?);
                }
                Iter::Zip(Rc::new(inners), strict)
            }
            (Kind::Map, [function, args @ ..]) if !args.is_empty() => {
                let mut inners = Vec::new();
                for value in args {
                    inners.push(self.iterator(value)?);
                }
                Iter::Map(function.clone(), Rc::new(inners))
            }
            (Kind::Filter, [function, items]) => {
                let inner = self.iterator(items)?;
                Iter::Filter(function.clone(), inner)
            }
            (Kind::Reversed, [value]) => {
                if let Some(method) = self.special(value, "__reversed__")? {
                    return self.call(&method, Vec::new(), Vec::new());
                }
                let is_set = matches!(value, Value::Object(id) if matches!(self.state.get(*id), Object::Set(_) | Object::FrozenSet(_) | Object::Iter(_) | Object::Generator(_)));
                if is_set || !self.is_iterable(value)? {
                    let name = self.type_name(value);
                    return self.raise("TypeError", format!("'{name}' object is not reversible"));
                }
                let mut items = self.collect(value)?;
                items.reverse();
                Iter::Items(Rc::new(items), 0)
            }
            _ => return self.wrong_arguments(kind.name()),
        };
        Ok(self.object(Object::Iter(iter)))
    }

    fn construct_float(&mut self, value: &Value) -> R<Value> {
        match self.as_number(value) {
            Some(Number::Int(value)) => self.nearest_float(&value).map(Value::Float),
            Some(Number::Float(value)) => Ok(Value::Float(value)),
            None => match value {
                Value::Str(Str::Known(points)) => {
                    let Ok(digits) = super::unicode::ascii_digits(points) else {
                        return self.unsupported("float() of these characters");
                    };
                    match parse_float(&digits) {
                        Some(value) => Ok(Value::float(value)),
                        None => {
                            let shown = crate::values::text::repr(points);
                            self.raise("ValueError", format!("could not convert string to float: {shown}"))
                        }
                    }
                }
                Value::Str(_) => self.unsupported("float() of an unknown text"),
                _ => match self.special(value, "__float__")? {
                    Some(method) => self.call(&method, Vec::new(), Vec::new()),
                    None => {
                        let name = self.type_name(value);
                        let text =
                            format!("float() argument must be a string or a real number, not '{name}'");
                        self.raise("TypeError", text)
                    }
                },
            },
        }
    }

    fn construct_int(&mut self, args: &[Value], keywords: &Keywords) -> R<Value> {
        let base = args
            .get(1)
            .or_else(|| keywords.iter().find(|(name, _)| &**name == "base").map(|(_, value)| value));
        match (args.first(), base.cloned()) {
            (None, None) => Ok(Value::int(0)),
            (Some(Value::Str(text)), base) => {
                let base = match base {
                    Some(base) => match self.as_index(&base) {
                        Some(base) => self.choose_small(&base)?,
                        None => return self.wrong_arguments("int"),
                    },
                    None => 10,
                };
                self.parse_int(&text.clone(), base)
            }
            (Some(value), None) => match self.as_number(value) {
                Some(Number::Int(value)) => Ok(Value::Int(value)),
                Some(Number::Float(value)) => self.truncate(value),
                None => match self.special(value, "__int__")? {
                    Some(method) => self.call(&method, Vec::new(), Vec::new()),
                    None => {
                        let name = self.type_name(value);
                        let text = format!(
                            "int() argument must be a string, a bytes-like object or a real number, not '{name}'"
                        );
                        self.raise("TypeError", text)
                    }
                },
            },
            _ => self.raise("TypeError", "int() can't convert non-string with explicit base"),
        }
    }

    /// An integer from a float, towards zero.
    pub(crate) fn truncate(&mut self, value: Float) -> R<Value> {
        self.rounded(value, crate::terms::Rounding::Zero)
    }

    pub(crate) fn rounded(&mut self, value: Float, mode: crate::terms::Rounding) -> R<Value> {
        let term = self.float_term(value);
        let (nan, infinite) = (self.terms.float_is_nan(term), self.terms.float_is_inf(term));
        if self.decide_term(nan)? {
            return self.raise("ValueError", "cannot convert float NaN to integer");
        }
        if self.decide_term(infinite)? {
            return self.raise("OverflowError", "cannot convert float infinity to integer");
        }
        let rounded = self.terms.float_round(mode, term);
        let term = self.terms.int_of_float(rounded);
        Ok(self.int_value(term))
    }

    pub(crate) fn small_count(&mut self, value: &Value) -> R<Option<usize>> {
        match self.as_index(value) {
            Some(value) => Ok(self.choose(&value)?.to_usize()),
            None => Ok(None),
        }
    }
}

fn parse_float(points: &[u32]) -> Option<f64> {
    let text = crate::values::text::to_string(points)?;
    let text = text.trim_matches(|c: char| super::strings::is_space_of_number(u32::from(c)));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
    if !text.chars().all(is_plain) || text.starts_with('_') || text.ends_with('_') || text.contains("__") {
        return None;
    }
    // An underscore stands between digits only.
    let bytes = text.as_bytes();
    for (index, byte) in bytes.iter().enumerate() {
        if *byte == b'_' {
            let before = index.checked_sub(1).and_then(|at| bytes.get(at));
            let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
            if !is_digit(before) || !is_digit(bytes.get(index + 1)) {
                return None;
            }
        }
    }
    text.replace('_', "").parse().ok()
}
