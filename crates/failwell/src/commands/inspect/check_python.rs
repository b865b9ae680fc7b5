use std::path::Path;
use std::process::ExitCode;

use failwell_symbolic::once::{self, FunctionCheck};
use failwell_symbolic::{AnalysisQueue, reason};
use serde_json::Value;

use crate::cli::CheckPython;
use crate::commands::json;
use crate::commands::serving::single_server;
use crate::complaint::Complaint;
use crate::terminal::{self, Paint};

/// Exit code when there is no finding, but some functions could not be decided.
const UNDECIDED: u8 = 3;

/// Checks the functions of a file and prints the results.
pub(in crate::commands) async fn run(arguments: CheckPython) -> Result<ExitCode, Complaint> {
    let (file, function) = match arguments.target.split_once("::") {
        Some((file, function)) => (file, Some(function)),
        None => (arguments.target.as_str(), None),
    };
    let code = std::fs::read_to_string(file).map_err(|error| {
        Complaint::new(
            format!("cannot read {file}: {error}"),
            "name a file of Python source: FILE[::FUNCTION]",
        )
    })?;
    let queue = AnalysisQueue::new(single_server::analysis_settings(arguments.engine)?);
    let functions = match function {
        Some(function) => vec![function.to_owned()],
        None => once::functions(&queue, &code).await.map_err(|fault| refused(file, &fault))?,
    };
    if functions.is_empty() {
        return Err(Complaint::new(format!("{file} has no functions"), "name a file that has some"));
    }
    let module = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or("module");
    let mut all = Vec::new();
    for function in &functions {
        let checked = once::check(&queue, &code, function, module, arguments.timeout).await;
        if checked.fault.as_ref().is_some_and(|fault| *fault.reason() == reason::SYMBOLIC_UNKNOWN_FUNCTION) {
            return Err(Complaint::new(
                format!("{file} has no function {function}"),
                format!("`failwell check-python {file}` checks all there are"),
            ));
        }
        if !arguments.json {
            terminal::print(&check_text(&checked, Paint::for_stdout()));
        }
        all.push(checked);
    }
    if arguments.json {
        let objects: Vec<Value> = all.iter().map(object).collect();
        terminal::print(&json(&objects)?);
    }
    Ok(code_of(&all))
}

fn refused(file: &str, fault: &failwell_fault::Fault) -> Complaint {
    Complaint::new(format!("{file} cannot be checked: {fault}"), fault.hint())
}

fn code_of(all: &[FunctionCheck]) -> ExitCode {
    let any = |status: &str| all.iter().any(|checked| checked.status() == status);
    match (any("counterexample"), all.iter().all(|checked| checked.status() == "verified")) {
        (true, _) => ExitCode::FAILURE,
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::from(UNDECIDED),
    }
}

fn object(checked: &FunctionCheck) -> Value {
    let mut members = checked.object.clone();
    members.shift_insert(0, "function".to_owned(), Value::String(checked.function.clone()));
    members.insert("tests".to_owned(), serde_json::json!(checked.tests));
    Value::Object(members)
}

fn check_text(checked: &FunctionCheck, paint: Paint) -> String {
    let name = &checked.function;
    let number = |key: &str| checked.object.get(key).and_then(Value::as_u64).unwrap_or(0);
    match checked.status() {
        "verified" => format!("{}  {name}  {} paths\n", paint.green("verified"), number("paths_explored")),
        "counterexample" => {
            let mut text = format!("{}  {name}\n", paint.yellow("broken  "));
            for test in &checked.tests {
                text.push('\n');
                for line in test.lines() {
                    text.push_str(if line.is_empty() { "" } else { "    " });
                    text.push_str(line);
                    text.push('\n');
                }
            }
            text + "\n"
        }
        _ => {
            let (detail, hint) = match &checked.fault {
                Some(fault) => (fault.detail(), fault.hint()),
                None => ("no verdict".to_owned(), String::new()),
            };
            let line = format!("{}  {name}  {detail}\n", paint.yellow("unknown "));
            if hint.is_empty() { line } else { format!("{line}          {} {hint}\n", paint.bold("help:")) }
        }
    }
}
