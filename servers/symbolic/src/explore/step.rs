//! Executes one instruction, by groups of opcodes.
//!
//! An instruction reads its operands and pops them only when it is certain to finish, because it may run
//! again after a fork.

mod calls;
mod containers;
mod exceptions;
mod jumps;
mod operators;
mod patterns;
mod variables;

use std::rc::Rc;

use super::machine::{Machine, OrTrap, Trap};
use super::run::Flow;
use crate::frontend::ir::{Code, Op, UnaryOp};
use crate::values::{Object, Value};

impl Machine {
    pub(super) fn execute(&mut self, op: &Op, code: &Rc<Code>) -> OrTrap<Flow> {
        if self.is_symbolic && !super::run::is_simple(op) {
            self.force_operands(op)?;
        }
        match op {
            Op::Const(..)
            | Op::LoadLocal(..)
            | Op::StoreLocal(..)
            | Op::DelLocal(..)
            | Op::LoadCell(..)
            | Op::StoreCell(..)
            | Op::DelCell(..)
            | Op::CellRef(..)
            | Op::LoadGlobal(..)
            | Op::StoreGlobal(..)
            | Op::DelGlobal(..)
            | Op::LoadName(..)
            | Op::StoreName(..)
            | Op::DelName(..)
            | Op::LoadLibrary(..)
            | Op::StoreLibrary(..) => self.execute_variable(op, code),
            Op::Pop | Op::Dup | Op::Dup2 | Op::Swap | Op::Rot3 => self.execute_stack(op),
            Op::Unary(..)
            | Op::Binary(..)
            | Op::InPlace(..)
            | Op::Compare(..)
            | Op::LoadAttr(..)
            | Op::StoreAttr(..)
            | Op::DelAttr(..)
            | Op::Subscript
            | Op::StoreSubscript
            | Op::DelSubscript
            | Op::Format(..)
            | Op::FormatSpec(..)
            | Op::BuildString(..) => self.execute_operator(op),
            Op::BuildSlice
            | Op::BuildTuple(..)
            | Op::BuildList(..)
            | Op::BuildSet(..)
            | Op::BuildDict
            | Op::ListAppend(..)
            | Op::ListExtend
            | Op::SetAdd(..)
            | Op::SetUpdate
            | Op::DictSet(..)
            | Op::DictMerge
            | Op::KeywordMerge
            | Op::ListToTuple
            | Op::Unpack(..)
            | Op::UnpackStar(..) => self.execute_container(op),
            Op::Jump(..)
            | Op::JumpIfFalse(..)
            | Op::JumpIfTrue(..)
            | Op::JumpIfFalseOrPop(..)
            | Op::JumpIfTrueOrPop(..)
            | Op::GetIter
            | Op::ForIter(..) => self.execute_jump(op, code),
            Op::Call(..)
            | Op::CallSpread
            | Op::MakeFunction(..)
            | Op::MakeClass(..)
            | Op::Return
            | Op::Yield
            | Op::YieldFrom
            | Op::Import(..)
            | Op::ImportFrom(..) => self.execute_call(op, code),
            Op::SetupTry(..)
            | Op::PopTry
            | Op::PopHandled
            | Op::Raise
            | Op::RaiseFrom
            | Op::Reraise
            | Op::RaiseAssert { .. }
            | Op::MatchException => self.execute_exception(op, code),
            Op::IsSequence
            | Op::IsMapping
            | Op::LengthIs(..)
            | Op::LengthAtLeast(..)
            | Op::MatchClass(..)
            | Op::MatchKeys
            | Op::MappingRest => self.execute_pattern(op),
            Op::Unsupported(what) => self.unsupported(what.to_string()),
        }
    }

    /// Creates deferred inputs that an instruction accesses. Their length alone does not need this.
    fn force_operands(&mut self, op: &Op) -> OrTrap<()> {
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

    /// Rearranges the operand stack.
    fn execute_stack(&mut self, op: &Op) -> OrTrap<Flow> {
        match op {
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
            _ => return Err(Trap::Bug("not an instruction of this group")),
        }
        Ok(Flow::Next)
    }

    fn rotate(&mut self, count: usize) -> OrTrap<()> {
        let top = self.pop()?;
        let stack = &mut self.frame_mut()?.stack;
        let at = (stack.len() + 1).checked_sub(count).ok_or(Trap::Bug("empty stack"))?;
        stack.insert(at, top);
        Ok(())
    }

    /// Decides the truth of a value as `bool()` does.
    pub(crate) fn decide_value(&mut self, value: &Value) -> OrTrap<bool> {
        let truth = self.truth(value)?;
        self.decide(truth)
    }
}
