//! The lobby: a few harmless tools to try the house and its failures with.
//!
//! `echo` gives back what it got, `wait` takes its time and says how far it is, `explain` reads the catalogue of
//! failures, and `fail` fails in any way the catalogue knows, so that the author of a client can see what each
//! failure looks like before meeting it.
//!
//! # Invariants
//!
//! * Nothing here touches the disk, the network or another process.
//! * A failure made on demand is made by the same code as a real one.

mod explain;
mod fail;

use std::time::Duration;

use failwell_fault::Fault;
use failwell_server::{
    Content, Context, Info, Prompt, PromptArgument, PromptResult, Question, Resource, ResourceContents, Tool,
    ToolOutcome, Toolbox,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The lobby's tools, prompts and resources.
pub fn lobby() -> Result<Toolbox, Fault> {
    let info = Info {
        name: "failwell",
        title: "Failwell",
        version: env!("CARGO_PKG_VERSION"),
        instructions: "Tools to try the server with: echo, wait, explain, fail, ask.",
    };
    Ok(Toolbox::new(info)
        .tool(
            Tool::typed("echo", "Gives back the text it was given.", echo)?
                .titled("Echo")
                .read_only()
                .closed_world(),
        )
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
                explain::explain,
            )?
            .titled("Explain a failure")
            .read_only()
            .closed_world(),
        )
        .tool(
            Tool::new("fail", "Fails in the way that is asked for, to show what a client gets.", fail::fail)?
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
            |address, _| async move {
                Ok(vec![ResourceContents::text(address.uri, "text/plain", explain::all())])
            },
        ))
        .resource(Resource::new(
            "failwell://reasons/{room}/{name}",
            "reason",
            "One way of failing, explained.",
            "text/plain",
            |address, _| async move { explain::resource(&address) },
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
        .completer("explain_failure", "reason", explain::beginning_with)
        .completer("failwell://reasons/{room}/{name}", "room", explain::rooms_beginning_with))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Echo {
    /// The text to give back.
    #[schemars(length(max = 1_000_000))]
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Echoed {
    /// The text that was given.
    text: String,
}

async fn echo(given: Echo, _cx: Context) -> Result<Echoed, Fault> {
    Ok(Echoed { text: given.text })
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
    Ok(ToolOutcome::text(
        name.map_or("nobody wants to be greeted".to_owned(), |name| format!("hello, {name}")),
    ))
}
