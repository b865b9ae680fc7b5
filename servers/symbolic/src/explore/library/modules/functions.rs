//! `functools`, `operator`, and a few functions of types.

use std::rc::Rc;

use crate::explore::calls::Keywords;
use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::frontend::ir::{BinaryOp, Code, CompareOp, UnaryOp};
use crate::values::{DictKind, Function, Object, Value};

impl Machine {
    pub(super) fn call_function(
        &mut self,
        name: &'static str,
        args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<Value> {
        if let (Some(op), [a, b]) = (operator(name), args.as_slice()) {
            return match op {
                OperatorKind::Binary(op) => self.binary(op, a, b),
                OperatorKind::Compare(op) => self.compare(op, a, b),
            };
        }
        match (name, args.as_slice()) {
            ("functools.identity", [value]) => Ok(value.clone()),
            ("functools.constant", [value, ..]) if keywords.is_empty() => Ok(value.clone()),
            ("functools.reduce", [function, items, rest @ ..]) => self.reduce(function, items, rest.first()),
            ("functools.lru_cache" | "functools.cache", [function]) if self.is_callable(function)? => {
                Ok(self.object(Object::Cached(function.clone(), Vec::new())))
            }
            ("functools.lru_cache", _) => Ok(Value::Builtin("functools.cache")),
            ("functools.wraps", [wrapped]) => Ok(self.object(Object::Partial(
                Value::Builtin("functools.wraps.call"),
                Rc::new(vec![wrapped.clone()]),
                Rc::default(),
            ))),
            ("functools.wraps.call", [wrapped, wrapper])
            | ("functools.update_wrapper", [wrapper, wrapped]) => self.wrap_function(wrapped, wrapper),
            ("property.setter", [getter, setter]) => {
                Ok(self.object(Object::Property(getter.clone(), setter.clone())))
            }
            ("operator.neg", [value]) => self.unary(UnaryOp::Neg, value),
            ("operator.abs", [value]) => self.absolute(value),
            ("operator.not_", [value]) => {
                let truth = self.truth(value)?;
                Ok(Value::Bool(self.not_truth(truth)))
            }
            ("operator.getitem", [container, index]) => self.subscript(container, index),
            ("operator.contains", [container, item]) => self.contains(container, item).map(Value::Bool),
            ("operator.itemgetter", keys) if !keys.is_empty() => Ok(self.object(Object::Partial(
                Value::Builtin("operator.itemgetter.call"),
                Rc::new(vec![Value::tuple(keys.to_vec())]),
                Rc::default(),
            ))),
            ("operator.attrgetter", [_, ..]) => self.call_library("operator", "attrgetter", args),
            ("operator.itemgetter.call", [Value::Tuple(keys), container]) => {
                let mut values = Vec::new();
                for key in keys.iter() {
                    values.push(self.subscript(container, key)?);
                }
                if values.len() == 1 {
                    values.pop().ok_or(Trap::Bug("no key"))
                } else {
                    Ok(Value::tuple(values))
                }
            }
            ("object.__init__", [receiver, rest @ ..]) => {
                if self.is_exception(receiver)
                    && let Value::Object(id) = receiver
                    && let Some(Object::Instance(instance)) = self.state.change(*id)
                {
                    instance.payload = Some(Value::tuple(rest.to_vec()));
                }
                Ok(Value::None)
            }
            ("object.__setattr__", [owner, name, value]) => match (owner, name.as_text()) {
                (Value::Object(id), Some(name)) => {
                    self.set_own_attribute(*id, &Rc::from(name.as_str()), value.clone());
                    Ok(Value::None)
                }
                _ => self.unsupported("this __setattr__"),
            },
            ("object.__nothing__", _) => Ok(Value::None),
            ("object._make", [Value::Type(class), items]) => {
                let items = self.collect(items)?;
                self.instantiate(*class, items, Vec::new())
            }
            ("dict.fromkeys", [keys, rest @ ..]) => {
                let value = rest.first().cloned().unwrap_or(Value::None);
                let keys = self.collect(keys)?;
                self.new_dict(keys.into_iter().map(|key| (key, value.clone())).collect(), DictKind::Plain)
            }
            _ => {
                let _ = keywords;
                self.unsupported(name)
            }
        }
    }

    /// `functools.wraps`: the wrapper takes the name of the wrapped function.
    fn wrap_function(&mut self, wrapped: &Value, wrapper: &Value) -> OrTrap<Value> {
        let (Value::Object(inner), Value::Object(outer)) = (wrapped, wrapper) else {
            return self.unsupported("functools.wraps of this");
        };
        let (Object::Function(inner), Object::Function(found)) =
            (self.state.get(*inner), self.state.get(*outer))
        else {
            return self.unsupported("functools.wraps of this");
        };
        let code = Code {
            name: inner.code.name.clone(),
            qualified: inner.code.qualified.clone(),
            docstring: inner.code.docstring.clone(),
            ..(*found.code).clone()
        };
        let dressed = Function { code: Rc::new(code), ..(**found).clone() };
        self.state.set(*outer, Object::Function(Rc::new(dressed)));
        Ok(wrapper.clone())
    }

    fn reduce(&mut self, function: &Value, items: &Value, start: Option<&Value>) -> OrTrap<Value> {
        let iterator = self.iterator(items)?;
        let mut total = match start {
            Some(start) => start.clone(),
            None => match self.next(&iterator)? {
                Some(first) => first,
                None => return self.raise("TypeError", "reduce() of empty iterable with no initial value"),
            },
        };
        while let Some(item) = self.next(&iterator)? {
            self.tick()?;
            total = self.call(function, vec![total, item], Vec::new())?;
        }
        Ok(total)
    }
}

enum OperatorKind {
    Binary(BinaryOp),
    Compare(CompareOp),
}

fn operator(name: &str) -> Option<OperatorKind> {
    let binary = match name {
        "operator.add" => BinaryOp::Add,
        "operator.sub" => BinaryOp::Sub,
        "operator.mul" => BinaryOp::Mul,
        "operator.truediv" => BinaryOp::Div,
        "operator.floordiv" => BinaryOp::FloorDiv,
        "operator.mod" => BinaryOp::Mod,
        "operator.pow" => BinaryOp::Pow,
        "operator.and_" => BinaryOp::And,
        "operator.or_" => BinaryOp::Or,
        "operator.xor" => BinaryOp::Xor,
        name => {
            return Some(OperatorKind::Compare(match name {
                "operator.eq" => CompareOp::Eq,
                "operator.ne" => CompareOp::Ne,
                "operator.lt" => CompareOp::Lt,
                "operator.le" => CompareOp::Le,
                "operator.gt" => CompareOp::Gt,
                "operator.ge" => CompareOp::Ge,
                _ => return None,
            }));
        }
    };
    Some(OperatorKind::Binary(binary))
}
