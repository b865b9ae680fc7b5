//! Calls, returns, functions, classes and imports.

use std::rc::Rc;

use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::explore::run::Flow;
use crate::frontend::ir::{Code, Const, Op};
use crate::values::{Function, Object, Value};

impl Machine {
    /// Calls, returns, and the making of functions, classes and modules.
    pub(super) fn execute_call(&mut self, op: &Op, code: &Rc<Code>) -> OrTrap<Flow> {
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
            Op::Import(name) => {
                let module = self.import(name)?;
                self.push(module)?;
            }
            Op::ImportFrom(name) => {
                let module = self.peek(0)?;
                let value = self.import_from(&module, name)?;
                self.replace(1, value)?;
            }
            _ => return Err(Trap::Bug("not an instruction of this group")),
        }
        Ok(Flow::Next)
    }

    fn make_function(&mut self, code: Rc<Code>) -> OrTrap<Value> {
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
}
