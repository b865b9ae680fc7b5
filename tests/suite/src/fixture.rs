//! The conformance fixture: a tool server with every kind of tool, prompt and resource.

mod content;
mod failing_tools;
mod inputs;
mod notices;
mod prompts;
mod questions;
mod resources;
mod tasks;

use std::future::Future;

use failwell_fault::Fault;
use failwell_toolbox::{Context, Info, Tool, ToolOutcome, Toolbox};
use serde_json::{Value, json};

/// A picture of one pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// The fixture.
pub fn fixture() -> Result<Toolbox, Fault> {
    let info = Info {
        name: "failwell-fixture",
        title: "Conformance fixture",
        version: env!("CARGO_PKG_VERSION"),
        instructions: "Every tool here exists to be tested.",
    };
    let groups = [
        content::tools()?,
        notices::tools()?,
        questions::tools()?,
        inputs::tools()?,
        tasks::tools()?,
        failing_tools::tools()?,
    ];
    let toolbox = groups.into_iter().flatten().fold(Toolbox::new(info), Toolbox::tool);
    let toolbox = prompts::all().into_iter().fold(toolbox, Toolbox::prompt);
    let toolbox = resources::all().into_iter().fold(toolbox, Toolbox::resource);
    Ok(toolbox.completer("test_prompt_with_arguments", "arg1", |typed| {
        ["paris", "park", "party", "testValue1"]
            .into_iter()
            .filter(|word| word.starts_with(typed))
            .map(str::to_owned)
            .collect()
    }))
}

/// A tool that takes no arguments.
fn plain<F, W>(name: &'static str, description: &'static str, handler: F) -> Result<Tool, Fault>
where
    F: Fn(Context) -> W + Send + Sync + 'static,
    W: Future<Output = Result<ToolOutcome, Fault>> + Send + 'static,
{
    let schema = json!({"type": "object", "properties": {}});
    Tool::dynamic(name, description, schema, None, move |_arguments, cx| handler(cx))
}

/// A tool with one required text argument.
fn with_text<F, W>(
    name: &'static str,
    description: &'static str,
    argument: &'static str,
    handler: F,
) -> Result<Tool, Fault>
where
    F: Fn(String, Context) -> W + Send + Sync + 'static,
    W: Future<Output = Result<ToolOutcome, Fault>> + Send + 'static,
{
    let schema =
        json!({"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]});
    Tool::dynamic(name, description, schema, None, move |arguments, cx| {
        let text = arguments.get(argument).and_then(Value::as_str).unwrap_or_default().to_owned();
        handler(text, cx)
    })
}

/// A form with these members, all required.
fn form(properties: Value) -> Value {
    let names: Vec<&String> = properties.as_object().into_iter().flatten().map(|(name, _)| name).collect();
    json!({"type": "object", "properties": properties, "required": names})
}
