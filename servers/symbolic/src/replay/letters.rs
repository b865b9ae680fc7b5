//! What goes to a worker and what comes back, one line of JSON each.

use std::time::Duration;

use num_bigint::BigInt;
use serde::Deserialize;
use serde_json::{Value, json};

use super::broken;
use crate::{
    Condition, ConditionOutcome, Ended, Field, PyValue, ReplayOutcome, ReplayProblem, ReplayRequest,
};

/// A request, but for its time limit.
pub(super) struct Letter(Value);

impl Letter {
    /// The answer to this has to bear the mark.
    pub(super) fn line(mut self, limit: Duration, mark: &str) -> String {
        if let Some(members) = self.0.as_object_mut() {
            members.insert("seconds".to_owned(), json!(limit.as_secs_f64()));
            members.insert("mark".to_owned(), json!(mark));
        }
        self.0.to_string() + "\n"
    }
}

pub(super) fn compile(code: &str) -> Letter {
    Letter(json!({"do": "compile", "code": code}))
}

pub(super) fn call(request: &ReplayRequest<'_>) -> Letter {
    let conditions: Vec<Value> = request
        .conditions
        .iter()
        .map(|condition| json!({"text": condition.text, "before": condition.before, "snapshot": condition.snapshot}))
        .collect();
    let args: Vec<String> = request.args.iter().map(PyValue::to_literal).collect();
    let kwargs: Vec<(&str, String)> =
        request.kwargs.iter().map(|(name, value)| (name.as_str(), value.to_literal())).collect();
    Letter(json!({
        "do": "call", "code": request.code, "function": request.function, "args": args, "kwargs": kwargs,
        "conditions": conditions, "branches": request.branches,
    }))
}

/// An answer. What code runs may have written it, so nothing of it is taken for granted.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    #[serde(default)]
    ready: bool,
    #[serde(default)]
    mark: Option<String>,
    #[serde(default)]
    problem: Option<String>,
    #[serde(default)]
    class: Option<String>,
    #[serde(default)]
    line: Option<u32>,
    #[serde(default)]
    args_after: Vec<String>,
    #[serde(default)]
    conditions: Vec<Value>,
    #[serde(default)]
    sides: Vec<(u32, bool)>,
    #[serde(default)]
    returned: Option<Returned>,
    #[serde(default)]
    raised: Option<Raised>,
}

#[derive(Debug, Deserialize)]
struct Returned {
    repr: String,
    #[serde(rename = "type")]
    type_name: String,
    value: Value,
}

#[derive(Debug, Deserialize)]
struct Raised {
    class: String,
    mro: Vec<String>,
    message: String,
    line: Option<u32>,
    traceback: String,
}

impl Answer {
    pub(super) fn parse(line: &[u8]) -> Option<Answer> {
        serde_json::from_slice(line).ok()
    }

    /// Whether it answers the letter with this mark. Only a problem may have none: whoever had it is gone.
    pub(super) fn is_for(&self, mark: &str) -> bool {
        self.mark.as_deref().map_or(self.problem.is_some(), |found| found == mark)
    }

    /// Whether the worker had cleared up when it said this.
    pub(super) fn comes_from_the_next(&self) -> bool {
        self.ready
    }

    pub(super) fn is_ready(line: &[u8]) -> bool {
        Answer::parse(line).is_some_and(|answer| answer.ready)
    }
}

fn problem(answer: &Answer) -> Option<ReplayProblem> {
    match answer.problem.as_deref()? {
        "time" => Some(ReplayProblem::TimedOut),
        "memory" => Some(ReplayProblem::OutOfMemory),
        other => {
            let class = answer.class.as_deref().unwrap_or_default();
            Some(broken(format!("{other} {class} {}", answer.line.unwrap_or_default())))
        }
    }
}

pub(super) fn compiled(answer: &Answer) -> Result<Option<u32>, ReplayProblem> {
    problem(answer).map_or(Ok(answer.line), Err)
}

pub(super) fn called(answer: Answer, asked: &[Condition]) -> Result<ReplayOutcome, ReplayProblem> {
    if let Some(problem) = problem(&answer) {
        return Err(problem);
    }
    let ended = match (answer.returned, answer.raised) {
        (Some(Returned { repr, type_name, value }), None) => {
            Ended::Returned { repr, type_name, value: data(&value) }
        }
        (None, Some(Raised { class, mro, message, line, traceback })) => {
            Ended::Raised { class, mro, message, line, traceback }
        }
        _ => return Err(broken("an answer that says neither")),
    };
    if answer.conditions.len() != asked.len() {
        return Err(broken("an answer to something else"));
    }
    let conditions = answer.conditions.iter().map(outcome).collect();
    Ok(ReplayOutcome { ended, args_after: answer.args_after, conditions, sides: answer.sides })
}

fn outcome(told: &Value) -> ConditionOutcome {
    match told {
        Value::String(word) if word == "holds" => ConditionOutcome::Holds,
        Value::String(word) if word == "fails" => ConditionOutcome::Fails,
        Value::Array(parts) => {
            let class = parts.get(1).and_then(Value::as_str).unwrap_or("Exception");
            ConditionOutcome::Raised(class.to_owned())
        }
        _ => ConditionOutcome::NotEvaluated,
    }
}

/// A value as the worker writes it: see `Data` there.
fn data(told: &Value) -> Option<PyValue> {
    let object = match told {
        Value::Bool(value) => return Some(PyValue::Bool(*value)),
        Value::String(text) => return Some(PyValue::text(text)),
        Value::Object(object) => object,
        _ => return None,
    };
    let (tag, content) = object.iter().next()?;
    let all = || content.as_array()?.iter().map(data).collect::<Option<Vec<_>>>();
    let pair = || Some((content.get(0)?.as_str()?.to_owned(), content.get(1)?));
    Some(match tag.as_str() {
        "n" => PyValue::None,
        "i" => PyValue::Int(content.as_str()?.parse::<BigInt>().ok()?),
        "f" => PyValue::Float(content.as_str()?.parse().ok()?),
        "s" => PyValue::Str(numbers(content)?),
        "b" => {
            PyValue::Bytes(numbers(content)?.into_iter().map(u8::try_from).collect::<Result<_, _>>().ok()?)
        }
        "l" => PyValue::List(all()?),
        "t" => PyValue::Tuple(all()?),
        "S" => PyValue::Set(all()?),
        "F" => PyValue::FrozenSet(all()?),
        "d" => PyValue::Dict(
            content
                .as_array()?
                .iter()
                .map(|entry| Some((data(entry.get(0)?)?, data(entry.get(1)?)?)))
                .collect::<Option<_>>()?,
        ),
        "e" => {
            let (class, member) = pair()?;
            PyValue::EnumMember { class, member: member.as_str()?.to_owned() }
        }
        "c" => {
            let (class, fields) = pair()?;
            let field = |entry: &Value| {
                Some(Field { name: entry.get(0)?.as_str()?.to_owned(), value: data(entry.get(1)?)? })
            };
            PyValue::Instance { class, fields: fields.as_array()?.iter().map(field).collect::<Option<_>>()? }
        }
        _ => return None,
    })
}

fn numbers(content: &Value) -> Option<Vec<u32>> {
    content.as_array()?.iter().map(|number| u32::try_from(number.as_u64()?).ok()).collect()
}
