//! Successful results: the members of each era, on one line; and failed tools that reveal no more than their
//! fault.

#![allow(clippy::expect_used, reason = "a test may stop at the first surprise")]

#[path = "support/callers.rs"]
mod callers;
#[path = "support/dialects.rs"]
mod dialects;

use failwell_fault::{Fault, Pointer, Rule, Violation, reason};
use failwell_render::{
    Cache, CacheScope, Moment, Outcome, ReportedFailure, ResultKind, ToolFailure, for_the_model, render,
};
use failwell_rpc::{Dialect, ExpectedReply, ExpectedResult, Id, Json, Limits, ReplyTo, RestStyle, Revision};

use callers::caller;
use dialects::dialects;

fn json(text: &str) -> Json {
    Json::read(text, &Limits::default()).expect("JSON")
}

fn body(to: &ReplyTo, outcome: Outcome) -> String {
    let info = r#"{"name":"failwell","version":"1"}"#;
    let reply = render(to, &Ok(outcome), Some(info), Moment::at_unix(0)).expect("an answer");
    let text = String::from_utf8(reply.body).expect("UTF-8");
    json(&text);
    assert!(!text.contains(['\n', '\r']), "{text}");
    text
}

fn on(dialect: Dialect) -> ReplyTo {
    caller(dialect, ExpectedResult::Tool, Some(Id::from_number(1)))
}

#[test]
fn each_era_gets_its_own_members() {
    let cache = Cache { ttl_ms: 5, scope: CacheScope::Private };
    let session =
        body(&on(Dialect::Mcp(Revision::V2025_11_25)), Outcome::cached(json(r#"{"tools":[]}"#), cache));
    assert_eq!(session, r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#);
    let modern =
        body(&on(Dialect::Mcp(Revision::V2026_07_28)), Outcome::cached(json(r#"{"tools":[]}"#), cache));
    assert_eq!(
        modern,
        concat!(
            r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":5,"cacheScope":"private","#,
            r#""tools":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"failwell","version":"1"}}}}"#
        )
    );
    assert_eq!(
        body(&on(Dialect::Rpc), Outcome::Value(json("[1]"))),
        r#"{"jsonrpc":"2.0","id":1,"result":[1]}"#
    );
}

#[test]
fn results_are_one_line_however_they_were_written() {
    for dialect in dialects() {
        body(&on(dialect), Outcome::complete(json("{\n  \"content\": [\r\n]\n}")));
        body(&on(dialect), Outcome::ToolFailed(Box::new(failed())));
    }
}

fn failed() -> ToolFailure {
    let fault = Fault::new(&reason::SERVER_TIMEOUT)
        .fact("limit_s", 3u64)
        .because(std::io::Error::other("MARK-cause"))
        .note("note", "MARK-note")
        .capture("stderr", "MARK-output");
    let block = json("{\"type\":\"text\",\n\"text\":\"fenced\"}");
    ToolFailure { fault, structured: Some(json("{\n\"status\":\"error\"}")), blocks: vec![block] }
}

#[test]
fn a_failed_tool_tells_its_fault_and_its_own_account_and_nothing_private() {
    for dialect in dialects() {
        let text = body(&on(dialect), Outcome::ToolFailed(Box::new(failed())));
        assert!(!text.contains("MARK"), "{text}");
        assert!(text.contains("server/TIMEOUT"), "{text}");
        let Dialect::Mcp(revision) = dialect else {
            assert!(text.contains("-32603") && text.contains("took longer than 3 seconds"), "{text}");
            let shown = r#""result":{"content":[{"type":"text", "text":"fenced"}],"structuredContent":{ "status":"error"}}"#;
            assert!(text.contains(shown), "{text}");
            continue;
        };
        assert!(text.contains(r#""isError":true"#) && text.contains("fenced"), "{text}");
        let account = text.contains(r#""structuredContent":{ "status":"error"}"#);
        assert_eq!(account, revision >= Revision::V2025_06_18, "{text}");
    }
    assert!(!format!("{:?}", Outcome::ToolFailed(Box::new(failed()))).contains("MARK"));
}

/// A result in which the tool reports a failure, and its expected form on MCP.
fn reported(members: &str) -> (Outcome, Outcome) {
    let (fields, meta) = (json(members), Some(json(r#"{"a":1}"#)));
    let cache = Some(Cache { ttl_ms: 5, scope: CacheScope::Private });
    let fault = Fault::new(&reason::MCP_TOOL_FAILED).note("note", "MARK");
    let failure = ReportedFailure { fault, members: fields.clone().into(), meta: meta.clone(), cache };
    let result = Outcome::Mcp { members: fields.into(), meta, kind: ResultKind::Complete, cache };
    (Outcome::ReportedFailure(Box::new(failure)), result)
}

#[test]
fn a_reported_failure_is_passed_on_by_mcp_and_shown_by_the_others() {
    let cases = [
        (r#"{"content":[{"text":"full"}],"isError":true}"#, r#"{"content":[{"text":"full"}]}"#),
        (
            r#"{"isError":true,"structuredContent":{"data":{"ref":1}},"x":2}"#,
            r#"{"content":[],"structuredContent":{"data":{"ref":1}}}"#,
        ),
    ];
    for (members, shown) in cases {
        for dialect in dialects() {
            let (failure, result) = reported(members);
            let text = body(&on(dialect), failure);
            assert!(!text.contains("MARK"), "{text}");
            if let Dialect::Mcp(_) = dialect {
                assert_eq!(text, body(&on(dialect), result));
                continue;
            }
            assert!(text.contains(r#""reason":"mcp/TOOL_FAILED""#), "{text}");
            assert!(text.contains(&format!(r#""result":{shown}"#)), "{text}");
        }
    }
}

#[test]
fn a_tool_failure_with_nothing_to_show_has_no_result() {
    let fault = Fault::new(&reason::SERVER_TIMEOUT).fact("limit_s", 3u64);
    let failure = ToolFailure { fault, structured: None, blocks: Vec::new() };
    assert!(
        !body(&on(Dialect::Rest(RestStyle::Plain)), Outcome::ToolFailed(Box::new(failure)))
            .contains("\"result\"")
    );
}

#[test]
fn silence_is_an_answer() {
    for dialect in dialects() {
        let to = ReplyTo { wants: ExpectedReply::Silence, ..on(dialect) };
        let outcomes = [Ok(Outcome::complete(json("{}"))), Err(Fault::new(&reason::SERVER_BUG))];
        assert!(outcomes.iter().all(|happened| render(&to, happened, None, Moment::at_unix(0)).is_none()));
    }
}

#[test]
fn the_text_for_the_model_names_every_place() {
    let fault = Fault::new(&reason::MCP_BAD_ARGUMENTS)
        .violation(Violation::new(Pointer::root(), Rule::Type).limit("object"))
        .violation(Violation::new(Pointer::root().then("n"), Rule::Minimum).limit(1u64));
    let text = for_the_model(&fault, failwell_fault::Ref::fixed(0));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "the tool's arguments do not fit its schema",
            "  the whole value: must be of type object",
            "  /n: must be at least 1",
            "help: fix every listed violation and call the tool again",
            "[mcp/BAD_ARGUMENTS · retry after a change · effect none · ref 0000000000000]",
        ]
    );
}

#[test]
fn a_capability_said_twice_is_one_key() {
    let fault = Fault::new(&reason::MCP_CAPABILITY).fact("required", vec!["roots", "sampling", "roots"]);
    let to = caller(Dialect::Mcp(Revision::LATEST), ExpectedResult::Other, Some(Id::from_number(1)));
    let reply = render(&to, &Err(fault), None, Moment::at_unix(0)).expect("an answer");
    let text = String::from_utf8(reply.body).expect("UTF-8");
    json(&text);
    assert!(text.contains(r#""requiredCapabilities":{"roots":{},"sampling":{}}"#), "{text}");
}
