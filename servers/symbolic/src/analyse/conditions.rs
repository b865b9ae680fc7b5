//! Evaluates contracts, in the engine and in CPython.

use std::rc::Rc;

use super::function::{AnalysedFunction, CompiledCondition};
use super::report::Inputs;
use super::search::{HarnessState, HarnessStep};
use crate::explore::{Machine, OrTrap, Trap};
use crate::values::{BuiltinType, Function, Instance, Object, Type, Value};
use crate::{Completion, ConditionOutcome, PyValue, ReplayOutcome, ReplayProblem, ReplayRequest, Replayer};

/// Creates the arguments of a call, in the order of the parameters.
pub(super) fn arguments(
    machine: &mut Machine,
    subject: &AnalysedFunction,
    given: Option<&[PyValue]>,
) -> OrTrap<Vec<Value>> {
    let mut values = Vec::new();
    for (index, parameter) in subject.parameters.iter().enumerate() {
        values.push(match given {
            Some(given) => match given.get(index) {
                Some(value) => match machine.value_of(value) {
                    Err(Trap::Raise(_)) => return Err(Trap::Discard),
                    other => other?,
                },
                None => return Err(Trap::Bug("an argument is missing")),
            },
            None => match shared(machine, subject, &values)? {
                Some(value) => value,
                None => machine.make_lazily(&parameter.name, &parameter.kind)?,
            },
        });
    }
    Ok(values)
}

/// The next argument, if it is the same object as an earlier one of its type.
fn shared(machine: &mut Machine, subject: &AnalysedFunction, values: &[Value]) -> OrTrap<Option<Value>> {
    let Some(parameter) = subject.parameters.get(values.len()).filter(|_| machine.is_sharing) else {
        return Ok(None);
    };
    for (earlier, value) in subject.parameters.iter().zip(values) {
        if parameter.kind.can_be_shared_with(&earlier.kind)
            && machine.share(&parameter.name, &[earlier.name.to_string()])?.is_some()
        {
            return Ok(Some(value.clone()));
        }
    }
    Ok(None)
}

/// Splits arguments into positional and keyword arguments.
pub(super) fn split(
    subject: &AnalysedFunction,
    values: &[Value],
) -> (Vec<Value>, Vec<(crate::frontend::ir::Name, Value)>) {
    let mut positional = Vec::new();
    let mut named = Vec::new();
    for (parameter, value) in subject.parameters.iter().zip(values) {
        if parameter.is_positional {
            positional.push(value.clone());
        } else {
            named.push((parameter.name.clone(), value.clone()));
        }
    }
    (positional, named)
}

/// The values that a condition can name: the arguments, and after the call its result and the values kept from before it.
pub(super) struct ConditionScope<'v> {
    pub(super) arguments: &'v [Value],
    pub(super) result: &'v Value,
    pub(super) old: &'v Value,
}

impl ConditionScope<'_> {
    pub(super) fn before_call(arguments: &[Value]) -> ConditionScope<'_> {
        ConditionScope { arguments, result: &Value::None, old: &Value::None }
    }
}

/// Whether a condition holds. An exception counts as not holding.
pub(super) fn holds(
    machine: &mut Machine,
    subject: &AnalysedFunction,
    condition: &CompiledCondition,
    scope: &ConditionScope<'_>,
) -> OrTrap<bool> {
    match value_of(machine, subject, condition, scope) {
        Ok(value) => machine.decide_value(&value),
        Err(Trap::Raise(_)) => Ok(false),
        Err(trap) => Err(trap),
    }
}

/// Discards the path unless all preconditions hold.
pub(super) fn assume(machine: &mut Machine, subject: &AnalysedFunction, values: &[Value]) -> OrTrap<()> {
    for condition in &subject.pre {
        if !holds(machine, subject, condition, &ConditionScope::before_call(values))? {
            return Err(Trap::Discard);
        }
    }
    Ok(())
}

/// The first step of a harness that needs no values of the call afterwards: inputs within the preconditions, and the
/// call.
pub(super) fn call_with_inputs(
    machine: &mut Machine,
    subject: &AnalysedFunction,
    given: Option<&[PyValue]>,
) -> OrTrap<HarnessStep> {
    let values = arguments(machine, subject, given)?;
    assume(machine, subject, &values)?;
    let (args, keywords) = split(subject, &values);
    let stage = HarnessState { number: 1, saved: Rc::default(), first: None };
    Ok(HarnessStep::Call { function: subject.function.clone(), args, keywords, stage })
}

pub(super) fn value_of(
    machine: &mut Machine,
    subject: &AnalysedFunction,
    condition: &CompiledCondition,
    scope: &ConditionScope<'_>,
) -> OrTrap<Value> {
    let mut args = scope.arguments.to_vec();
    for name in subject.names().iter().skip(args.len()) {
        args.push(match name.as_str() {
            "__old__" | "OLD" => scope.old.clone(),
            _ => scope.result.clone(),
        });
    }
    let function = machine.object(Object::Function(Rc::new(Function {
        code: condition.code.clone(),
        defaults: Rc::default(),
        keyword_defaults: Rc::default(),
        cells: Rc::default(),
        owner: None,
    })));
    machine.call(&function, args, Vec::new())
}

/// `__old__`: an object with copies of the parameters, and the snapshots.
pub(super) fn old_values(
    machine: &mut Machine,
    subject: &AnalysedFunction,
    values: &[Value],
) -> OrTrap<Value> {
    let mut attributes = Vec::new();
    let mut seen = Vec::new();
    for (parameter, value) in subject.parameters.iter().zip(values) {
        attributes.push((parameter.name.clone(), machine.deep_copy(value, &mut seen)?));
    }
    for (name, condition) in &subject.snapshots {
        let value = value_of(machine, subject, condition, &ConditionScope::before_call(values))?;
        attributes.retain(|(known, _)| **known != **name);
        attributes.push((name.as_str().into(), value));
    }
    Ok(machine.object(Object::Instance(Instance {
        class: Type::Builtin(BuiltinType::Object),
        attributes,
        payload: None,
    })))
}

/// CPython's verdict on a counterexample.
pub(super) enum ReplayVerdict {
    /// The call breaks the contract: the violation, the result, its line and the traceback.
    Broken { violation: String, actual: String, line: u32, trace: String },
    /// The call satisfies the contract.
    Satisfied,
    /// The replay has no result.
    NoAnswer,
}

/// Replays a call and checks whether it breaks the contract.
pub(super) fn confirm(
    replayer: &dyn Replayer,
    code: &str,
    subject: &AnalysedFunction,
    inputs: &Inputs,
    deadline: std::time::Instant,
) -> ReplayVerdict {
    let Ok(outcome) = replay(replayer, code, subject, inputs, deadline) else {
        return ReplayVerdict::NoAnswer;
    };
    let (before, after) = outcome.conditions.split_at(subject.pre.len().min(outcome.conditions.len()));
    if before.iter().any(|condition| *condition != ConditionOutcome::Holds) {
        return ReplayVerdict::Satisfied;
    }
    match &outcome.ended {
        Completion::Raised { class, mro, message, line, traceback } => {
            let is_allowed = mro.iter().any(|name| subject.contract.raises.contains(name));
            let line = line.unwrap_or(0);
            let is_precondition = class == "AssertionError" && subject.contract.leading.contains(&line);
            if is_allowed || is_precondition {
                return ReplayVerdict::Satisfied;
            }
            let text = raised(class, message);
            ReplayVerdict::Broken {
                violation: text.clone(),
                actual: format!("raises {text}"),
                line,
                trace: traceback.clone(),
            }
        }
        Completion::Returned { repr, .. } => {
            let checks = after.iter().skip(subject.snapshots.len());
            for (condition, found) in subject.post.iter().zip(checks) {
                let line = condition.clause.line;
                let what = match found {
                    ConditionOutcome::Fails => {
                        format!("postcondition at line {line} is false: {}", condition.clause.shown)
                    }
                    ConditionOutcome::Raised(class) => {
                        format!("postcondition at line {line} raises {class}: {}", condition.clause.shown)
                    }
                    _ => continue,
                };
                return ReplayVerdict::Broken {
                    violation: what,
                    actual: repr.clone(),
                    line,
                    trace: String::new(),
                };
            }
            ReplayVerdict::Satisfied
        }
    }
}

pub(super) fn raised(class: &str, message: &str) -> String {
    if message.is_empty() { class.to_owned() } else { format!("{class}: {message}") }
}

pub(super) fn replay(
    replayer: &dyn Replayer,
    code: &str,
    subject: &AnalysedFunction,
    inputs: &Inputs,
    deadline: std::time::Instant,
) -> Result<ReplayOutcome, ReplayProblem> {
    replay_watching(replayer, code, subject, inputs, &[], deadline)
}

/// Like `replay`, but also watches branches.
pub(super) fn replay_watching(
    replayer: &dyn Replayer,
    code: &str,
    subject: &AnalysedFunction,
    inputs: &Inputs,
    branches: &[(u32, u32)],
    deadline: std::time::Instant,
) -> Result<ReplayOutcome, ReplayProblem> {
    let args: Vec<PyValue> =
        inputs.args.iter().take(inputs.positional).map(|(_, value)| value.clone()).collect();
    let kwargs: Vec<(String, PyValue)> = inputs.args.iter().skip(inputs.positional).cloned().collect();
    let condition =
        |text: &str, before, snapshot| crate::Condition { text: text.to_owned(), before, snapshot };
    let pre = subject.pre.iter().map(|found| condition(&found.clause.text, true, None));
    let kept =
        subject.snapshots.iter().map(|(name, found)| condition(&found.clause.text, true, Some(name.clone())));
    let post = subject.post.iter().map(|found| condition(&found.clause.text, false, None));
    let conditions: Vec<crate::Condition> = pre.chain(kept).chain(post).collect();
    replayer.run(&ReplayRequest {
        code,
        function: &subject.name,
        args: &args,
        kwargs: &kwargs,
        conditions: &conditions,
        branches,
        deadline,
    })
}
