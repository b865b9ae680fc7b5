//! A failing tool is a failure in every dialect and in the ledger, for built-in servers and upstreams.

mod dialects;

use std::fmt::Debug;
use std::time::Duration;

use failwell_controls::GuardSet;
use failwell_fault::Fault;
use failwell_pipeline::{SpanKind, SpanOutcome};
use failwell_policy::Guards;
use failwell_policy::guard::{Action, Direction, GuardRule, GuardSettings};
use failwell_toolbox::{Content, Info, Json, TaskNeed, Tool, ToolOutcome, Toolbox};
use serde_json::{Value, json};

use dialects::{DIALECTS, Dialect, GatewayServer};

const OURS: &str = "built-in";
/// A failure in the tool's own words.
const REPORTED: &str = "mcp/TOOL_FAILED";

/// A call and its expected outcome.
struct ToolCase {
    tool: &'static str,
    arguments: Value,
    /// The reason, for a call that fails.
    fails: Option<&'static str>,
    status: u16,
    content: Value,
    structured: Option<Value>,
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn cases() -> Vec<ToolCase> {
    let disk = || json!([text("the disk is full")]);
    let long = |n: usize| "x".repeat(n);
    let reported = |arguments: Value, content: Value| ToolCase {
        tool: "ev__is_error",
        structured: arguments.get("data").cloned(),
        arguments,
        fails: Some(REPORTED),
        status: 502,
        content,
    };
    let good = |data: Value| ToolCase {
        tool: "ev__structured",
        arguments: json!({"data": data}),
        fails: None,
        status: 200,
        content: json!([text("all is well")]),
        structured: Some(data),
    };
    let middle = json!({"bytes": 12_000, "data": {"log": long(12_000)}});
    vec![
        reported(json!({}), disk()),
        reported(json!({"data": {"free": 0}}), disk()),
        // The tool's own members of these names do not replace those of the gateway.
        reported(json!({"data": {"data": {"reason": "mine", "ref": "mine"}, "isError": false}}), disk()),
        reported(middle, json!([text(&format!("the disk is full{}", long(12_000)))])),
        good(json!({"isError": true, "rows": 3})),
        good(json!({"nested": {"isError": true}, "log": long(12_000)})),
        ToolCase {
            tool: "marked",
            arguments: json!({}),
            fails: Some(REPORTED),
            status: 502,
            content: json!([text("no paper")]),
            structured: Some(json!({"tray": 2})),
        },
        ToolCase {
            tool: "failed",
            arguments: json!({}),
            fails: Some("device/NOT_FOUND_BY_SCROLLING"),
            status: 404,
            content: json!([text("the nearest elements"), {"type": "image", "data": "aGk=", "mimeType": "image/png"}]),
            structured: Some(json!({"steps": [1, 2], "data": {"step": 2}})),
        },
    ]
}

/// Built-in tools that fail with content.
fn built_in() -> Toolbox {
    let schema = || json!({"type": "object"});
    let marked = Tool::dynamic("marked", "Reports a failure.", schema(), None, |_, _| async {
        Ok(ToolOutcome::text("no paper").structured(Json::from(&json!({"tray": 2}))).marked_as_error())
    });
    let failed = Tool::dynamic("failed", "Fails for a known reason.", schema(), None, |_, _| async {
        let object = Json::from(&json!({"steps": [1, 2], "data": {"step": 2}}));
        let image = Content::Image { data: "aGk=".to_owned(), mime_type: "image/png".to_owned() };
        let outcome = ToolOutcome::text("the nearest elements").with(image).structured(object);
        Ok(outcome.failed(Fault::new(&failwell_device::reason::DEVICE_NOT_FOUND_BY_SCROLLING)))
    });
    let later = Tool::dynamic("later", "Reports a failure as a task.", schema(), None, |_, cx| async move {
        cx.become_task(TaskNeed::Required).await?;
        Ok(ToolOutcome::text("no paper").marked_as_error())
    });
    let info = Info { name: OURS, title: "Built in", version: "1", instructions: "" };
    Toolbox::new(info)
        .tool(marked.expect("a tool"))
        .tool(failed.expect("a tool"))
        .tool(later.expect("a tool"))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_dialect_and_the_ledger_say_whether_the_tool_failed() {
    let mut server = GatewayServer::start(built_in(), None).await;
    let mut problems = Vec::new();
    for case in cases() {
        for dialect in DIALECTS {
            let (status, body) = server.call(dialect, case.tool, &case.arguments).await;
            let mut cell = Cell { place: format!("{} over {dialect:?}", case.tool), problems: &mut problems };
            cell.answered(&case, dialect, status, &body);
            let line = server.last_record(|line| line["target"] == case.tool);
            let outcome = if case.fails.is_some() { "tool_failed" } else { "ok" };
            cell.same("the ledger's outcome", &line["outcome"], &json!(outcome));
            cell.same("the ledger's reason", &line["reason"], &json!(case.fails));
            let spans = server.spans_of(&["tools/call", "execute_tool"]);
            let has_server_side = spans.iter().any(|span| matches!(span.side, SpanKind::Server { .. }));
            cell.same("a span of the exchange", &has_server_side, &true);
            for span in &spans {
                cell.same("the span's outcome", &span.outcome, &span_outcome(&case));
            }
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    let reported = cases().iter().filter(|case| case.fails == Some(REPORTED)).count() * DIALECTS.len();
    let counted = format!("failwell_faults_total{{reason=\"{REPORTED}\",kind=\"broken\"}} {reported}\n");
    assert!(server.metrics().contains(&counted), "{}", server.metrics());
}

fn span_outcome(case: &ToolCase) -> SpanOutcome {
    let scrolling = &failwell_device::reason::DEVICE_NOT_FOUND_BY_SCROLLING;
    match case.fails {
        None => SpanOutcome::Succeeded,
        Some(REPORTED) => SpanOutcome::ToolFailed,
        Some(_) => SpanOutcome::Failed { reason: scrolling.id, title: scrolling.title, code: None },
    }
}

/// One cell of the table: a case in a dialect.
struct Cell<'a> {
    place: String,
    problems: &'a mut Vec<String>,
}

impl Cell<'_> {
    fn same<T: PartialEq + Debug>(&mut self, what: &str, found: &T, wanted: &T) {
        if found != wanted {
            let (found, wanted) = (format!("{found:?}"), format!("{wanted:?}"));
            self.problems.push(format!("{}: {what} is {found:.200}, not {wanted:.200}", self.place));
        }
    }

    fn answered(&mut self, case: &ToolCase, dialect: Dialect, status: u16, body: &Value) {
        let structured = case.structured.as_ref();
        if dialect.is_mcp() {
            let result = &body["result"];
            self.same("isError", &(result["isError"] == true), &case.fails.is_some());
            self.same("structuredContent", &result.get("structuredContent"), &structured);
            // A failure with a reason of the catalogue begins with the title of the reason.
            let own = usize::from(case.fails.is_some_and(|reason| reason != REPORTED));
            let content = result["content"].as_array().cloned().unwrap_or_default();
            self.same("content", &content.get(own..).map(|rest| json!(rest)), &Some(case.content.clone()));
            return;
        }
        self.same("the status", &status, if dialect == Dialect::Rpc { &200 } else { &case.status });
        let Some(reason) = case.fails else {
            let value = if dialect == Dialect::Rpc { &body["result"] } else { body };
            return self.same("the value", &Some(value), &structured);
        };
        let (message, object) = match dialect {
            Dialect::Rpc => (&body["error"]["message"], &body["error"]["data"]),
            Dialect::Problem => (&body["title"], body),
            _ => (&body["message"], &body["detail"]),
        };
        self.same("the reason", &object["reason"], &json!(reason));
        self.same("the tool's content", &object["result"]["content"], &case.content);
        self.same("its structured content", &object["result"].get("structuredContent"), &structured);
        self.same("the reference's length", &object["ref"].as_str().map(str::len), &Some(13));
        if reason != REPORTED {
            return self.same("its own data", &object["step"], &json!(2));
        }
        let origin = if case.tool.starts_with("ev__") { "upstream" } else { "server" };
        self.same("the message", message, &json!("the tool reported a failure"));
        self.same("the effect", &object["effect"], &json!("unknown"));
        self.same("the retry", &object["retry"], &json!("after_change"));
        self.same("the origin", &object["origin"], &json!(origin));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_whose_tool_failed_is_recorded_as_one() {
    let server = GatewayServer::start(built_in(), None).await;
    let created = server.modern("tools/call", &json!({"name": "later", "arguments": {}})).await;
    let task = json!({"taskId": created["result"]["taskId"]});
    let done = loop {
        let account = server.modern("tasks/get", &task).await;
        if account["result"]["status"] != "working" {
            break account;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(done["result"]["result"]["isError"], true, "{done}");
    let line = server.last_record(|line| line["connection_id"] == "task");
    assert_eq!((&line["outcome"], &line["reason"]), (&json!("tool_failed"), &json!(REPORTED)), "{line}");
}

/// The content of a failing tool is a result in every dialect.
#[tokio::test(flavor = "multi_thread")]
async fn guards_on_results_see_what_a_failing_tool_says() {
    let token = format!("ghp{}{}", "_", "z9Y8x7W6v5U4".repeat(3));
    for action in [Action::Redact, Action::Block] {
        let secrets = GuardRule { directions: vec![Direction::Result], ..GuardRule::everywhere(action) };
        let guards = Guards::compile(GuardSettings { secrets, ..GuardSettings::default() }).expect("guards");
        let mut server = GatewayServer::start(built_in(), Some(GuardSet::new(guards))).await;
        for dialect in DIALECTS {
            let arguments = json!({"data": {"key": token}});
            let (_, body) = server.call(dialect, "ev__is_error", &arguments).await;
            let text = body.to_string();
            assert!(!text.contains(&token), "{dialect:?}: {text}");
            match action {
                Action::Block => {
                    assert!(text.contains("policy/BLOCKED"), "{dialect:?}: {text}");
                    assert!(text.contains(r#""effect":"unknown""#), "{dialect:?}: {text}");
                }
                _ => assert!(text.contains("[redacted: secrets/github_token]"), "{dialect:?}: {text}"),
            }
        }
    }
}
