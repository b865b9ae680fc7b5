//! No private text of any fault reaches a caller: the test renders every reason in every dialect, with
//! markers in every private field. It also checks shape, code, status and the official schemas of the same
//! bodies.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

#[path = "support/callers.rs"]
mod callers;
#[path = "support/dialects.rs"]
mod dialects;
#[path = "support/reading.rs"]
mod reading;
#[path = "support/reasons.rs"]
mod reasons;
#[path = "support/samples.rs"]
mod samples;
#[path = "support/schemas.rs"]
mod schemas;
#[path = "support/table.rs"]
mod table;

use std::error::Error;
use std::fmt;

use failwell_fault::{Condition, Fault, Reason, Retry};
use failwell_render::{Moment, Reply, for_the_model, render};
use failwell_rpc::{Dialect, Era, ExpectedResult, Id, ReplyTo, RestStyle};
use proptest::prelude::{ProptestConfig, any, proptest};
use proptest::{prop_assert, prop_assert_eq};

use callers::caller;
use dialects::dialects;
use reasons::reasons;
use samples::sample;

const MARKERS: [&str; 6] =
    ["MARK-outer-0", "MARK-middle-1", "MARK-inner-2", "MARK-note-3", "MARK-output-4", "MARK-second-5"];

/// An error that wraps another.
#[derive(Debug)]
struct WrappedError(String, Option<Box<WrappedError>>);

impl fmt::Display for WrappedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for WrappedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.1.as_deref().map(|link| link as &(dyn Error + 'static))
    }
}

fn chain(texts: &[&str]) -> Option<Box<WrappedError>> {
    let (first, rest) = texts.split_first()?;
    Some(Box::new(WrappedError((*first).to_owned(), chain(rest))))
}

/// The sample of a reason with six texts in its private fields.
fn with_private(reason: &'static Reason, texts: [&str; 6]) -> Fault {
    let [outer, middle, inner, note, output, second] = texts;
    sample(reason)
        .because(*chain(&[outer, middle, inner]).expect("three links"))
        .because(std::io::Error::other(second.to_owned()))
        .note("note", note)
        .capture("stderr", output)
}

/// All kinds of callers: each dialect, with and without a tool call, with and without an id.
fn callers() -> Vec<ReplyTo> {
    let ids = [None, Some(Id::from_number(7)), Some(Id::from_string("q\"uote"))];
    let mut callers = Vec::new();
    for dialect in dialects() {
        for asked in [ExpectedResult::Tool, ExpectedResult::Other] {
            callers.extend(ids.iter().map(|id| caller(dialect, asked, id.clone())));
        }
    }
    callers
}

fn answer(to: &ReplyTo, fault: Fault) -> Option<Reply> {
    let info = r#"{"name":"failwell","version":"0"}"#;
    render(to, &Err(fault), Some(info), Moment::at_unix(1_800_000_000))
}

/// Every part of a reply that leaves the process, as text.
fn everything(reply: &Reply) -> String {
    format!("{} {} {:?} {}", reply.status, reply.content_type, reply.headers, body(reply))
}

fn body(reply: &Reply) -> &str {
    std::str::from_utf8(&reply.body).expect("UTF-8")
}

#[test]
fn no_marker_reaches_a_caller_and_every_marker_reaches_the_operator() {
    for reason in reasons().iter() {
        for to in callers() {
            let fault = with_private(reason, MARKERS);
            let whole = fault.operator().to_string();
            for marker in MARKERS.iter().chain(&["canary.rs:"]) {
                assert!(whole.contains(marker), "{}: {marker} missing in {whole}", reason.id);
            }
            let lazy = format!("{fault} {fault:?} {fault:#?} {}", for_the_model(&fault, to.reference));
            let bytes = answer(&to, fault).map(|reply| everything(&reply)).unwrap_or_default();
            for leak in ["MARK", "canary.rs"] {
                assert!(!lazy.contains(leak), "{}: {lazy}", reason.id);
                assert!(!bytes.contains(leak), "{} on {:?}: {bytes}", reason.id, to.dialect);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// A stronger test than markers: the bytes are the same with and without private fields.
    #[test]
    fn private_text_changes_no_byte(texts in any::<[String; 6]>()) {
        let texts: [&str; 6] = std::array::from_fn(|index| texts[index].as_str());
        for reason in reasons().iter() {
            let fault = with_private(reason, texts);
            let whole = fault.operator().to_string();
            prop_assert!(texts.iter().all(|text| whole.contains(text)));
            for dialect in dialects() {
                let to = caller(dialect, ExpectedResult::Tool, Some(Id::from_number(1)));
                prop_assert_eq!(answer(&to, with_private(reason, texts)), answer(&to, sample(reason)));
            }
        }
    }
}

#[test]
fn bodies_have_their_shape_code_and_status() {
    for reason in reasons().iter() {
        for to in callers() {
            let Some(reply) = answer(&to, sample(reason)) else {
                let silent =
                    matches!(to.dialect, Dialect::Mcp(_)) && reason.condition == Condition::Cancelled;
                assert!(silent, "{} on {:?} has no answer", reason.id, to.dialect);
                continue;
            };
            let shown = is_shown(&to, reason);
            let code = reading::check_shape(&to, &sample(reason), &reading::strict(&reply), shown);
            let (expected_code, expected_status) = expected(reason, to.dialect);
            if shown {
                assert_eq!((code, reply.status), (None, 200), "{}", reason.id);
            } else {
                let found = (code, i32::from(reply.status));
                assert_eq!(
                    found,
                    (Some(expected_code.into()), expected_status),
                    "{} {:?}",
                    reason.id,
                    to.dialect
                );
            }
            assert_eq!(reply.content_type == "application/problem+json", to.dialect == PROBLEM);
            check_headers(&to, reason, &reply);
        }
    }
}

const PROBLEM: Dialect = Dialect::Rest(RestStyle::Problem);

/// On MCP, the model sees invalid arguments and failed tools.
fn is_shown(to: &ReplyTo, reason: &Reason) -> bool {
    let for_model = matches!(
        reason.condition,
        Condition::ToolFailed | Condition::BadArguments | Condition::ExternalService
    );
    matches!(to.dialect, Dialect::Mcp(_)) && to.asked == ExpectedResult::Tool && for_model
}

fn expected(reason: &Reason, dialect: Dialect) -> (i32, i32) {
    let row = table::TABLE.iter().find(|row| row.condition == reason.condition).expect("a row");
    let (code, status) = match dialect {
        Dialect::Rest(_) => row.rest,
        Dialect::Rpc => (row.rest.0, table::Number::Is(200)),
        Dialect::Mcp(revision) if revision.era() == Era::Session => row.session,
        Dialect::Mcp(_) => row.modern,
    };
    (code.of(reason.kind), status.of(reason.kind))
}

fn check_headers(to: &ReplyTo, reason: &'static Reason, reply: &Reply) {
    let has = |name: &str| reply.headers.iter().any(|(known, value)| *known == name && !value.is_empty());
    let unauthenticated = reason.condition == Condition::Credentials && to.dialect != Dialect::Rpc;
    assert_eq!(has("www-authenticate"), unauthenticated, "{}", reason.id);
    assert_eq!(has("allow"), reason.condition == Condition::MethodNotAllowed, "{}", reason.id);
    let waits = matches!(sample(reason).retry(), Retry::After(_));
    let busy = matches!(reason.condition, Condition::RateLimited | Condition::TooLarge);
    assert_eq!(has("retry-after") && busy, waits && busy, "{}", reason.id);
    assert!(waits || reason.condition != Condition::RateLimited, "{}", reason.id);
}

#[test]
fn mcp_bodies_keep_to_the_official_schemas() {
    for schemas in schemas::Schemas::load().unwrap_or_default() {
        let dialect = Dialect::Mcp(schemas.revision());
        for reason in reasons().iter() {
            for to in callers().into_iter().filter(|to| to.dialect == dialect) {
                let Some(reply) = answer(&to, sample(reason)) else { continue };
                let value: serde_json::Value = serde_json::from_slice(&reply.body).expect("JSON");
                match value.get("result") {
                    Some(result) => schemas.check_tool_result(result),
                    None => schemas.check_error(&value),
                }
            }
        }
    }
}
