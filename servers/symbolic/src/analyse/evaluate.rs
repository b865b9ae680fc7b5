//! One call on known inputs, by the engine alone.

use super::function::load;
use crate::explore::{RunEnd, Trap};
use crate::values::{Str, Value, text};
use crate::{Program, PyValue};

/// The outcome of a call on known inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// `repr` of the result.
    Returned(String),
    /// The name of the class, and the text of the exception if it is known.
    Raised(String, Option<String>),
    /// Beyond the engine or beyond `steps`, with the reason.
    Unknown(String),
}

pub(super) fn evaluate(program: &Program, function: &str, args: &[PyValue], steps: u64) -> Evaluation {
    let mut machine = match load(program) {
        Ok(machine) => machine,
        Err(failure) => return Evaluation::Unknown(format!("{failure:?}")),
    };
    machine.step_limit = steps.saturating_add(machine.steps);
    let unknown = |trap: Trap| Evaluation::Unknown(format!("{trap:?}"));
    let Some(callee) = machine.state.globals.get(function).cloned() else {
        return Evaluation::Unknown("no such function".to_owned());
    };
    let mut values = Vec::new();
    for arg in args {
        match machine.value_of(arg) {
            Ok(value) => values.push(value),
            Err(trap) => return unknown(trap),
        }
    }
    let ran = machine
        .frame_for(&callee, values, Vec::new())
        .and_then(|frame| machine.run_nested(frame))
        .and_then(|ran| match ran {
            RunEnd::Returned(value) => machine.repr_of(&value),
            RunEnd::Yielded(..) => Err(Trap::Bug("a call yields")),
        });
    match ran {
        Ok(Str::Known(points)) => Evaluation::Returned(text::to_string(&points).unwrap_or_default()),
        Ok(_) => Evaluation::Unknown("an unknown text".to_owned()),
        Err(Trap::Raise(exception)) => {
            let class = machine.type_name(&exception);
            machine.nesting = 0;
            let message = machine.str_of(&exception).ok().and_then(|text| Value::Str(text).as_text());
            Evaluation::Raised(class, message)
        }
        Err(trap) => unknown(trap),
    }
}
