//! Methods of sets.

use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::frontend::ir::{BinaryOp, CompareOp};
use crate::values::{Object, Value};

impl Machine {
    pub(super) fn set_method(&mut self, set: &Value, name: &str, args: &[Value]) -> OrTrap<Value> {
        let Value::Object(id) = set else { return Err(Trap::Bug("no set")) };
        let (items, is_frozen) = match self.state.get(*id) {
            Object::Set(items) => (items.clone(), false),
            Object::FrozenSet(items) => (items.clone(), true),
            _ => return Err(Trap::Bug("no set")),
        };
        match (name, args) {
            ("add", [value]) => {
                self.set_add(set, value.clone())?;
                Ok(Value::None)
            }
            ("remove" | "discard", [value]) => {
                self.check_hashable(value)?;
                match self.position(&items, value)? {
                    Some(place) => {
                        if let Some(Object::Set(items)) = self.state.change(*id) {
                            items.remove(place);
                        }
                        Ok(Value::None)
                    }
                    None if name == "discard" => Ok(Value::None),
                    None => self.raise_with("KeyError", vec![value.clone()]),
                }
            }
            ("pop", []) => {
                if items.is_empty() {
                    return self.raise("KeyError", "pop from an empty set");
                }
                if items.len() > 1 {
                    return self.unsupported("pop() from a set of several items");
                }
                self.state.set(*id, Object::Set(Vec::new()));
                items.into_iter().next().ok_or(Trap::Bug("no item"))
            }
            ("clear", []) => {
                self.state.set(*id, Object::Set(Vec::new()));
                Ok(Value::None)
            }
            ("copy", []) => Ok(self.new_set(items, is_frozen)),
            ("union" | "intersection" | "difference" | "symmetric_difference", others) => {
                let items = self.combine(operation(name), items, others)?;
                Ok(self.new_set(items, is_frozen))
            }
            (
                "update" | "intersection_update" | "difference_update" | "symmetric_difference_update",
                others,
            ) => {
                let items = self.combine(operation(name), items, others)?;
                self.state.set(*id, Object::Set(items));
                Ok(Value::None)
            }
            ("isdisjoint", [other]) => {
                let other = self.collect_unordered(other)?;
                let common = self.set_operation(BinaryOp::And, &items, &other)?;
                Ok(Value::bool(common.is_empty()))
            }
            ("issubset" | "issuperset", [other]) => {
                let other = self.collect_unordered(other)?;
                let other = self.distinct(&other)?;
                let op = if name == "issubset" { CompareOp::Le } else { CompareOp::Ge };
                self.set_order(op, &items, &other).map(Value::bool)
            }
            _ => self.wrong_arguments(name),
        }
    }

    fn new_set(&mut self, items: Vec<Value>, is_frozen: bool) -> Value {
        self.object(if is_frozen { Object::FrozenSet(items) } else { Object::Set(items) })
    }

    fn combine(&mut self, op: BinaryOp, mut items: Vec<Value>, others: &[Value]) -> OrTrap<Vec<Value>> {
        for other in others {
            let other = self.collect_unordered(other)?;
            let other = self.distinct(&other)?;
            items = self.set_operation(op, &items, &other)?;
        }
        Ok(items)
    }
}

fn operation(name: &str) -> BinaryOp {
    match name {
        "union" | "update" => BinaryOp::Or,
        "intersection" | "intersection_update" => BinaryOp::And,
        "symmetric_difference" | "symmetric_difference_update" => BinaryOp::Xor,
        _ => BinaryOp::Sub,
    }
}
