//! The main loop, and the propagation of exceptions and returns through frames.

use std::rc::Rc;

use super::machine::{DEEPEST, Machine, OrTrap, Trap};
use super::state::{ExceptionHandler, Frame};
use crate::frontend::ir::Op;
use crate::memory;
use crate::values::Value;

/// Maximum number of steps inside one instruction after the pause is due.
const NESTED: u64 = 200_000;

/// The effect of an instruction on the control flow.
pub(crate) enum Flow {
    Next,
    /// The instruction has set the program counter or pushed a frame.
    Stay,
    Return(Value),
    Yield(Value),
}

pub(crate) enum RunEnd {
    Returned(Value),
    /// A generator yielded a value. Its frame is returned.
    Yielded(Value, Rc<Frame>),
}

impl Machine {
    pub(crate) fn push_frame(&mut self, frame: Frame) -> OrTrap<()> {
        if self.state.frames.len() >= DEEPEST {
            if self.is_symbolic {
                return Err(Trap::Bound("recursion".to_owned()));
            }
            return self.raise("RecursionError", "maximum recursion depth exceeded");
        }
        self.state.frames.push(Rc::new(frame));
        Ok(())
    }

    /// Runs until the frame above `depth` ends.
    pub(crate) fn run(&mut self, depth: usize) -> OrTrap<RunEnd> {
        loop {
            if let Some(ran) = self.run_step(depth)? {
                return Ok(ran);
            }
        }
    }

    /// Runs one instruction. `Some` if the frame above `depth` ended with it.
    pub(super) fn run_step(&mut self, depth: usize) -> OrTrap<Option<RunEnd>> {
        match self.step() {
            Ok(Flow::Next) => self.frame_mut()?.pc += 1,
            Ok(Flow::Stay) => {}
            Ok(Flow::Return(value)) => {
                self.state.frames.pop();
                if self.state.frames.len() <= depth {
                    return Ok(Some(RunEnd::Returned(value)));
                }
                self.push(value)?;
            }
            Ok(Flow::Yield(value)) => {
                let frame = self.state.frames.pop().ok_or(Trap::Bug("no frame"))?;
                return Ok(Some(RunEnd::Yielded(value, frame)));
            }
            Err(Trap::Raise(exception)) => self.unwind(exception, depth)?,
            Err(trap) => return Err(trap),
        }
        Ok(None)
    }

    /// Finds the handler of an exception, or propagates it out of the frame above `depth`.
    fn unwind(&mut self, exception: Value, depth: usize) -> OrTrap<()> {
        while self.state.frames.len() > depth {
            let frame = self.frame_mut()?;
            if let Some(block) = frame.blocks.pop() {
                frame.stack.truncate(block.stack);
                frame.handled.truncate(block.handled);
                frame.stack.push(exception.clone());
                frame.handled.push(exception);
                frame.pc = block.handler;
                return Ok(());
            }
            self.state.frames.pop();
        }
        Err(Trap::Raise(exception))
    }

    fn step(&mut self) -> OrTrap<Flow> {
        self.steps += 1;
        self.state.steps += 1;
        if self.steps >= self.step_limit || (self.nesting == 0 && self.state.steps >= self.pause_at) {
            return Err(Trap::Pause);
        }
        if memory::is_exhausted() {
            return Err(Trap::Pause);
        }
        // A pause is impossible inside an instruction, because it would have to start again.
        if self.is_symbolic && self.state.steps >= self.pause_at.saturating_add(NESTED) {
            return Err(Trap::Bound("a long computation inside one call".to_owned()));
        }
        let frame = self.frame()?;
        let (code, pc) = (frame.code.clone(), frame.pc);
        let op = code.ops.get(pc).ok_or(Trap::Bug("the code ends"))?;
        self.executed.insert((code.id, u32::try_from(pc).unwrap_or(u32::MAX)));
        if self.is_symbolic && self.nesting == 0 {
            self.snapshot = if is_simple(op) { None } else { Some(self.state.clone()) };
        }
        self.execute(op, &code)
    }

    pub(super) fn jump(&mut self, to: u32) -> OrTrap<Flow> {
        self.frame_mut()?.pc = to as usize;
        Ok(Flow::Stay)
    }

    pub(super) fn setup_try(&mut self, handler: u32) -> OrTrap<Flow> {
        let frame = self.frame_mut()?;
        let (stack, handled) = (frame.stack.len(), frame.handled.len());
        frame.blocks.push(ExceptionHandler { handler: handler as usize, stack, handled });
        Ok(Flow::Next)
    }

    /// Runs a frame from inside an instruction.
    pub(crate) fn run_nested(&mut self, frame: Frame) -> OrTrap<RunEnd> {
        let depth = self.state.frames.len();
        self.enter_nested()?;
        let ran = self.push_frame(frame).and_then(|()| self.run(depth));
        self.nesting -= 1;
        ran
    }
}

/// Whether an instruction neither decides anything nor changes the heap. The state before it need not be
/// saved.
pub(super) fn is_simple(op: &Op) -> bool {
    matches!(
        op,
        Op::Const(_)
            | Op::LoadLocal(_)
            | Op::StoreLocal(_)
            | Op::LoadCell(_)
            | Op::CellRef(_)
            | Op::LoadGlobal(_)
            | Op::LoadName(_)
            | Op::LoadLibrary(_)
            | Op::Pop
            | Op::Dup
            | Op::Dup2
            | Op::Swap
            | Op::Rot3
            | Op::BuildTuple(_)
            | Op::Jump(_)
            | Op::Return
            | Op::SetupTry(_)
            | Op::PopTry
            | Op::PopHandled
            | Op::BuildSlice
    )
}
