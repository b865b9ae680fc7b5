//! Exception handlers, `raise` and `assert`.

use std::rc::Rc;

use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::explore::run::Flow;
use crate::frontend::ir::{Code, Op};
use crate::values::Value;

impl Machine {
    /// Handlers, `raise` and `assert`.
    pub(super) fn execute_exception(&mut self, op: &Op, code: &Rc<Code>) -> OrTrap<Flow> {
        match op {
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
                // The precondition does not hold, so the contract does not cover this call.
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
            _ => return Err(Trap::Bug("not an instruction of this group")),
        }
        Ok(Flow::Next)
    }
}
