//! Jumps, branches and loop heads.

use std::rc::Rc;

use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::explore::run::Flow;
use crate::frontend::ir::{Code, Op};

impl Machine {
    /// Jumps, branches and loop heads.
    pub(super) fn execute_jump(&mut self, op: &Op, code: &Rc<Code>) -> OrTrap<Flow> {
        match op {
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
            _ => return Err(Trap::Bug("not an instruction of this group")),
        }
        Ok(Flow::Next)
    }

    fn branch(&mut self, to: u32, branch: u32, jump_when: bool, code: &Rc<Code>) -> OrTrap<Flow> {
        let value = self.peek(0)?;
        let truth = self.truth(&value)?;
        let holds = self.decide(truth)?;
        self.drop(1)?;
        self.sides.insert((code.id, branch, holds));
        if holds == jump_when { self.jump(to) } else { Ok(Flow::Next) }
    }
}
