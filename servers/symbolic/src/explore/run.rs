//! The loop, and how exceptions and returns travel through frames.

use std::rc::Rc;

use super::machine::{DEEPEST, Machine, R, Trap};
use super::state::{Block, Frame};
use crate::ir::Op;
use crate::memory;
use crate::values::Value;

/// Steps a computation may take inside one instruction, beyond the pause.
const NESTED: u64 = 200_000;

/// What an instruction did to the flow.
pub(crate) enum Flow {
    Next,
    /// The counter was set, or a frame was pushed.
    Stay,
    Return(Value),
    Yield(Value),
}

/// How a run ended.
pub(crate) enum Ran {
    Returned(Value),
    /// A generator gave a value; its frame is handed back.
    Yielded(Value, Rc<Frame>),
}

impl Machine {
    pub(crate) fn push_frame(&mut self, frame: Frame) -> R<()> {
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
    pub(crate) fn run(&mut self, depth: usize) -> R<Ran> {
        loop {
            if let Some(ran) = self.run_step(depth)? {
                return Ok(ran);
            }
        }
    }

    /// Runs one instruction; `Some` when the frame above `depth` ended with it.
    pub(super) fn run_step(&mut self, depth: usize) -> R<Option<Ran>> {
        match self.step() {
            Ok(Flow::Next) => self.frame_mut()?.pc += 1,
            Ok(Flow::Stay) => {}
            Ok(Flow::Return(value)) => {
                self.state.frames.pop();
                if self.state.frames.len() <= depth {
                    return Ok(Some(Ran::Returned(value)));
                }
                self.push(value)?;
            }
            Ok(Flow::Yield(value)) => {
                let frame = self.state.frames.pop().ok_or(Trap::Bug("no frame"))?;
                return Ok(Some(Ran::Yielded(value, frame)));
            }
            Err(Trap::Raise(exception)) => self.unwind(exception, depth)?,
            Err(trap) => return Err(trap),
        }
        Ok(None)
    }

    /// Finds the handler of an exception, or lets it out of the frame above `depth`.
    fn unwind(&mut self, exception: Value, depth: usize) -> R<()> {
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

    fn step(&mut self) -> R<Flow> {
        self.steps += 1;
        self.state.steps += 1;
        if self.steps >= self.step_limit || (self.nesting == 0 && self.state.steps >= self.pause_at) {
            return Err(Trap::Pause);
        }
        if memory::is_exhausted() {
            return Err(Trap::Pause);
        }
        // Inside an instruction there is no place to pause: it would have to begin again.
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

    pub(super) fn jump(&mut self, to: u32) -> R<Flow> {
        self.frame_mut()?.pc = to as usize;
        Ok(Flow::Stay)
    }

    pub(super) fn setup_try(&mut self, handler: u32) -> R<Flow> {
        let frame = self.frame_mut()?;
        let (stack, handled) = (frame.stack.len(), frame.handled.len());
        frame.blocks.push(Block { handler: handler as usize, stack, handled });
        Ok(Flow::Next)
    }

    /// Runs a frame from inside an instruction.
    pub(crate) fn run_nested(&mut self, frame: Frame) -> R<Ran> {
        let depth = self.state.frames.len();
        self.enter_nested()?;
        let ran = self.push_frame(frame).and_then(|()| self.run(depth));
        self.nesting -= 1;
        ran
    }
}

/// Instructions that neither decide anything nor change the heap: the state before them need not be kept.
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
