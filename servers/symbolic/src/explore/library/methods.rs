//! Methods of built-in types.

mod known_str;
mod lists;
mod mappings;
mod sets;
mod str_methods;

use crate::explore::calls::Keywords;
use crate::explore::machine::{Machine, OrTrap};
use crate::values::{BuiltinType, Float, Object, Type, Value};

/// The supported methods.
const KNOWN: &[(BuiltinType, &[&str])] = &[
    (
        BuiltinType::Str,
        &[
            "capitalize",
            "casefold",
            "center",
            "count",
            "endswith",
            "find",
            "format",
            "index",
            "isalnum",
            "isalpha",
            "isascii",
            "isdecimal",
            "isdigit",
            "isidentifier",
            "islower",
            "isnumeric",
            "isspace",
            "istitle",
            "isupper",
            "join",
            "ljust",
            "lower",
            "lstrip",
            "partition",
            "removeprefix",
            "removesuffix",
            "replace",
            "rfind",
            "rindex",
            "rjust",
            "rpartition",
            "rsplit",
            "rstrip",
            "split",
            "splitlines",
            "startswith",
            "strip",
            "swapcase",
            "title",
            "upper",
            "zfill",
            "encode",
            "translate",
        ],
    ),
    (
        BuiltinType::List,
        &[
            "append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse",
            "sort",
        ],
    ),
    (BuiltinType::Tuple, &["count", "index"]),
    (BuiltinType::Range, &["count", "index"]),
    (
        BuiltinType::Dict,
        &[
            "clear",
            "copy",
            "get",
            "items",
            "keys",
            "pop",
            "popitem",
            "setdefault",
            "update",
            "values",
            "fromkeys",
        ],
    ),
    (
        BuiltinType::Set,
        &[
            "add",
            "clear",
            "copy",
            "difference",
            "difference_update",
            "discard",
            "intersection",
            "intersection_update",
            "isdisjoint",
            "issubset",
            "issuperset",
            "pop",
            "remove",
            "symmetric_difference",
            "symmetric_difference_update",
            "union",
            "update",
        ],
    ),
    (
        BuiltinType::FrozenSet,
        &[
            "copy",
            "difference",
            "intersection",
            "isdisjoint",
            "issubset",
            "issuperset",
            "symmetric_difference",
            "union",
        ],
    ),
    (BuiltinType::Int, &["as_integer_ratio", "bit_length", "bit_count", "is_integer", "conjugate"]),
    (BuiltinType::Float, &["as_integer_ratio", "is_integer", "conjugate"]),
    (
        BuiltinType::Deque,
        &[
            "append",
            "appendleft",
            "clear",
            "copy",
            "count",
            "extend",
            "extendleft",
            "index",
            "pop",
            "insert",
            "popleft",
            "remove",
            "reverse",
            "rotate",
        ],
    ),
    (BuiltinType::Generator, &["send", "close", "throw", "__next__"]),
    (BuiltinType::Counter, &["most_common", "elements", "subtract", "total"]),
    (BuiltinType::OrderedDict, &["move_to_end"]),
    (BuiltinType::Pattern, &["match", "fullmatch", "search", "findall", "finditer", "sub", "subn", "split"]),
    (BuiltinType::Match, &["group", "groups", "groupdict", "start", "end", "span"]),
];

/// Existing but unsupported attributes. An access must not look like an `AttributeError`.
const UNKNOWN: &[(BuiltinType, &[&str])] = &[
    (BuiltinType::Str, &["expandtabs", "format_map", "isprintable", "maketrans"]),
    (BuiltinType::Int, &["from_bytes", "to_bytes"]),
    (BuiltinType::Float, &["fromhex", "hex", "real", "imag"]),
    (BuiltinType::Generator, &["gi_frame", "gi_code", "gi_running", "gi_yieldfrom", "gi_suspended"]),
    (BuiltinType::Pattern, &["flags", "groups", "groupindex", "scanner"]),
    (BuiltinType::Match, &["expand", "re", "string", "pos", "endpos", "lastindex", "lastgroup", "regs"]),
    (BuiltinType::Type, &["mro"]),
    (BuiltinType::Counter, &["_keep_positive"]),
    (BuiltinType::Property, &["getter", "deleter", "fget", "fset", "fdel"]),
    (BuiltinType::Method, &["__func__", "__self__", "__name__"]),
    (BuiltinType::Partial, &["func", "args", "keywords"]),
    (BuiltinType::View, &["isdisjoint", "mapping"]),
    (BuiltinType::Slice, &["start", "stop", "step", "indices"]),
];

/// A finite float as a fraction in lowest terms.
fn ratio(value: f64) -> Option<(num_bigint::BigInt, num_bigint::BigInt)> {
    if !value.is_finite() {
        return None;
    }
    let mut halvings = 0;
    let mut whole = value;
    while whole.fract() != 0.0 {
        whole *= 2.0;
        halvings += 1;
    }
    Some((crate::terms::exact(whole)?, num_bigint::BigInt::from(1) << halvings))
}

fn lists_name(table: &[(BuiltinType, &[&str])], kind: BuiltinType, name: &str) -> bool {
    table.iter().any(|(known, names)| *known == kind && names.contains(&name))
}

pub(crate) fn is_known(kind: BuiltinType, name: &str) -> bool {
    let above: &[BuiltinType] = match kind {
        BuiltinType::Bool => &[BuiltinType::Int],
        BuiltinType::DefaultDict | BuiltinType::Counter | BuiltinType::OrderedDict => &[BuiltinType::Dict],
        _ => &[],
    };
    if kind == BuiltinType::Int && name == "is_integer" {
        return false;
    }
    lists_name(KNOWN, kind, name) || above.iter().any(|kind| is_known(*kind, name))
}

/// Whether CPython has the attribute although the engine does not support it.
pub(crate) fn exists(kind: BuiltinType, name: &str) -> bool {
    (name.starts_with("__") && name.ends_with("__"))
        || lists_name(UNKNOWN, kind, name)
        || matches!(kind, BuiltinType::Bytes | BuiltinType::Complex)
        || (kind == BuiltinType::Bool && exists(BuiltinType::Int, name))
        || (kind == BuiltinType::FrozenSet && lists_name(UNKNOWN, BuiltinType::Set, name))
}

impl Machine {
    pub(crate) fn call_method(
        &mut self,
        receiver: &Value,
        name: &str,
        mut args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<Value> {
        // In `str.upper(text)` the receiver is the first argument.
        if let Value::Type(class) = receiver {
            if args.is_empty() {
                return self.wrong_arguments(name);
            }
            let actual = args.remove(0);
            if !self.is_subtype(self.type_of(&actual), *class) {
                let (wanted, found) = (self.name_of_type(*class), self.type_name(&actual));
                let text =
                    format!("descriptor '{name}' for '{wanted}' objects doesn't apply to a '{found}' object");
                return self.raise("TypeError", text);
            }
            return self.call_method(&actual, name, args, keywords);
        }
        let kind = match self.type_of(receiver) {
            Type::Builtin(kind) => kind,
            Type::User(_) => return self.named_tuple_method(receiver, name, &args, &keywords),
        };
        match kind {
            BuiltinType::Str => {
                let Value::Str(text) = receiver else { return self.unsupported(name) };
                self.str_method(text, name, &args, &keywords)
            }
            BuiltinType::List => self.list_method(receiver, name, args, &keywords),
            BuiltinType::Tuple | BuiltinType::Range => self.tuple_method(receiver, name, &args),
            BuiltinType::Dict
            | BuiltinType::DefaultDict
            | BuiltinType::Counter
            | BuiltinType::OrderedDict => self.dict_method(receiver, name, args, keywords),
            BuiltinType::Set | BuiltinType::FrozenSet => self.set_method(receiver, name, &args),
            BuiltinType::Deque => self.deque_method(receiver, name, args),
            BuiltinType::Int | BuiltinType::Bool => self.int_method(receiver, name),
            BuiltinType::Float => self.float_method(receiver, name),
            BuiltinType::Generator => self.generator_method(receiver, name, args),
            BuiltinType::Pattern | BuiltinType::Match => {
                let Value::Object(id) = receiver else { return self.unsupported(name) };
                match self.state.get(*id).clone() {
                    Object::Pattern(regex) => self.pattern_method(&regex, name, &args, &keywords),
                    Object::Match(found) if keywords.is_empty() => self.match_method(&found, name, &args),
                    _ => self.unsupported(format!("this call of {name}()")),
                }
            }
            _ => self.unsupported(format!("{}.{name}", kind.name())),
        }
    }

    fn int_method(&mut self, receiver: &Value, name: &str) -> OrTrap<Value> {
        let Some(value) = self.as_index(receiver) else { return self.unsupported(name) };
        match name {
            "conjugate" => Ok(Value::Int(value)),
            "as_integer_ratio" => Ok(Value::tuple(vec![Value::Int(value), Value::int(1)])),
            "bit_length" => {
                let value = self.choose(&value)?;
                Ok(Value::int(value.bits()))
            }
            "bit_count" => {
                let value = self.choose(&value)?;
                Ok(Value::int(value.magnitude().count_ones()))
            }
            _ => self.unsupported(format!("int.{name}")),
        }
    }

    fn float_method(&mut self, receiver: &Value, name: &str) -> OrTrap<Value> {
        match (name, receiver) {
            ("is_integer", Value::Float(Float::Known(value))) => {
                Ok(Value::bool(value.is_finite() && value.fract() == 0.0))
            }
            ("is_integer", Value::Float(Float::Term(term))) => {
                let rounded = self.terms.float_round(crate::terms::RoundingMode::Zero, *term);
                let (same, infinite) = (self.terms.float_eq(rounded, *term), self.terms.float_is_inf(*term));
                let finite = self.terms.not(infinite);
                let both = self.terms.and(same, finite);
                Ok(Value::Bool(self.truth_of(both)))
            }
            ("conjugate", value) => Ok(value.clone()),
            ("as_integer_ratio", Value::Float(Float::Known(value))) => match ratio(*value) {
                Some((top, bottom)) => Ok(Value::tuple(vec![Value::int(top), Value::int(bottom)])),
                None if value.is_nan() => self.raise("ValueError", "cannot convert NaN to integer ratio"),
                None => self.raise("OverflowError", "cannot convert Infinity to integer ratio"),
            },
            _ => self.unsupported(format!("float.{name}")),
        }
    }

    fn generator_method(&mut self, receiver: &Value, name: &str, args: Vec<Value>) -> OrTrap<Value> {
        let Value::Object(id) = receiver else { return self.unsupported(name) };
        match (name, args.as_slice()) {
            ("__next__", []) | ("send", [_]) => {
                let sent = args.into_iter().next().unwrap_or(Value::None);
                match self.resume_or_result(*id, sent)? {
                    Ok(value) => Ok(value),
                    Err(result) => {
                        let args = if result.is_none() { Vec::new() } else { vec![result] };
                        self.raise_with("StopIteration", args)
                    }
                }
            }
            ("close", []) => {
                let Object::Generator(generator) = self.state.get(*id) else { return self.unsupported(name) };
                let has_blocks = generator.frame.as_ref().is_some_and(|frame| !frame.blocks.is_empty());
                if has_blocks {
                    return self.unsupported("close() of a generator inside try");
                }
                let ended = crate::values::Generator { frame: None, is_running: false, has_started: true };
                self.state.set(*id, Object::Generator(ended));
                Ok(Value::None)
            }
            _ => self.unsupported(format!("{name}() of a generator")),
        }
    }

    fn tuple_method(&mut self, receiver: &Value, name: &str, args: &[Value]) -> OrTrap<Value> {
        let items = self.collect(receiver)?;
        self.sequence_search(&items, name, args, "tuple")
    }

    fn named_tuple_method(
        &mut self,
        receiver: &Value,
        name: &str,
        args: &[Value],
        keywords: &Keywords,
    ) -> OrTrap<Value> {
        let Type::User(class) = self.type_of(receiver) else { return self.unsupported(name) };
        match name {
            "_asdict" => {
                let mut entries = Vec::new();
                for (field, _) in self.fields_of(class) {
                    entries.push((Value::text(&field), self.attribute(receiver, &field)?));
                }
                self.new_dict(entries, crate::values::DictKind::Plain)
            }
            "_replace" => {
                let mut values = Vec::new();
                for (field, _) in self.fields_of(class) {
                    let given = keywords.iter().find(|(known, _)| *known == field);
                    let value = match given {
                        Some((_, value)) => value.clone(),
                        None => self.attribute(receiver, &field)?,
                    };
                    values.push((field, value));
                }
                self.instantiate(Type::User(class), Vec::new(), values)
            }
            _ => {
                let items = self.collect(receiver)?;
                self.sequence_search(&items, name, args, "tuple")
            }
        }
    }

    /// `count` and `index`.
    pub(crate) fn sequence_search(
        &mut self,
        items: &[Value],
        name: &str,
        args: &[Value],
        kind: &str,
    ) -> OrTrap<Value> {
        match (name, args) {
            ("count", [wanted]) => {
                let mut total = self.terms.int(0);
                for item in items {
                    let equal = self.same_or_equal(item, wanted)?;
                    let equal = self.truth_term(equal);
                    let one = self.terms.int_of_bool(equal);
                    total = self.terms.add(total, one);
                }
                Ok(self.int_value(total))
            }
            ("index", [wanted, rest @ ..]) => {
                let bounds = self.search_bounds(items.len(), rest)?;
                let window = items.get(bounds.0..bounds.1).unwrap_or_default().to_vec();
                match self.position(&window, wanted)? {
                    Some(place) => Ok(Value::int(place + bounds.0)),
                    None => {
                        let text = match kind {
                            "list" => self.not_in_list(wanted)?,
                            kind => Value::text(&format!("{kind}.index(x): x not in {kind}")),
                        };
                        self.raise_with("ValueError", vec![text])
                    }
                }
            }
            _ => self.wrong_arguments(name),
        }
    }

    /// CPython's message is `repr(x) is not in list`. Without a known repr, the exception has its class only.
    fn not_in_list(&mut self, wanted: &Value) -> OrTrap<Value> {
        match self.repr_of(wanted) {
            Ok(shown) => self.concatenate(&[Value::Str(shown), Value::text(" is not in list")]),
            Err(crate::explore::machine::Trap::Unsupported(_)) => Ok(Value::text("x is not in list")),
            Err(trap) => Err(trap),
        }
    }

    /// The optional start and stop of a search.
    pub(crate) fn search_bounds(&mut self, length: usize, args: &[Value]) -> OrTrap<(usize, usize)> {
        let parts = [
            args.first().cloned().unwrap_or(Value::None),
            args.get(1).cloned().unwrap_or(Value::None),
            Value::None,
        ];
        let limit = i64::try_from(length).unwrap_or(i64::MAX);
        let mut bounds = [0, limit];
        for (bound, part) in bounds.iter_mut().zip(&parts) {
            if let Some(value) = self.as_index(part) {
                let value = self.choose_small(&value)?;
                *bound = if value < 0 { (value + limit).max(0) } else { value };
            }
        }
        let [start, stop] = bounds;
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        Ok((start, usize::try_from(stop.min(limit)).unwrap_or(0)))
    }
}
