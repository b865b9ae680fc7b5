//! No fault exceeds its maximum size, for any input and any catalogue.

#![allow(clippy::expect_used, reason = "a test may stop at the first surprise")]

#[path = "support/callers.rs"]
mod callers;
#[path = "support/dialects.rs"]
mod dialects;
#[path = "support/reasons.rs"]
mod reasons;

use failwell_fault::{Echo, Fault, Name, Pointer, Reason, Rule, Violation};
use failwell_render::{LARGEST_FAULT, Moment, Reply, render};
use failwell_rpc::{ExpectedResult, Id, Json, Limits, Object};

use callers::caller;
use dialects::dialects;
use reasons::reasons;

const GIANT: usize = 10_000;

fn many_violations(reason: &'static Reason) -> Fault {
    (0..GIANT).fold(Fault::new(reason), |fault, index| {
        let pointer = Pointer::root().then("arguments").then(&index.to_string());
        fault.violation(Violation::new(pointer, Rule::MaxLength).limit(5u64))
    })
}

fn deep_pointers(reason: &'static Reason) -> Fault {
    // The maximum depth that the scan accepts.
    let depth = Limits::default().max_depth;
    let deep = (0..depth).fold(Pointer::root(), |pointer, _| pointer.then(&"é".repeat(300)));
    Fault::new(reason).violation(Violation::new(deep, Rule::Required))
}

fn long_lists(reason: &'static Reason) -> Fault {
    let names: Vec<Name> = (0..GIANT / 5).filter_map(|index| Name::parse(&format!("name-{index}"))).collect();
    let facts = ["name", "method", "supported", "requested", "required", "allow", "limit", "uri", "key"];
    facts
        .into_iter()
        .fold(Fault::new(reason), |fault, name| fault.fact(name, names.clone()))
        .nearest(names.clone())
}

fn giant_echoes(reason: &'static Reason) -> Fault {
    let giant = "\"\\".repeat(GIANT);
    ["name", "method", "requested", "uri"]
        .into_iter()
        .fold(Fault::new(reason), |fault, name| fault.fact(name, Echo::of_caller(&giant)))
}

/// Renders every reason in every dialect and passes each reply with its fault object to a check.
fn on_every_face(make: fn(&'static Reason) -> Fault, look: fn(&'static Reason, &Reply, &Json)) {
    let id = Id::from_string(&"i".repeat(900));
    for reason in reasons().iter() {
        let happened = Err(make(reason));
        for dialect in dialects() {
            for asked in [ExpectedResult::Tool, ExpectedResult::Other] {
                let to = caller(dialect, asked, Some(id.clone()));
                if let Some(reply) = render(&to, &happened, None, Moment::at_unix(0)) {
                    let text = std::str::from_utf8(&reply.body).expect("UTF-8");
                    let json = Json::read(text, &Limits::default()).expect("strict JSON");
                    look(reason, &reply, &json);
                }
            }
        }
    }
}

fn is_capped(reason: &'static Reason, reply: &Reply, _: &Json) {
    assert!(reply.body.len() <= LARGEST_FAULT, "{}: {} bytes", reason.id, reply.body.len());
    let header_bytes: usize = reply.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    assert!(header_bytes <= 1_024, "{}: {header_bytes} bytes of headers", reason.id);
}

/// The fault object at its place in the dialect.
fn fault_object<'a>(json: &'a Json) -> Object<'a> {
    let mut object = json.raw().as_object().expect("an object");
    for step in ["error", "data", "result", "_meta", "dev.failwell/fault", "detail"] {
        object = object.get(step).and_then(|value| value.as_object()).unwrap_or(object);
    }
    object
}

/// The bounded form: identity and reference, without the large members.
fn is_core(reason: &'static Reason, reply: &Reply, json: &Json) {
    is_capped(reason, reply, json);
    let object = fault_object(json);
    assert_eq!(object.get("reason").and_then(|value| value.as_str()), Some(reason.id.into()));
    assert_eq!(object.get("title").and_then(|value| value.as_str()), Some(reason.title.into()));
    for key in ["kind", "retry", "effect", "doc", "ref"] {
        assert!(object.get(key).is_some(), "{}: no {key} in {}", reason.id, json.text());
    }
    for key in ["facts", "violations", "errors"] {
        assert!(object.get(key).is_none(), "{}: {key} in the core", reason.id);
    }
}

#[test]
fn many_violations_are_listed_up_to_a_hundred_and_counted() {
    on_every_face(many_violations, |reason, reply, json| {
        is_capped(reason, reply, json);
        let object = fault_object(json);
        let listed = object.get("violations").and_then(|value| value.as_array()).expect("violations");
        assert_eq!(listed.into_iter().count(), 100);
        assert_eq!(object.get("violations_total").and_then(|value| value.as_u64()), Some(10_000));
    });
}

#[test]
fn giant_echoes_are_shortened() {
    on_every_face(giant_echoes, is_capped);
}

#[test]
fn endless_pointers_fall_back_to_the_core() {
    on_every_face(deep_pointers, is_core);
}

#[test]
fn endless_lists_fall_back_to_the_core() {
    on_every_face(long_lists, is_core);
}
