//! Containers: building, filling and unpacking them.

use std::rc::Rc;

use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::explore::run::Flow;
use crate::frontend::ir::Op;
use crate::values::{Dict, DictKind, Object, Value};

impl Machine {
    /// Builds, fills and unpacks containers.
    pub(super) fn execute_container(&mut self, op: &Op) -> OrTrap<Flow> {
        match op {
            Op::BuildSlice => {
                let parts = [self.peek(2)?, self.peek(1)?, self.peek(0)?];
                self.replace(3, Value::Slice(Rc::new(parts)))?;
            }
            Op::BuildTuple(count) => {
                let items = self.top(*count as usize)?;
                self.replace(*count as usize, Value::tuple(items))?;
            }
            Op::BuildList(count) => {
                let items = self.top(*count as usize)?;
                let list = self.list(items);
                self.replace(*count as usize, list)?;
            }
            Op::BuildSet(count) => {
                let items = self.top(*count as usize)?;
                let items = self.distinct(&items)?;
                let set = self.object(Object::Set(items));
                self.replace(*count as usize, set)?;
            }
            Op::BuildDict => {
                let dict = self.object(Object::Dict(Dict { entries: Vec::new(), kind: DictKind::Plain }));
                self.push(dict)?;
            }
            Op::ListAppend(below) => {
                let (value, list) = (self.peek(0)?, self.peek(*below as usize)?);
                self.list_append(&list, value)?;
                self.drop(1)?;
            }
            Op::ListExtend => {
                let (list, items) = (self.peek(1)?, self.peek(0)?);
                let items = self.collect(&items)?;
                for item in items {
                    self.list_append(&list, item)?;
                }
                self.drop(1)?;
            }
            Op::SetAdd(below) => {
                let (value, set) = (self.peek(0)?, self.peek(*below as usize)?);
                self.set_add(&set, value)?;
                self.drop(1)?;
            }
            Op::SetUpdate => {
                let (set, items) = (self.peek(1)?, self.peek(0)?);
                for item in self.collect(&items)? {
                    self.set_add(&set, item)?;
                }
                self.drop(1)?;
            }
            Op::DictSet(below) => {
                let (key, value) = (self.peek(1)?, self.peek(0)?);
                let dict = self.peek(*below as usize + 1)?;
                self.dict_set(&dict, &key, value)?;
                self.drop(2)?;
            }
            Op::DictMerge | Op::KeywordMerge => {
                let (dict, other) = (self.peek(1)?, self.peek(0)?);
                self.merge(&dict, &other, matches!(op, Op::KeywordMerge))?;
                self.drop(1)?;
            }
            Op::ListToTuple => {
                let list = self.peek(0)?;
                let items = self.collect(&list)?;
                self.replace(1, Value::tuple(items))?;
            }
            Op::Unpack(count) => {
                let value = self.peek(0)?;
                let items = self.unpack(&value, *count as usize)?;
                self.drop(1)?;
                for item in items.into_iter().rev() {
                    self.push(item)?;
                }
            }
            Op::UnpackStar(before, after) => {
                let value = self.peek(0)?;
                let items = self.unpack_star(&value, *before as usize, *after as usize)?;
                self.drop(1)?;
                for item in items.into_iter().rev() {
                    self.push(item)?;
                }
            }
            _ => return Err(Trap::Bug("not an instruction of this group")),
        }
        Ok(Flow::Next)
    }
}
