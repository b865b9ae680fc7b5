//! Python's built-in functions.

use std::rc::Rc;

use num_bigint::BigInt;

use crate::explore::calls::Keywords;
use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::explore::numeric::numbers::Number;
use crate::values::{BuiltinType, Int, IteratorState, Object, Type, Value};

/// The supported functions of the built-in module.
const FUNCTIONS: &[&str] = &[
    "abs",
    "all",
    "any",
    "bin",
    "callable",
    "chr",
    "divmod",
    "format",
    "getattr",
    "hasattr",
    "hash",
    "hex",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "max",
    "min",
    "next",
    "oct",
    "ord",
    "pow",
    "print",
    "repr",
    "round",
    "setattr",
    "sorted",
    "sum",
];

/// The unsupported built-ins.
const UNKNOWN: &[&str] = &[
    "aiter",
    "anext",
    "ascii",
    "breakpoint",
    "bytearray",
    "compile",
    "delattr",
    "dir",
    "eval",
    "exec",
    "exit",
    "globals",
    "help",
    "id",
    "input",
    "locals",
    "memoryview",
    "open",
    "quit",
    "vars",
    "__import__",
    "__build_class__",
    "__name__",
    "__debug__",
    "__file__",
    "__doc__",
    "BaseExceptionGroup",
    "ExceptionGroup",
    "copyright",
    "credits",
    "license",
];

/// The value of a built-in name.
pub(crate) fn named(name: &str) -> Option<Value> {
    match name {
        "NotImplemented" => return Some(Value::NotImplemented),
        "Ellipsis" => return Some(Value::Ellipsis),
        "__name__" => return Some(Value::text("module")),
        _ => {}
    }
    if let Some(function) = FUNCTIONS.iter().find(|known| **known == name) {
        return Some(Value::Builtin(function));
    }
    BuiltinType::builtin(name)
        .filter(|kind| !is_not_built_in(*kind))
        .map(|kind| Value::Type(Type::Builtin(kind)))
}

/// Exceptions of the table that belong to a module.
fn is_not_built_in(kind: BuiltinType) -> bool {
    matches!(kind.name(), "FrozenInstanceError" | "StatisticsError")
}

pub(crate) fn is_unknown_builtin(name: &str) -> bool {
    UNKNOWN.contains(&name)
}

impl Machine {
    pub(crate) fn wrong_arguments<T>(&mut self, name: &str) -> OrTrap<T> {
        self.raise("TypeError", format!("{name}() was called with arguments it does not take"))
    }

    pub(crate) fn call_builtin(
        &mut self,
        name: &'static str,
        args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<Value> {
        if name.contains('.') || !FUNCTIONS.contains(&name) {
            return self.call_module(name, args, keywords);
        }
        match name {
            "max" | "min" => return self.extreme(name, args, keywords),
            "sorted" => return self.sorted(args, keywords),
            "print" => return self.print(&args),
            "sum" => return self.sum(args, keywords),
            "round" => return self.round(args, keywords),
            "pow" => return self.pow(args, keywords),
            _ => {}
        }
        if !keywords.is_empty() {
            return self.raise("TypeError", format!("{name}() takes no keyword arguments"));
        }
        match (name, args.as_slice()) {
            ("abs", [value]) => self.absolute(value),
            ("all" | "any", [items]) => self.all_or_any(name, items),
            ("bin", [value]) => self.in_radix(value, 2, "0b"),
            ("oct", [value]) => self.in_radix(value, 8, "0o"),
            ("hex", [value]) => self.in_radix(value, 16, "0x"),
            ("callable", [value]) => self.is_callable(value).map(Value::bool),
            ("chr", [value]) => self.chr(value),
            ("ord", [value]) => self.ord(value),
            ("divmod", [a, b]) => self.divmod(a, b),
            ("format", [value]) => self.format_value(value, None),
            ("format", [value, spec]) => self.format_value(value, Some(spec)),
            ("getattr", [owner, name, default @ ..]) => self.getattr(owner, name, default.first()),
            ("hasattr", [owner, name]) => match name.as_text() {
                Some(name) => Ok(Value::bool(self.try_attribute_quietly(owner, &name)?.is_some())),
                None => self.unsupported("an unknown attribute name"),
            },
            ("setattr", [owner, name, value]) => match name.as_text() {
                Some(name) => {
                    self.set_attribute(owner, &Rc::from(name.as_str()), value.clone())?;
                    Ok(Value::None)
                }
                None => self.unsupported("an unknown attribute name"),
            },
            ("hash", [value]) => self.hash(value),
            ("isinstance", [value, class]) => self.is_instance(value, class).map(Value::bool),
            ("issubclass", [class, above]) => self.is_subclass(class, above).map(Value::bool),
            ("iter", [value]) => self.iterator(value),
            ("iter", [function, sentinel]) => {
                Ok(self.object(Object::Iter(IteratorState::Calls(function.clone(), sentinel.clone()))))
            }
            ("len", [value]) => self.length(value).map(Value::Int),
            ("next", [iterator]) => match self.next_or_result(iterator)? {
                Ok(value) => Ok(value),
                Err(result) => {
                    let args = if result.is_none() { Vec::new() } else { vec![result] };
                    self.raise_with("StopIteration", args)
                }
            },
            ("next", [iterator, default]) => Ok(self.next(iterator)?.unwrap_or_else(|| default.clone())),
            ("repr", [value]) => self.repr_of(value).map(Value::Str),
            _ => self.wrong_arguments(name),
        }
    }

    /// The next value, or the return value of a generator.
    fn next_or_result(&mut self, iterator: &Value) -> OrTrap<Result<Value, Value>> {
        if let Value::Object(id) = iterator
            && matches!(self.state.get(*id), Object::Generator(_))
        {
            return self.resume_or_result(*id, Value::None);
        }
        Ok(self.next(iterator)?.ok_or(Value::None))
    }

    fn print(&mut self, args: &[Value]) -> OrTrap<Value> {
        for value in args {
            // The printed text does not matter, but a method of the analysed code may have side effects.
            if self.special(value, "__str__")?.is_some() || self.special(value, "__repr__")?.is_some() {
                self.str_of(value)?;
            }
        }
        Ok(Value::None)
    }

    pub(crate) fn absolute(&mut self, value: &Value) -> OrTrap<Value> {
        if let Some(method) = self.special(value, "__abs__")? {
            return self.call(&method, Vec::new(), Vec::new());
        }
        match self.as_number(value) {
            Some(Number::Int(value)) => {
                let term = self.int_term(&value);
                let (zero, negated) = (self.terms.int(0), self.terms.neg(term));
                let negative = self.terms.int_lt(term, zero);
                let term = self.terms.ite(negative, negated, term);
                Ok(self.int_value(term))
            }
            Some(Number::Float(value)) => {
                let term = self.float_term(value);
                let term = self.terms.float_abs(term);
                Ok(Value::Float(self.float_of(term)))
            }
            None => {
                let name = self.type_name(value);
                self.raise("TypeError", format!("bad operand type for abs(): '{name}'"))
            }
        }
    }

    fn all_or_any(&mut self, name: &str, items: &Value) -> OrTrap<Value> {
        let wanted = name == "any";
        if matches!(items, Value::Tuple(_)) || self.is_closed_list(items) {
            // No code is called in between, so one term expresses the result.
            let mut truths = Vec::new();
            for item in self.collect(items)? {
                let truth = self.truth(&item)?;
                truths.push(if wanted { truth } else { self.not_truth(truth) });
            }
            let any = self.any_term(&truths);
            return Ok(Value::Bool(if wanted { any } else { self.not_truth(any) }));
        }
        let items = match self.set_items(items)? {
            Some(items) => Value::tuple(items),
            None => items.clone(),
        };
        let iterator = self.iterator(&items)?;
        while let Some(item) = self.next(&iterator)? {
            self.tick()?;
            if self.decide_value(&item)? == wanted {
                return Ok(Value::bool(wanted));
            }
        }
        Ok(Value::bool(!wanted))
    }

    fn is_closed_list(&self, value: &Value) -> bool {
        matches!(value, Value::Object(id) if matches!(self.state.get(*id), Object::List(_)))
    }

    fn in_radix(&mut self, value: &Value, radix: u32, prefix: &str) -> OrTrap<Value> {
        match self.as_index(value) {
            Some(value) => {
                let value = self.choose(&value)?;
                let sign = if value < BigInt::from(0) { "-" } else { "" };
                Ok(Value::text(&format!("{sign}{prefix}{}", value.magnitude().to_str_radix(radix))))
            }
            None => {
                let name = self.type_name(value);
                self.raise("TypeError", format!("'{name}' object cannot be interpreted as an integer"))
            }
        }
    }

    pub(crate) fn is_callable(&mut self, value: &Value) -> OrTrap<bool> {
        Ok(match value {
            Value::Builtin(_) | Value::Method(_) | Value::Type(_) => true,
            Value::Object(id) => match self.state.get(*id) {
                Object::Function(_) | Object::Bound(..) | Object::Partial(..) | Object::Cached(..) => true,
                Object::Instance(_) => self.special(value, "__call__")?.is_some(),
                _ => false,
            },
            _ => false,
        })
    }

    fn chr(&mut self, value: &Value) -> OrTrap<Value> {
        let Some(value) = self.as_index(value) else {
            let name = self.type_name(value);
            return self.raise("TypeError", format!("'{name}' object cannot be interpreted as an integer"));
        };
        let term = self.int_term(&value);
        let limit = BigInt::from(i32::MAX);
        if !self.is_between(term, &(-limit.clone() - 1), &limit)? {
            return self.raise("OverflowError", "Python int too large to convert to C int");
        }
        if !self.is_between(term, &BigInt::from(0), &BigInt::from(0x10_FFFF))? {
            return self.raise("ValueError", "chr() arg not in range(0x110000)");
        }
        Ok(self.str_of_points(vec![term]))
    }

    fn ord(&mut self, value: &Value) -> OrTrap<Value> {
        let Value::Str(text) = value else {
            let name = self.type_name(value);
            return self.raise("TypeError", format!("ord() expected string of length 1, but {name} found"));
        };
        let length = self.str_length(text);
        let one = self.terms.int(1);
        let is_one = self.terms.int_eq(length, one);
        if !self.decide_term(is_one)? {
            let length = self
                .terms
                .as_small(length)
                .map_or_else(|| "another length".to_owned(), |length| format!("length {length}"));
            return self
                .raise("TypeError", format!("ord() expected a character, but string of {length} found"));
        }
        let points = self.points_of(text)?;
        let point = points.first().copied().ok_or(Trap::Bug("no character"))?;
        Ok(self.int_value(point))
    }

    fn getattr(&mut self, owner: &Value, name: &Value, default: Option<&Value>) -> OrTrap<Value> {
        let Some(name) = name.as_text() else { return self.unsupported("an unknown attribute name") };
        match default {
            None => self.attribute(owner, &name),
            Some(default) => Ok(self.try_attribute_quietly(owner, &name)?.unwrap_or_else(|| default.clone())),
        }
    }

    /// Like `try_attribute`. An `AttributeError` of a property counts as absence.
    fn try_attribute_quietly(&mut self, owner: &Value, name: &str) -> OrTrap<Option<Value>> {
        match self.try_attribute(owner, name) {
            Err(Trap::Raise(exception))
                if self.is_instance_of(&exception, BuiltinType::exception("AttributeError")) =>
            {
                Ok(None)
            }
            other => other,
        }
    }

    fn hash(&mut self, value: &Value) -> OrTrap<Value> {
        self.check_hashable(value)?;
        match value {
            Value::Int(Int::Known(number)) if number.bits() < 60 && **number != BigInt::from(-1) => {
                Ok(value.clone())
            }
            _ => match self.special(value, "__hash__")? {
                Some(method) => self.call(&method, Vec::new(), Vec::new()),
                None => self.unsupported("hash() of this value"),
            },
        }
    }

    fn is_subclass(&mut self, class: &Value, above: &Value) -> OrTrap<bool> {
        match (class, above) {
            (Value::Type(class), Value::Type(above)) => Ok(self.is_subtype(*class, *above)),
            (Value::Type(_), Value::Tuple(all)) => {
                for above in all.iter() {
                    if self.is_subclass(class, above)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => self.raise("TypeError", "issubclass() arg 1 must be a class"),
        }
    }
}
