//! Constants, locals, cells, globals and names.

use std::rc::Rc;

use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::explore::run::Flow;
use crate::frontend::ir::{Code, Const, Op};
use crate::values::{Object, ObjectId, Value};

impl Machine {
    /// Loads, stores and deletes constants, locals, cells, globals and names.
    pub(super) fn execute_variable(&mut self, op: &Op, code: &Rc<Code>) -> OrTrap<Flow> {
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
            _ => return Err(Trap::Bug("not an instruction of this group")),
        }
        Ok(Flow::Next)
    }

    fn set_local(&mut self, index: u32, value: Option<Value>) -> OrTrap<()> {
        let place = self.frame_mut()?.locals.get_mut(index as usize).ok_or(Trap::Bug("no local"))?;
        *place = value;
        Ok(())
    }

    fn unbound<T>(&mut self, code: &Code, index: u32) -> OrTrap<T> {
        if self.is_forgotten(index) {
            return self.unsupported("a variable that only a loop without a bound sets");
        }
        let name = code.locals.get(index as usize).map(ToString::to_string).unwrap_or_default();
        let text = format!("cannot access local variable '{name}' where it is not associated with a value");
        self.raise("UnboundLocalError", text)
    }

    fn cell_id(&self, index: u32) -> OrTrap<ObjectId> {
        self.frame()?.cells.get(index as usize).copied().ok_or(Trap::Bug("no cell"))
    }

    fn cell_op(&mut self, op: &Op, code: &Code) -> OrTrap<()> {
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

    fn name_op(&mut self, op: &Op) -> OrTrap<()> {
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

    fn global(&mut self, name: &str) -> OrTrap<Value> {
        if let Some(value) = self.state.globals.get(name) {
            return Ok(value.clone());
        }
        match crate::explore::library::builtins::named(name) {
            Some(value) => Ok(value),
            None if crate::explore::library::builtins::is_unknown_builtin(name) => {
                self.unsupported(format!("the built-in {name}"))
            }
            None => self.raise("NameError", format!("name '{name}' is not defined")),
        }
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
