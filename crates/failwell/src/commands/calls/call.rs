use std::process::ExitCode;

use failwell_toolbox::nearest;
use serde_json::{Map, Value};

use super::client::CallAnswer;
use super::printing::ResultPrinter;
use super::target::CallTarget;
use super::{CallError, arguments, failure, target, until_interrupted};
use crate::cli::Call;
use crate::commands::json;
use crate::complaint::Complaint;
use crate::terminal::{self, Paint};

/// Calls a tool.
pub(in crate::commands) async fn run(arguments: Call) -> Result<ExitCode, Complaint> {
    until_interrupted(call(&arguments)).await
}

async fn call(typed: &Call) -> Result<ExitCode, CallError> {
    let words = arguments::split(&typed.words)?;
    let target = target::connect(words.url, &typed.server)?;
    let tool = find(&target, &typed.name).await?;
    let schema = tool.get("inputSchema").cloned().unwrap_or_default();
    let given = arguments::arguments(&schema, typed.json_arguments.as_deref(), &words.pairs)?;
    let called = request(&target, &typed.name, given).await;
    let CallAnswer { answer, fault } = called.map_err(|fault| failure::complaint(&fault, &target.help))?;
    let Some(result) = answer.get("result") else {
        return Err(match fault {
            Some(fault) => failure::complaint(&fault, &target.help).into(),
            None => Complaint::new("the call was not answered", "look at the log of the server").into(),
        });
    };
    print(typed, result)
}

/// The definition of the tool. An unknown name gets the nearest ones.
async fn find(target: &CallTarget, name: &str) -> Result<Value, CallError> {
    terminal::progress("waiting for the server");
    let listed = target.client.tools().await;
    terminal::end_progress();
    let tools = listed.map_err(|fault| failure::complaint(&fault, &target.help))?;
    let name_of = |tool: &Value| tool.get("name").and_then(Value::as_str).map(str::to_owned);
    if let Some(tool) = tools.iter().find(|tool| name_of(tool).as_deref() == Some(name)) {
        return Ok(tool.clone());
    }
    let names: Vec<String> = tools.iter().filter_map(name_of).collect();
    Err(CallError::Usage(Complaint::new(
        format!("the server has no tool `{name}`"),
        suggestion(name, &names),
    )))
}

/// The names that are near, with and without the server in front.
fn suggestion(name: &str, names: &[String]) -> String {
    let own =
        |known: &str| known.split_once("__").map_or_else(|| known.to_owned(), |(_, own)| own.to_owned());
    let near = nearest(name, names.iter().map(String::as_str));
    let mut near: Vec<String> = near.iter().map(|near| near.as_str().to_owned()).collect();
    let owns: Vec<String> = names.iter().map(|known| own(known)).collect();
    for found in nearest(name, owns.iter().map(String::as_str)) {
        near.extend(names.iter().filter(|known| own(known) == found.as_str()).cloned());
    }
    let mut seen = std::collections::BTreeSet::new();
    near.retain(|name| seen.insert(name.clone()));
    near.truncate(3);
    match near.as_slice() {
        [] => "`failwell tools` lists them".to_owned(),
        near => format!(
            "did you mean {}?",
            near.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
        ),
    }
}

async fn request(
    target: &CallTarget,
    name: &str,
    given: Map<String, Value>,
) -> Result<CallAnswer, failwell_fault::Fault> {
    let done = target.client.call(name, given, show_progress).await;
    terminal::end_progress();
    done
}

/// `3/12 downloading`, on one line of a terminal, otherwise a line for each report.
fn show_progress(notification: &Value) {
    if notification.get("method").and_then(Value::as_str) != Some("notifications/progress") {
        return;
    }
    let number = |name: &str| notification.pointer(&format!("/params/{name}")).and_then(Value::as_f64);
    let done = number("progress").map_or_else(String::new, |done| done.to_string());
    let total = number("total").map_or_else(String::new, |total| format!("/{total}"));
    let message = notification.pointer("/params/message").and_then(Value::as_str).unwrap_or_default();
    let line: String = format!("{done}{total} {message}").chars().filter(|c| !c.is_control()).collect();
    match terminal::is_read() {
        true => terminal::progress(&line),
        false => terminal::report(&format!("progress: {}\n", line.trim())),
    }
}

fn print(typed: &Call, result: &Value) -> Result<ExitCode, CallError> {
    let is_error = result.get("isError").and_then(Value::as_bool) == Some(true);
    if typed.json {
        terminal::print(&json(result)?);
        return Ok(if is_error { ExitCode::FAILURE } else { ExitCode::SUCCESS });
    }
    let is_terminal = if is_error { terminal::is_read() } else { terminal::is_interactive() };
    let printer = ResultPrinter { tool: &typed.name, save: typed.save.as_deref(), is_terminal };
    let text = printer.text(result)?;
    if !is_error {
        terminal::print(&text);
        return Ok(ExitCode::SUCCESS);
    }
    // The tool's own words. A tool of Failwell says what to do and ends with the reference.
    let text = if text.is_empty() { "the tool failed, and says nothing\n".to_owned() } else { text };
    terminal::report(&format!("{} {text}", Paint::for_stderr().red("error:")));
    Ok(ExitCode::FAILURE)
}
