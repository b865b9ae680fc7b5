//! Requests to a worker and its responses, one line of JSON each.

use std::time::Duration;

use num_bigint::BigInt;
use serde::Deserialize;
use serde_json::{Value, json};

use super::broken;
use crate::{
    Completion, Condition, ConditionOutcome, InstanceField, PyValue, ReplayOutcome, ReplayProblem,
    ReplayRequest,
};

/// A request without its time limit.
#[derive(Clone)]
pub(super) struct WorkerRequest(Value);

impl WorkerRequest {
    /// Adds the time limit and the nonce, which the response must repeat.
    pub(super) fn line(mut self, limit: Duration, nonce: &str) -> String {
        if let Some(members) = self.0.as_object_mut() {
            members.insert("seconds".to_owned(), json!(limit.as_secs_f64()));
            members.insert("nonce".to_owned(), json!(nonce));
        }
        self.0.to_string() + "\n"
    }
}

pub(super) fn compile(code: &str) -> WorkerRequest {
    WorkerRequest(json!({"do": "compile", "code": code}))
}

pub(super) fn call(request: &ReplayRequest<'_>) -> WorkerRequest {
    let conditions: Vec<Value> = request
        .conditions
        .iter()
        .map(|condition| json!({"text": condition.text, "before": condition.before, "snapshot": condition.snapshot}))
        .collect();
    let args: Vec<String> = request.args.iter().map(PyValue::to_literal).collect();
    let kwargs: Vec<(&str, String)> =
        request.kwargs.iter().map(|(name, value)| (name.as_str(), value.to_literal())).collect();
    WorkerRequest(json!({
        "do": "call", "code": request.code, "function": request.function, "args": args, "kwargs": kwargs,
        "conditions": conditions, "branches": request.branches,
    }))
}

/// A response. Analysed code may have written it, so every member is checked.
#[derive(Debug, Deserialize)]
pub(super) struct WorkerResponse {
    #[serde(default)]
    ready: bool,
    #[serde(default)]
    nonce: Option<String>,
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
    returned: Option<ReturnedValue>,
    #[serde(default)]
    raised: Option<RaisedException>,
}

#[derive(Debug, Deserialize)]
struct ReturnedValue {
    repr: String,
    #[serde(rename = "type")]
    type_name: String,
    value: Value,
}

#[derive(Debug, Deserialize)]
struct RaisedException {
    class: String,
    mro: Vec<String>,
    message: String,
    line: Option<u32>,
    traceback: String,
}

impl WorkerResponse {
    pub(super) fn parse(line: &[u8]) -> Option<WorkerResponse> {
        serde_json::from_slice(line).ok()
    }

    /// Whether it belongs to the request with this nonce. Only a problem may lack a nonce, if the child that
    /// had it died.
    pub(super) fn is_for(&self, nonce: &str) -> bool {
        self.nonce.as_deref().map_or(self.problem.is_some(), |found| found == nonce)
    }

    /// Whether the worker had cleaned up when it sent this.
    pub(super) fn is_from_next_child(&self) -> bool {
        self.ready
    }

    pub(super) fn is_ready(line: &[u8]) -> bool {
        WorkerResponse::parse(line).is_some_and(|answer| answer.ready)
    }
}

fn problem(answer: &WorkerResponse) -> Option<ReplayProblem> {
    match answer.problem.as_deref()? {
        "time" => Some(ReplayProblem::TimedOut),
        "memory" => Some(ReplayProblem::OutOfMemory),
        other => {
            let class = answer.class.as_deref().unwrap_or_default();
            Some(broken(format!("{other} {class} {}", answer.line.unwrap_or_default())))
        }
    }
}

pub(super) fn compiled(answer: &WorkerResponse) -> Result<Option<u32>, ReplayProblem> {
    problem(answer).map_or(Ok(answer.line), Err)
}

pub(super) fn called(answer: WorkerResponse, asked: &[Condition]) -> Result<ReplayOutcome, ReplayProblem> {
    if let Some(problem) = problem(&answer) {
        return Err(problem);
    }
    let ended = match (answer.returned, answer.raised) {
        (Some(ReturnedValue { repr, type_name, value }), None) => {
            Completion::Returned { repr, type_name, value: data(&value) }
        }
        (None, Some(RaisedException { class, mro, message, line, traceback })) => {
            Completion::Raised { class, mro, message, line, traceback }
        }
        _ => return Err(broken("an answer that says neither")),
    };
    if answer.conditions.len() != asked.len() {
        return Err(broken("an answer to something else"));
    }
    let conditions = answer.conditions.iter().map(outcome).collect();
    Ok(ReplayOutcome { ended, args_after: answer.args_after, conditions, sides: answer.sides })
}

fn outcome(answer: &Value) -> ConditionOutcome {
    match answer {
        Value::String(word) if word == "holds" => ConditionOutcome::Holds,
        Value::String(word) if word == "fails" => ConditionOutcome::Fails,
        Value::Array(parts) => {
            let class = parts.get(1).and_then(Value::as_str).unwrap_or("Exception");
            ConditionOutcome::Raised(class.to_owned())
        }
        _ => ConditionOutcome::NotEvaluated,
    }
}

/// Parses a value of the worker: see `Data` there.
fn data(answer: &Value) -> Option<PyValue> {
    let object = match answer {
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
                Some(InstanceField { name: entry.get(0)?.as_str()?.to_owned(), value: data(entry.get(1)?)? })
            };
            PyValue::Instance { class, fields: fields.as_array()?.iter().map(field).collect::<Option<_>>()? }
        }
        _ => return None,
    })
}

fn numbers(content: &Value) -> Option<Vec<u32>> {
    content.as_array()?.iter().map(|number| u32::try_from(number.as_u64()?).ok()).collect()
}
