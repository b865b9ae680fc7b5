//! What each instruction does. An instruction looks at its operands and takes them off only when it is sure to finish,
//! because it may have to run again after a fork.

use std::rc::Rc;

use super::machine::{Machine, R, Trap};
use super::run::Flow;
use crate::ir::{Code, Const, Conversion, Op, UnaryOp};
use crate::values::{Dict, DictKind, Function, Object, ObjectId, Truth, Value};

impl Machine {
    /// Inputs left for later are made when an instruction looks into them; their length needs no more than a name.
    fn force_operands(&mut self, op: &Op) -> R<()> {
        let count = match op {
            Op::Call(count, names) => {
                let count = *count as usize + names.len();
                let callee = self.peek(count)?;
                let is_function = matches!(&callee, Value::Object(id) if matches!(self.state.get(*id), Object::Function(_)));
                if is_function || matches!(callee, Value::Builtin("len")) {
                    return Ok(());
                }
                count
            }
            Op::JumpIfFalse(..) | Op::JumpIfTrue(..) | Op::StoreCell(_) | Op::Unary(UnaryOp::Not) => {
                return Ok(());
            }
            _ => 3,
        };
        for below in 0..count {
            let Ok(value) = self.peek(below) else { break };
            self.force(&value)?;
        }
        Ok(())
    }

    pub(super) fn execute(&mut self, op: &Op, code: &Rc<Code>) -> R<Flow> {
        if self.is_symbolic && !super::run::is_simple(op) {
            self.force_operands(op)?;
        }
        match op {
            Op::Const(index) => {
                let value = code.consts.get(*index as usize).map(constant).ok_or(Trap::Bug("no constant"))?;
                self.push(value)?;
            }
            Op::LoadLocal(index) => match self.frame()?.locals.get(*index as usize) {
                Some(Some(value)) => {
                    let value = value.clone();
                    self.push(value)?;
                }
                _ => return self.unbound(code, *index),
            },
            Op::StoreLocal(index) => {
                let value = self.pop()?;
                self.set_local(*index, Some(value))?;
            }
            Op::DelLocal(index) => {
                if matches!(self.frame()?.locals.get(*index as usize), Some(None) | None) {
                    return self.unbound(code, *index);
                }
                self.set_local(*index, None)?;
            }
            Op::LoadCell(_) | Op::StoreCell(_) | Op::DelCell(_) | Op::CellRef(_) => self.cell_op(op, code)?,
            Op::LoadGlobal(_)
            | Op::StoreGlobal(_)
            | Op::DelGlobal(_)
            | Op::LoadName(_)
            | Op::StoreName(_)
            | Op::DelName(_)
            | Op::LoadLibrary(_)
            | Op::StoreLibrary(_) => self.name_op(op)?,
            Op::Pop => {
                self.pop()?;
            }
            Op::Dup => {
                let value = self.peek(0)?;
                self.push(value)?;
            }
            Op::Dup2 => {
                for value in self.top(2)? {
                    self.push(value)?;
                }
            }
            Op::Swap => self.rotate(2)?,
            Op::Rot3 => self.rotate(3)?,
            Op::Unary(op) => {
                let value = self.peek(0)?;
                let result = match op {
                    UnaryOp::Not => {
                        let truth = self.truth(&value)?;
                        Value::Bool(self.not_truth(truth))
                    }
                    op => self.unary(*op, &value)?,
                };
                self.replace(1, result)?;
            }
            Op::Binary(op) => {
                let (left, right) = (self.peek(1)?, self.peek(0)?);
                let result = self.binary(*op, &left, &right)?;
                self.replace(2, result)?;
            }
            Op::InPlace(op) => {
                let (left, right) = (self.peek(1)?, self.peek(0)?);
                let result = self.in_place(*op, &left, &right)?;
                self.replace(2, result)?;
            }
            Op::Compare(op) => {
                let (left, right) = (self.peek(1)?, self.peek(0)?);
                let result = self.compare(*op, &left, &right)?;
                self.replace(2, result)?;
            }
            Op::LoadAttr(name) => {
                let owner = self.peek(0)?;
                let value = self.attribute(&owner, name)?;
                self.replace(1, value)?;
            }
            Op::StoreAttr(name) => {
                let (value, owner) = (self.peek(1)?, self.peek(0)?);
                self.set_attribute(&owner, name, value)?;
                self.drop(2)?;
            }
            Op::DelAttr(name) => {
                let owner = self.peek(0)?;
                self.delete_attribute(&owner, name)?;
                self.drop(1)?;
            }
            Op::Subscript => {
                let (container, index) = (self.peek(1)?, self.peek(0)?);
                let value = self.subscript(&container, &index)?;
                self.replace(2, value)?;
            }
            Op::StoreSubscript => {
                let (value, container, index) = (self.peek(2)?, self.peek(1)?, self.peek(0)?);
                self.set_subscript(&container, &index, value)?;
                self.drop(3)?;
            }
            Op::DelSubscript => {
                let (container, index) = (self.peek(1)?, self.peek(0)?);
                self.delete_subscript(&container, &index)?;
                self.drop(2)?;
            }
            _ => return self.execute_more(op, code),
        }
        Ok(Flow::Next)
    }

    fn execute_more(&mut self, op: &Op, code: &Rc<Code>) -> R<Flow> {
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
            Op::Format(conversion) => {
                let value = self.peek(0)?;
                let text = self.format_with(&value, *conversion, None)?;
                self.replace(1, text)?;
            }
            Op::FormatSpec(conversion) => {
                let (value, spec) = (self.peek(1)?, self.peek(0)?);
                let text = self.format_with(&value, *conversion, Some(&spec))?;
                self.replace(2, text)?;
            }
            Op::BuildString(count) => {
                let parts = self.top(*count as usize)?;
                let text = self.concatenate(&parts)?;
                self.replace(*count as usize, text)?;
            }
            Op::Jump(to) => return self.jump(*to),
            Op::JumpIfFalse(to, branch) => return self.branch(*to, *branch, false, code),
            Op::JumpIfTrue(to, branch) => return self.branch(*to, *branch, true, code),
            Op::JumpIfFalseOrPop(to) | Op::JumpIfTrueOrPop(to) => {
                let wanted = matches!(op, Op::JumpIfTrueOrPop(_));
                let value = self.peek(0)?;
                let truth = self.truth(&value)?;
                if self.decide(truth)? == wanted {
                    return self.jump(*to);
                }
                self.drop(1)?;
            }
            Op::GetIter => {
                let value = self.peek(0)?;
                let iterator = self.iterator(&value)?;
                self.replace(1, iterator)?;
            }
            Op::ForIter(local, exit, branch) => {
                let iterator = self.frame()?.locals.get(*local as usize).cloned().flatten();
                let iterator = iterator.ok_or(Trap::Bug("no iterator"))?;
                if let Some(flow) = self.loop_head(&iterator, *exit, code)? {
                    return Ok(flow);
                }
                let next = self.next(&iterator)?;
                self.sides.insert((code.id, *branch, next.is_some()));
                match next {
                    Some(value) => self.push(value)?,
                    None => return self.jump(*exit),
                }
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
            _ => return self.execute_calls(op, code),
        }
        Ok(Flow::Next)
    }

    fn execute_calls(&mut self, op: &Op, code: &Rc<Code>) -> R<Flow> {
        match op {
            Op::Call(count, names) => {
                let total = *count as usize + names.len();
                let mut values = self.top(total + 1)?;
                let function = values.remove(0);
                let named = values.split_off(*count as usize);
                let keywords = names.iter().cloned().zip(named).collect();
                return self.call_op(&function, values, keywords, total + 1);
            }
            Op::CallSpread => {
                let (function, args, keywords) = (self.peek(2)?, self.peek(1)?, self.peek(0)?);
                let args = self.collect(&args)?;
                let keywords = self.keywords_of(&keywords)?;
                return self.call_op(&function, args, keywords, 3);
            }
            Op::MakeFunction(index) => {
                let Some(Const::Code(inner)) = code.consts.get(*index as usize) else {
                    return Err(Trap::Bug("no code"));
                };
                let function = self.make_function(inner.clone())?;
                self.replace(3, function)?;
            }
            Op::MakeClass(name) => {
                let (body, bases, keywords) = (self.peek(2)?, self.peek(1)?, self.peek(0)?);
                let class = self.make_class(name, &body, &bases, &keywords)?;
                self.replace(3, class)?;
            }
            Op::Return => return Ok(Flow::Return(self.pop()?)),
            Op::Yield => {
                let value = self.pop()?;
                self.frame_mut()?.pc += 1;
                return Ok(Flow::Yield(value));
            }
            Op::YieldFrom => return self.yield_from(),
            Op::SetupTry(handler) => return self.setup_try(*handler),
            Op::PopTry => {
                self.frame_mut()?.blocks.pop();
            }
            Op::PopHandled => {
                self.frame_mut()?.handled.pop();
            }
            Op::Raise => {
                let value = self.peek(0)?;
                return self.raise_value(&value);
            }
            Op::RaiseFrom => {
                let value = self.peek(1)?;
                return self.raise_value(&value);
            }
            Op::Reraise => {
                let handled = self.state.frames.iter().rev().find_map(|frame| frame.handled.last().cloned());
                return match handled {
                    Some(exception) => Err(Trap::Raise(exception)),
                    None => self.raise("RuntimeError", "No active exception to reraise"),
                };
            }
            Op::RaiseAssert { has_message, leading } => {
                // A precondition that does not hold: the call is none that the contract speaks of.
                if *leading
                    && self.nesting == 0
                    && self.state.frames.len() == 1
                    && self.targets.contains(&code.id)
                {
                    return Err(Trap::Discard);
                }
                let args = if *has_message { vec![self.peek(0)?] } else { Vec::new() };
                return self.raise_with("AssertionError", args);
            }
            Op::MatchException => {
                let (exception, class) = (self.peek(1)?, self.peek(0)?);
                let matches = self.exception_matches(&exception, &class)?;
                self.replace(1, Value::bool(matches))?;
            }
            Op::Import(name) => {
                let module = self.import(name)?;
                self.push(module)?;
            }
            Op::ImportFrom(name) => {
                let module = self.peek(0)?;
                let value = self.import_from(&module, name)?;
                self.replace(1, value)?;
            }
            Op::Unsupported(what) => return self.unsupported(what.to_string()),
            _ => return self.execute_patterns(op),
        }
        Ok(Flow::Next)
    }

    fn branch(&mut self, to: u32, branch: u32, jump_when: bool, code: &Rc<Code>) -> R<Flow> {
        let value = self.peek(0)?;
        let truth = self.truth(&value)?;
        let holds = self.decide(truth)?;
        self.drop(1)?;
        self.sides.insert((code.id, branch, holds));
        if holds == jump_when { self.jump(to) } else { Ok(Flow::Next) }
    }

    fn set_local(&mut self, index: u32, value: Option<Value>) -> R<()> {
        let place = self.frame_mut()?.locals.get_mut(index as usize).ok_or(Trap::Bug("no local"))?;
        *place = value;
        Ok(())
    }

    fn unbound<T>(&mut self, code: &Code, index: u32) -> R<T> {
        if self.is_forgotten(index) {
            return self.unsupported("a variable that only a loop without a bound sets");
        }
        let name = code.locals.get(index as usize).map(ToString::to_string).unwrap_or_default();
        let text = format!("cannot access local variable '{name}' where it is not associated with a value");
        self.raise("UnboundLocalError", text)
    }

    fn rotate(&mut self, count: usize) -> R<()> {
        let top = self.pop()?;
        let stack = &mut self.frame_mut()?.stack;
        let at = (stack.len() + 1).checked_sub(count).ok_or(Trap::Bug("empty stack"))?;
        stack.insert(at, top);
        Ok(())
    }

    fn cell_id(&self, index: u32) -> R<ObjectId> {
        self.frame()?.cells.get(index as usize).copied().ok_or(Trap::Bug("no cell"))
    }

    fn cell_op(&mut self, op: &Op, code: &Code) -> R<()> {
        match op {
            Op::CellRef(index) => {
                let id = self.cell_id(*index)?;
                self.push(Value::Object(id))
            }
            Op::LoadCell(index) => {
                let id = self.cell_id(*index)?;
                match self.state.get(id) {
                    Object::Cell(Some(value)) => {
                        let value = value.clone();
                        self.push(value)
                    }
                    _ => {
                        let own = code.own_cells.get(*index as usize).map(|(name, _)| name.to_string());
                        match own {
                            Some(name) => self.raise(
                                "UnboundLocalError",
                                format!("cannot access local variable '{name}' where it is not associated with a value"),
                            ),
                            None => self.raise(
                                "NameError",
                                "cannot access free variable where it is not associated with a value in enclosing scope",
                            ),
                        }
                    }
                }
            }
            Op::StoreCell(index) => {
                let id = self.cell_id(*index)?;
                let value = self.pop()?;
                self.state.set(id, Object::Cell(Some(value)));
                Ok(())
            }
            Op::DelCell(index) => {
                let id = self.cell_id(*index)?;
                self.state.set(id, Object::Cell(None));
                Ok(())
            }
            _ => Err(Trap::Bug("no cell instruction")),
        }
    }

    fn name_op(&mut self, op: &Op) -> R<()> {
        match op {
            Op::LoadGlobal(name) => {
                let value = self.global(name)?;
                self.push(value)
            }
            Op::LoadName(name) => {
                let own = self.frame()?.names.iter().flatten().find(|(known, _)| known == name);
                let value = match own {
                    Some((_, value)) => value.clone(),
                    None => self.global(name)?,
                };
                self.push(value)
            }
            Op::StoreGlobal(name) => {
                let value = self.pop()?;
                Rc::make_mut(&mut self.state.globals).insert(name.clone(), value);
                Ok(())
            }
            Op::StoreName(name) => {
                let value = self.pop()?;
                let names = self.frame_mut()?.names.get_or_insert_default();
                match names.iter_mut().find(|(known, _)| known == name) {
                    Some((_, place)) => *place = value,
                    None => names.push((name.clone(), value)),
                }
                Ok(())
            }
            Op::DelGlobal(name) => match Rc::make_mut(&mut self.state.globals).remove(name) {
                Some(_) => Ok(()),
                None => self.raise("NameError", format!("name '{name}' is not defined")),
            },
            Op::DelName(name) => {
                self.frame_mut()?.names.get_or_insert_default().retain(|(known, _)| known != name);
                Ok(())
            }
            Op::LoadLibrary(name) => {
                let value = self.library_name(name)?;
                self.push(value)
            }
            Op::StoreLibrary(name) => {
                let value = self.pop()?;
                Rc::make_mut(&mut self.state.library).insert(name.clone(), value);
                Ok(())
            }
            _ => Err(Trap::Bug("no name instruction")),
        }
    }

    fn global(&mut self, name: &str) -> R<Value> {
        if let Some(value) = self.state.globals.get(name) {
            return Ok(value.clone());
        }
        match super::builtins::named(name) {
            Some(value) => Ok(value),
            None if super::builtins::is_unknown_builtin(name) => {
                self.unsupported(format!("the built-in {name}"))
            }
            None => self.raise("NameError", format!("name '{name}' is not defined")),
        }
    }

    fn make_function(&mut self, code: Rc<Code>) -> R<Value> {
        let (defaults, keyword_defaults, cells) = (self.peek(2)?, self.peek(1)?, self.peek(0)?);
        let keyword_defaults = self.keywords_of(&keyword_defaults)?;
        let (Value::Tuple(defaults), Value::Tuple(cells)) = (defaults, cells) else {
            return Err(Trap::Bug("no defaults"));
        };
        let cells =
            cells.iter().filter_map(|cell| if let Value::Object(id) = cell { Some(*id) } else { None });
        Ok(self.object(Object::Function(Rc::new(Function {
            code,
            defaults,
            keyword_defaults: Rc::new(keyword_defaults),
            cells: Rc::new(cells.collect()),
            owner: None,
        }))))
    }

    pub(super) fn format_with(
        &mut self,
        value: &Value,
        conversion: Conversion,
        spec: Option<&Value>,
    ) -> R<Value> {
        let value = match conversion {
            Conversion::None => value.clone(),
            Conversion::Str => Value::Str(self.str_of(value)?),
            Conversion::Repr => Value::Str(self.repr_of(value)?),
            Conversion::Ascii => return self.unsupported("!a in an f-string"),
        };
        self.format_value(&value, spec)
    }

    /// The truth of a value, as `bool()` sees it, decided.
    pub(crate) fn decide_value(&mut self, value: &Value) -> R<bool> {
        let truth: Truth = self.truth(value)?;
        self.decide(truth)
    }
}

fn constant(constant: &Const) -> Value {
    match constant {
        Const::None => Value::None,
        Const::Ellipsis => Value::Ellipsis,
        Const::Bool(value) => Value::bool(*value),
        Const::Int(value) => Value::int(value.clone()),
        Const::Float(value) => Value::float(*value),
        Const::Str(points) => Value::Str(crate::values::Str::Known(points.clone())),
        Const::Bytes(bytes) => Value::Bytes(bytes.clone()),
        Const::Code(_) => Value::None,
    }
}
