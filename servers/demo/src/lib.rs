//! The demo server: a few harmless tools to try Failwell and its failures with. Its name in the configuration
//! is `lobby`.
//!
//! `echo` returns its input, `wait` sleeps and reports progress, and `explain` reads the catalogue of
//! failures. `fail` fails with any reason of the catalogue, so that client authors can see each failure in
//! advance. `ask` elicits.
//!
//! # Invariants
//!
//! * No tool uses the disk, the network or another process.
//! * A failure on demand uses the same code as a real one.

mod explain;
mod fail;
pub mod reason;

use std::pin::Pin;
use std::time::Duration;

use failwell_fault::{Fault, ReasonRegistry};
use failwell_sdk::{
    Address, Content, Context, Info, Prompt, PromptArgument, PromptResult, Question, Resource,
    ResourceContents, Tool, ToolOutcome, Toolbox,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub use reason::REASONS;

/// Builds the tools, prompts and resources. `explain` and `fail` know these reasons.
pub fn toolbox(reasons: &ReasonRegistry) -> Result<Toolbox, Fault> {
    let (ids, areas) = (reasons.clone(), reasons.clone());
    let info = Info {
        name: "failwell",
        title: "Failwell",
        version: env!("CARGO_PKG_VERSION"),
        instructions: "Tools to try the server with: echo, wait, explain, fail, ask.",
    };
    Ok(Toolbox::new(info)
        .tool(Tool::typed("echo", "Returns the given text.", echo)?.titled("Echo").read_only().closed_world())
        .tool(
            Tool::new("wait", "Waits for some seconds, with progress; can be cancelled.", wait)?
                .titled("Wait")
                .read_only()
                .closed_world(),
        )
        .tool(
            Tool::typed(
                "explain",
                "Explains a failure by its reason, such as mcp/UNKNOWN_TOOL.",
                shared(reasons, |reasons, given, _| explain::explain(&reasons, &given)),
            )?
            .titled("Explain a failure")
            .read_only()
            .closed_world(),
        )
        .tool(
            Tool::new(
                "fail",
                "Fails in the way that is asked for, to show what a client gets.",
                shared(reasons, |reasons, given, cx| fail::fail(&reasons, &given, &cx)),
            )?
            .titled("Fail on purpose")
            .read_only()
            .closed_world(),
        )
        .tool(
            Tool::new("ask", "Asks the user for their name and greets them.", ask)?
                .titled("Ask the user")
                .read_only()
                .closed_world(),
        )
        .resource(Resource::new(
            "failwell://reasons",
            "reasons",
            "Every way of failing, one line each.",
            "text/plain",
            shared(reasons, |reasons, address: Address, _| {
                Ok(vec![ResourceContents::text(address.uri, "text/plain", explain::list_reasons(&reasons))])
            }),
        ))
        .resource(Resource::new(
            "failwell://reasons/{room}/{name}",
            "reason",
            "One way of failing, explained.",
            "text/plain",
            shared(reasons, |reasons, address, _| explain::read_reason(&reasons, &address)),
        ))
        .prompt(
            Prompt::new(
                "explain_failure",
                "Asks a model to explain a failure to a person.",
                |given, _| async move {
                    let reason = given.get("reason").cloned().unwrap_or_default();
                    let text =
                        format!("Explain the failure `{reason}` of Failwell, and what to do about it.");
                    Ok(PromptResult::default().user(Content::text(text)))
                },
            )
            .argument(PromptArgument {
                name: "reason",
                description: "Such as rpc/NOT_JSON.",
                required: true,
            }),
        )
        .completer("explain_failure", "reason", move |typed| explain::complete_reason(&ids, typed))
        .completer("failwell://reasons/{room}/{name}", "room", move |typed| {
            explain::complete_area(&areas, typed)
        }))
}

/// A handler with access to the reasons. It runs inside its future, because `fail` may panic and only futures
/// are guarded.
fn shared<A: Send + 'static, O: Send + 'static>(
    reasons: &ReasonRegistry,
    handler: fn(ReasonRegistry, A, Context) -> Result<O, Fault>,
) -> impl Fn(A, Context) -> Pin<Box<dyn Future<Output = Result<O, Fault>> + Send>> + use<A, O> {
    let reasons = reasons.clone();
    move |given, cx| {
        let reasons = reasons.clone();
        Box::pin(async move { handler(reasons, given, cx) })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Echo {
    /// The text to give back.
    #[schemars(length(max = 1_000_000))]
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct EchoResult {
    /// The text that was given.
    text: String,
}

async fn echo(given: Echo, _cx: Context) -> Result<EchoResult, Fault> {
    Ok(EchoResult { text: given.text })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wait {
    /// How long, in seconds.
    #[schemars(range(min = 0.0, max = 60.0))]
    seconds: f64,
}

async fn wait(given: Wait, cx: Context) -> Result<ToolOutcome, Fault> {
    const STEPS: u32 = 10;
    let step = Duration::from_secs_f64(given.seconds.clamp(0.0, 60.0)) / STEPS;
    for done in 1..=STEPS {
        tokio::time::sleep(step).await;
        cx.progress(f64::from(done), Some(f64::from(STEPS)), Some("waiting")).await;
    }
    Ok(ToolOutcome::text(format!("waited {} seconds", given.seconds)))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ask {}

async fn ask(_given: Ask, cx: Context) -> Result<ToolOutcome, Fault> {
    let form = json!({
        "type": "object",
        "properties": {"name": {"type": "string", "title": "Your name"}},
        "required": ["name"],
    });
    let answers = cx.ask(&[("name", Question::form("What is your name?", form))]).await?;
    let name = answers.accepted("name").and_then(|content| Some(content.get("name")?.as_str()?.to_owned()));
    Ok(ToolOutcome::text(name.map_or("no name was given".to_owned(), |name| format!("hello, {name}"))))
}
