use std::process::ExitCode;

use serde_json::Value;

use super::printing::ResultPrinter;
use super::{CallError, failure, target, until_interrupted};
use crate::cli::Tools;
use crate::commands::json;
use crate::complaint::Complaint;
use crate::terminal;

/// Lists the tools of a server.
pub(in crate::commands) async fn run(arguments: Tools) -> Result<ExitCode, Complaint> {
    until_interrupted(list(&arguments)).await
}

async fn list(arguments: &Tools) -> Result<ExitCode, CallError> {
    let target = target::connect(arguments.url.as_deref(), &arguments.server)?;
    terminal::progress("waiting for the server");
    let listed = target.client.tools().await;
    terminal::end_progress();
    let tools = listed.map_err(|fault| failure::complaint(&fault, &target.help))?;
    let text = if arguments.json { json(&tools)? } else { table(&tools, terminal::is_interactive()) };
    terminal::print(&text);
    Ok(ExitCode::SUCCESS)
}

/// One line per tool: its name, the arguments that it needs, and the first line of its description.
fn table(tools: &[Value], is_terminal: bool) -> String {
    if tools.is_empty() {
        return "the server has no tools\n".to_owned();
    }
    let printer = ResultPrinter { tool: "", save: None, is_terminal };
    let rows: Vec<[String; 3]> = tools.iter().map(|tool| row(tool).map(|cell| printer.safe(&cell))).collect();
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let (names, needed) = (width(0), width(1));
    let space = terminal::width().saturating_sub(names + needed + 4).max(20);
    let line = |[name, needs, about]: &[String; 3]| {
        let about: String = if is_terminal { about.chars().take(space).collect() } else { about.clone() };
        format!("{name:<names$}  {needs:<needed$}  {about}").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

fn row(tool: &Value) -> [String; 3] {
    let text = |name: &str| tool.get(name).and_then(Value::as_str).unwrap_or_default();
    let about = text("description").lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let required = tool.pointer("/inputSchema/required").and_then(Value::as_array).into_iter().flatten();
    let required: Vec<&str> = required.filter_map(Value::as_str).collect();
    let needs = if required.is_empty() { "-".to_owned() } else { required.join(" ") };
    [text("name").to_owned(), needs, about.to_owned()]
}
