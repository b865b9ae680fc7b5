//! Describes failures by the reasons in the route table, with rendered examples.

use std::collections::BTreeMap;

use failwell_fault::{Echo, Fact, Fault, Pointer, Reason, ReasonRegistry, Ref, Rule, Violation};
use failwell_render::{Moment, codes, render};
use failwell_rpc::{Dialect, ReplyTo, RestStyle, Revision};
use serde_json::{Map, Value, json};

use crate::http::routes::{Action, FailureFormat};

/// Maximum number of examples per status.
const MOST_EXAMPLES: usize = 4;

/// The failure responses of an action, by status. Plain JSON-RPC reports failures inside its responses.
pub(super) fn of(action: &Action) -> BTreeMap<String, Value> {
    let dialects: &[Dialect] = match action.failure_format {
        FailureFormat::Rpc => return BTreeMap::new(),
        FailureFormat::Rest => &[PLAIN],
        FailureFormat::Mcp => &[Dialect::Mcp(Revision::LATEST_SESSION), Dialect::Mcp(Revision::LATEST)],
    };
    by_status(action.failures().into_iter(), dialects)
}

/// The failure responses of a tool: all reasons of the registry.
pub(super) fn of_tools(reasons: &ReasonRegistry) -> BTreeMap<String, Value> {
    by_status(reasons.iter(), &[PLAIN])
}

const PLAIN: Dialect = Dialect::Rest(RestStyle::Plain);
const PROBLEM: Dialect = Dialect::Rest(RestStyle::Problem);

fn by_status(
    reasons: impl Iterator<Item = &'static Reason>,
    dialects: &[Dialect],
) -> BTreeMap<String, Value> {
    let mut grouped: BTreeMap<u16, Vec<(&'static Reason, Dialect)>> = BTreeMap::new();
    for reason in reasons {
        for dialect in dialects {
            let status = codes::answer(reason, *dialect).status;
            let known = grouped.entry(status).or_default();
            if !known.iter().any(|(other, _)| other == &reason) {
                known.push((reason, *dialect));
            }
        }
    }
    // In a session a failure may have status 200, which is described with the success response.
    grouped.remove(&200);
    grouped.into_iter().map(|(status, reasons)| (status.to_string(), response(status, &reasons))).collect()
}

fn response(status: u16, reasons: &[(&'static Reason, Dialect)]) -> Value {
    let titles: Vec<&str> = reasons.iter().map(|(reason, _)| reason.title).take(MOST_EXAMPLES).collect();
    let mut content = Map::new();
    let is_rest = reasons.iter().all(|(_, dialect)| *dialect == PLAIN);
    let examples = |dialect: Option<Dialect>| {
        let shown = reasons.iter().take(MOST_EXAMPLES);
        let shown =
            shown.map(|(reason, own)| (reason.id.to_owned(), example(reason, dialect.unwrap_or(*own))));
        Value::Object(shown.collect())
    };
    let schema = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    if is_rest {
        let plain = json!({"schema": schema("Failure"), "examples": examples(None)});
        let problem = json!({"schema": schema("Problem"), "examples": examples(Some(PROBLEM))});
        content.insert("application/json".to_owned(), plain);
        content.insert("application/problem+json".to_owned(), problem);
    } else {
        let error = json!({"type": "object", "required": ["jsonrpc", "error"],
            "properties": {"error": schema("RpcError")}});
        content.insert("application/json".to_owned(), json!({"schema": error, "examples": examples(None)}));
    }
    let mut response = json!({"description": titles.join("; "), "content": content});
    if let (Some(name), Some(members)) = (header(status), response.as_object_mut()) {
        members.insert("headers".to_owned(), json!({name: {"schema": {"type": "string"}}}));
    }
    response
}

/// The HTTP header that tells clients how to react.
fn header(status: u16) -> Option<&'static str> {
    match status {
        401 => Some("WWW-Authenticate"),
        405 => Some("Allow"),
        429 => Some("Retry-After"),
        _ => None,
    }
}

/// A rendered failure.
fn example(reason: &'static Reason, dialect: Dialect) -> Value {
    let to = ReplyTo { reference: Ref::fixed(0x00c0_ffee), ..ReplyTo::unreadable(None, dialect) };
    let rendered = render(&to, &Err(sample(reason)), None, Moment::at_unix(0));
    let body = rendered.and_then(|reply| serde_json::from_slice::<Value>(&reply.body).ok());
    json!({"value": body.unwrap_or(Value::Null)})
}

/// A fault with a value for every placeholder of its texts.
fn sample(reason: &'static Reason) -> Fault {
    let places = [reason.detail, reason.hint].into_iter().flat_map(|sentence| sentence.split('{').skip(1));
    let places = places.filter_map(|rest| rest.split('}').next());
    let fault = places.fold(Fault::new(reason), |fault, place| match fault.get(place) {
        Some(_) => fault,
        None => fault.fact(place, fact(place)),
    });
    if reason.detail != "Validation Error" {
        return fault;
    }
    fault.violation(Violation::new(Pointer::root().then("name"), Rule::Required))
}

fn fact(place: &str) -> Fact {
    match place {
        "limit" | "limit_s" | "limit_bytes" | "offset" | "count" | "code" => Fact::from(30u64),
        "allow" => Fact::from(vec!["GET", "HEAD", "OPTIONS"]),
        "name" => Fact::from(Echo::of_caller("ehco")),
        "uri" => Fact::from(Echo::of_caller("resource://screenshots/abcd1234.png")),
        "role" => Fact::from("developer"),
        _ => Fact::from("example"),
    }
}

pub(super) fn body_schema() -> Value {
    json!({
        "type": "object",
        "required": ["error_code", "message", "detail"],
        "properties": {
            "error_code": {"type": "integer"},
            "message": {"type": "string"},
            "detail": {"$ref": "#/components/schemas/Fault"},
        },
        "additionalProperties": false,
    })
}

pub(super) fn problem_schema() -> Value {
    json!({
        "type": "object",
        "required": ["type", "status", "title", "detail", "instance", "error_code", "reason", "ref"],
        "properties": {
            "type": {"type": "string"}, "status": {"type": "integer"}, "title": {"type": "string"},
            "detail": {"type": "string"}, "instance": {"type": "string"}, "error_code": {"type": "integer"},
        },
    })
}

pub(super) fn rpc_schema() -> Value {
    json!({
        "type": "object",
        "required": ["code", "message", "data"],
        "properties": {
            "code": {"type": "integer"},
            "message": {"type": "string"},
            "data": {"$ref": "#/components/schemas/Fault"},
        },
    })
}

/// The fault object, which is the same in every dialect.
pub(super) fn fault_schema() -> Value {
    let text = || json!({"type": "string"});
    let place = json!({"type": "object", "required": ["pointer", "rule", "message"]});
    let error = json!({
        "type": "object",
        "required": ["loc", "msg", "type"],
        "properties": {"loc": {"type": "array", "items": text()}, "msg": text(), "type": text()},
    });
    json!({
        "type": "object",
        "required": ["reason", "kind", "title", "detail", "hint", "retry", "effect", "origin", "doc", "ref"],
        "properties": {
            "reason": text(), "kind": text(), "title": text(), "detail": text(), "hint": text(),
            "facts": {"type": "object"},
            "violations": {"type": "array", "items": place},
            "errors": {"type": "array", "items": error},
            "retry": {"enum": ["never", "after_change", "after_ms", "once"]},
            "retry_after_ms": {"type": "integer"},
            "effect": {"enum": ["none", "unknown", "partial", "complete"]},
            "origin": {"enum": ["caller", "policy", "server", "upstream", "failwell"]},
            "doc": text(), "ref": text(),
            "result": {
                "type": "object",
                "description": "The result of the failed tool: its content, and its structuredContent if there is any.",
                "required": ["content"],
            },
        },
    })
}
