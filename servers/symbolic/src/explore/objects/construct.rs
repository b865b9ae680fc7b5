//! Calls of built-in types.

use std::rc::Rc;

use num_traits::ToPrimitive;

use crate::explore::calls::Keywords;
use crate::explore::machine::{Machine, OrTrap};
use crate::explore::numeric::numbers::Number;
use crate::values::{BuiltinType, Float, Instance, Int, IteratorState, Object, Str, Type, Value};

impl Machine {
    /// Calls a built-in type.
    pub(crate) fn construct(
        &mut self,
        kind: BuiltinType,
        args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<Value> {
        if let BuiltinType::Exception(_) = kind {
            let class = Type::Builtin(kind);
            let payload = Some(Value::tuple(args));
            return Ok(self.object(Object::Instance(Instance { class, attributes: Vec::new(), payload })));
        }
        match kind {
            BuiltinType::Dict
            | BuiltinType::OrderedDict
            | BuiltinType::DefaultDict
            | BuiltinType::Counter => {
                return self.construct_dict(kind, args, keywords);
            }
            BuiltinType::Deque => return self.construct_deque(args, keywords),
            BuiltinType::Enumerate
            | BuiltinType::Zip
            | BuiltinType::Map
            | BuiltinType::Filter
            | BuiltinType::Reversed => {
                return self.construct_iterator(kind, args, keywords);
            }
            BuiltinType::Partial => {
                let mut args = args;
                if args.is_empty() {
                    return self.wrong_arguments("partial");
                }
                let function = args.remove(0);
                return Ok(self.object(Object::Partial(function, Rc::new(args), Rc::new(keywords))));
            }
            BuiltinType::Int => return self.construct_int(&args, &keywords),
            _ => {}
        }
        if !keywords.is_empty() {
            return self.unsupported(format!("keywords of {}()", kind.name()));
        }
        match (kind, args.as_slice()) {
            (BuiltinType::Bool, []) => Ok(Value::bool(false)),
            (BuiltinType::Bool, [value]) => self.truth(value).map(Value::Bool),
            (BuiltinType::Float, []) => Ok(Value::float(0.0)),
            (BuiltinType::Float, [value]) => self.construct_float(value),
            (BuiltinType::Str, []) => Ok(Value::text("")),
            (BuiltinType::Str, [value]) => self.str_of(value).map(Value::Str),
            (BuiltinType::Tuple, []) => Ok(Value::tuple(Vec::new())),
            (BuiltinType::Tuple, [Value::Tuple(items)]) => Ok(Value::Tuple(items.clone())),
            (BuiltinType::Tuple, [items]) => self.collect(items).map(Value::tuple),
            (BuiltinType::List, []) => Ok(self.list(Vec::new())),
            (BuiltinType::List, [items]) => {
                let items = self.collect(items)?;
                Ok(self.list(items))
            }
            (BuiltinType::Set | BuiltinType::FrozenSet, args @ ([] | [_])) => {
                let items = match args.first() {
                    Some(items) => self.collect_unordered(items)?,
                    None => Vec::new(),
                };
                let items = self.distinct(&items)?;
                Ok(self.object(if kind == BuiltinType::Set {
                    Object::Set(items)
                } else {
                    Object::FrozenSet(items)
                }))
            }
            (BuiltinType::Range, args @ ([_] | [_, _] | [_, _, _])) => self.construct_range(args),
            (BuiltinType::Slice, [stop]) => {
                Ok(Value::Slice(Rc::new([Value::None, stop.clone(), Value::None])))
            }
            (BuiltinType::Slice, [a, b]) => Ok(Value::Slice(Rc::new([a.clone(), b.clone(), Value::None]))),
            (BuiltinType::Slice, [a, b, c]) => Ok(Value::Slice(Rc::new([a.clone(), b.clone(), c.clone()]))),
            (BuiltinType::Object, []) => Ok(self.object(Object::Instance(Instance {
                class: Type::Builtin(BuiltinType::Object),
                attributes: Vec::new(),
                payload: None,
            }))),
            (BuiltinType::Type, [value]) => Ok(Value::Type(self.type_of(value))),
            (BuiltinType::Property, [getter]) => {
                Ok(self.object(Object::Property(getter.clone(), Value::None)))
            }
            (BuiltinType::Property, [getter, setter]) => {
                Ok(self.object(Object::Property(getter.clone(), setter.clone())))
            }
            (BuiltinType::StaticMethod, [function]) => Ok(self.object(Object::Static(function.clone()))),
            (BuiltinType::ClassMethod, [function]) => Ok(self.object(Object::ClassMethod(function.clone()))),
            (BuiltinType::Super, []) => self.make_super(),
            (BuiltinType::Super, [Value::Type(Type::User(class)), receiver]) => {
                Ok(self.object(Object::Super(*class, receiver.clone())))
            }
            _ => self.unsupported(format!("this call of {}()", kind.name())),
        }
    }

    fn construct_range(&mut self, args: &[Value]) -> OrTrap<Value> {
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
        let is_zero = self.number_compare(
            crate::frontend::ir::CompareOp::Eq,
            &Value::Int(step.clone()),
            &Value::int(0),
        )?;
        if self.decide(is_zero)? {
            return self.raise("ValueError", "range() arg 3 must not be zero");
        }
        Ok(Value::Range(Rc::new([start, stop, step])))
    }

    fn construct_iterator(
        &mut self,
        kind: BuiltinType,
        args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<Value> {
        let iter = match (kind, args.as_slice()) {
            (BuiltinType::Enumerate, [items, rest @ ..]) => {
                let start =
                    rest.first().cloned().or_else(|| keywords.first().map(|(_, value)| value.clone()));
                let start = start.unwrap_or_else(|| Value::int(0));
                let Some(start) = self.as_index(&start) else { return self.wrong_arguments("enumerate") };
                let inner = self.iterator(items)?;
                IteratorState::Enumerate(inner, start)
            }
            (BuiltinType::Zip, args) => {
                let strict = match keywords.first() {
                    Some((_, value)) => self.decide_value(value)?,
                    None => false,
                };
                let mut inners = Vec::new();
                for value in args {
                    inners.push(self.iterator(value)?);
                }
                IteratorState::Zip(Rc::new(inners), strict)
            }
            (BuiltinType::Map, [function, args @ ..]) if !args.is_empty() => {
                let mut inners = Vec::new();
                for value in args {
                    inners.push(self.iterator(value)?);
                }
                IteratorState::Map(function.clone(), Rc::new(inners))
            }
            (BuiltinType::Filter, [function, items]) => {
                let inner = self.iterator(items)?;
                IteratorState::Filter(function.clone(), inner)
            }
            (BuiltinType::Reversed, [value]) => {
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
                IteratorState::Items(Rc::new(items), 0)
            }
            _ => return self.wrong_arguments(kind.name()),
        };
        Ok(self.object(Object::Iter(iter)))
    }

    fn construct_float(&mut self, value: &Value) -> OrTrap<Value> {
        match self.as_number(value) {
            Some(Number::Int(value)) => self.nearest_float(&value).map(Value::Float),
            Some(Number::Float(value)) => Ok(Value::Float(value)),
            None => match value {
                Value::Str(Str::Known(points)) => {
                    let Ok(digits) = crate::explore::text::unicode::ascii_digits(points) else {
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

    fn construct_int(&mut self, args: &[Value], keywords: &Keywords) -> OrTrap<Value> {
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

    /// Truncates a float to an integer.
    pub(crate) fn truncate(&mut self, value: Float) -> OrTrap<Value> {
        self.rounded(value, crate::terms::RoundingMode::Zero)
    }

    pub(crate) fn rounded(&mut self, value: Float, mode: crate::terms::RoundingMode) -> OrTrap<Value> {
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

    pub(crate) fn small_count(&mut self, value: &Value) -> OrTrap<Option<usize>> {
        match self.as_index(value) {
            Some(value) => Ok(self.choose(&value)?.to_usize()),
            None => Ok(None),
        }
    }
}

fn parse_float(points: &[u32]) -> Option<f64> {
    let text = crate::values::text::to_string(points)?;
    let text = text.trim_matches(|c: char| crate::explore::text::strings::is_space_of_number(u32::from(c)));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
    if !text.chars().all(is_plain) || text.starts_with('_') || text.ends_with('_') || text.contains("__") {
        return None;
    }
    // An underscore is allowed between digits only.
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
