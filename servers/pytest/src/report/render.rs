//! Converts a finished run to the outcome of the call.

use failwell_fault::{Fault, Name, OrFault};
use failwell_sdk::{Content, Json, ToolOutcome};
use serde_json::{Map, Value, json};

use crate::arguments::Detail;
use crate::interpreter::Interpreter;
use crate::reason;
use crate::report::answer::{self, CharBudget, cut, fenced};
use crate::report::failure::{self, FailureContext, round};
use crate::report::store::StoredRun;
use crate::report::{Report, Test};
use crate::run::classify::RunVerdict;
use crate::run::sandbox;

/// The default budget of an answer, in characters.
const DEFAULT_BUDGET: usize = 8_000;
const FULL_BUDGET: usize = 400_000;
const DISCOVER_BUDGET: usize = 100_000;
/// Maximum size of each output in the object of a failure, in bytes.
const SHOWN_OUTPUT: usize = 8_000;
/// The size of the fixed members of an answer.
const CORE: usize = 900;
/// A hint for tests that the sandbox restricted.
const SANDBOX_HINT: &str = "tests run in a sandbox: they may write to the project, temporary folders and caches only; the operator of this server can allow more with --allow-write PATH, or --sandbox off";

pub(crate) fn budget(asked: Option<u64>, detail: Detail) -> usize {
    let usual = if detail == Detail::Full { FULL_BUDGET } else { DEFAULT_BUDGET };
    asked.map_or(usual, |asked| usize::try_from(asked).unwrap_or(usual))
}

/// The status of an ordinary result.
pub(crate) fn status(report: &Report, exit_code: i32) -> &'static str {
    let bad = report.tests.iter().any(|test| test.outcome.is_bad());
    match exit_code {
        0 => "passed",
        1 if bad || report.collection_errors.is_empty() => "failed",
        5 => "no_tests",
        6 => "too_many_warnings",
        // `-x` and `--maxfail` end an xdist run with code 2.
        _ if report.collection_errors.is_empty() => "failed",
        _ => "collection_error",
    }
}

/// The Python and pytest of the run, and the way they were found.
pub(crate) fn surroundings(run: &StoredRun, interpreter: &Interpreter) -> Value {
    let report = &run.report;
    json!({
        "python": interpreter.path, "found_by": interpreter.found_by,
        "python_version": report.python.as_ref().map(|(version, _)| version), "pytest_version": report.pytest,
        "sandbox": run.sandbox_note,
    })
}

/// Notes on requested features that were unavailable.
pub(crate) fn notes(run: &StoredRun, mut notes: Vec<String>) -> Vec<String> {
    if run.sandbox_note != sandbox::OFF && run.report.tests.iter().any(was_not_permitted) {
        notes.push(SANDBOX_HINT.to_owned());
    }
    notes.extend(
        run.report
            .lacks
            .iter()
            .map(|what| format!("{what} is not installed in this environment, so its part was left out")),
    );
    notes
}

fn was_not_permitted(test: &Test) -> bool {
    let message = test.story.as_deref().filter(|_| test.outcome.is_bad()).map(|story| story.message.as_str());
    message.is_some_and(|message| {
        message.starts_with("PermissionError") || message.starts_with("OSError: [Errno 30]")
    })
}

pub(crate) fn completed(
    run: &StoredRun,
    exit_code: i32,
    interpreter: &Interpreter,
    detail: Detail,
    characters: usize,
    extra: Map<String, Value>,
) -> Result<ToolOutcome, Fault> {
    let report = &run.report;
    let mut budget =
        CharBudget::new((characters * 3 / 4).saturating_sub(CORE + json!(extra).to_string().len()));
    let output = if detail == Detail::Full { budget.left() / 4 } else { budget.left() / 8 };
    let text_output = cut(&run.stdout, output);
    let mut spent = CharBudget::new(budget.left().saturating_sub(json!(text_output).to_string().len()));
    std::mem::swap(&mut budget, &mut spent);
    let mut members = Map::new();
    members.insert("exit_code".to_owned(), json!(exit_code));
    members.insert("status".to_owned(), json!(run.status));
    members.insert("summary".to_owned(), answer::summary(report, run.took.as_secs_f64()));
    members.extend(answer::lists(report, detail, &mut budget));
    members.insert("text_output".to_owned(), json!(text_output));
    members.insert("run_id".to_owned(), json!(run.id));
    members.insert("mode".to_owned(), json!(run.mode));
    members.insert("environment".to_owned(), surroundings(run, interpreter));
    members.insert("log".to_owned(), json!(StoredRun::log_uri(&run.id)));
    members.extend(extra);
    let text = in_words(run, exit_code, characters / 4);
    let structured = Json::of(&members).or_fault(&reason::SERVER_BUG)?;
    Ok(ToolOutcome::text(text).with(log_link(&run.id)).structured(structured))
}

fn log_link(id: &str) -> Content {
    Content::ResourceLink {
        uri: StoredRun::log_uri(id),
        name: "the run's whole output".to_owned(),
        mime_type: Some("text/plain".to_owned()),
    }
}

fn in_words(run: &StoredRun, exit_code: i32, most: usize) -> String {
    let counts = run.report.counts();
    let mut text = format!(
        "{}: {} tests in {} s: {} passed, {} failed, {} skipped, {} errors (exit code {exit_code}, {}, run {})",
        run.status,
        counts.total(),
        round(run.took.as_secs_f64()),
        counts.passed,
        counts.failed,
        counts.skipped,
        counts.errors,
        run.mode,
        run.id,
    );
    if let Some(version) = run.report.pytest.as_deref().and_then(Name::parse) {
        text.push_str(&format!(", pytest {}", version.as_str()));
    }
    if !run.report.collection_errors.is_empty() {
        text.push_str(&format!("\n{} files or folders did not collect", run.report.collection_errors.len()));
    }
    if let Some(failures) = answer::failures_text(&run.report, most.saturating_sub(text.len() + 200)) {
        text.push_str(
            "\nhelp: run again with node_ids of a cause, or last_failed; get_failure shows one in full\n",
        );
        text.push_str(&failures);
    }
    text
}

pub(crate) fn failed(
    run: &StoredRun,
    verdict: RunVerdict,
    around: FailureContext<'_>,
    characters: usize,
) -> Result<ToolOutcome, Fault> {
    let (stdout, stderr) = (cut(around.stdout, SHOWN_OUTPUT), cut(around.stderr, SHOWN_OUTPUT));
    let mut lists = Map::new();
    let mut budget = CharBudget::new(characters / 2);
    lists.insert("summary".to_owned(), answer::summary(&run.report, run.took.as_secs_f64()));
    lists.insert("running".to_owned(), json!(run.report.running()));
    if !run.report.dump.is_empty() {
        lists.insert("stack".to_owned(), json!(cut(&run.report.dump, 4_000)));
    }
    if let Some((kind, message)) = &run.report.interrupt {
        lists.insert("interrupted_by".to_owned(), json!({"type": kind, "message": cut(message, 500)}));
    }
    if let Some((kind, text)) = &run.report.internal {
        lists.insert("internal_error".to_owned(), json!({"type": kind, "traceback": cut(text, 4_000)}));
    }
    lists.extend(answer::lists(&run.report, Detail::Failures, &mut budget));
    let partial =
        json!({"run_id": run.id, "mode": run.mode, "log": StoredRun::log_uri(&run.id), "partial": lists});
    let around = FailureContext { stdout: &stdout, stderr: &stderr, partial, ..around };
    let fault = failure::fault(verdict, &around)
        .note("command", around.command.join(" "))
        .capture("stdout", run.stdout.as_bytes())
        .capture("stderr", run.stderr.as_bytes());
    let object = Json::of(&failure::object(verdict, &fault, &around)).or_fault(&reason::SERVER_BUG)?;
    let mut outcome = ToolOutcome::default();
    if let Some(text) = output_in_words(run, &stderr, &stdout) {
        outcome = outcome.with(Content::text(text));
    }
    Ok(outcome.with(log_link(&run.id)).structured(object).failed(fault))
}

fn output_in_words(run: &StoredRun, stderr: &str, stdout: &str) -> Option<String> {
    let mut text = String::new();
    if let Some(running) = run.report.running() {
        text.push_str(&format!("the test that was running:\n{}\n", fenced(running)));
    }
    if !run.report.dump.is_empty() {
        text.push_str(&format!("where it was:\n{}\n", fenced(&cut(&run.report.dump, 2_000))));
    }
    for (name, output) in [("standard error", stderr), ("standard output", stdout)] {
        if !output.trim().is_empty() {
            text.push_str(&format!("{name}:\n{}\n", fenced(&cut(output, 2_000))));
        }
    }
    (!text.is_empty()).then_some(text)
}

/// The discovered tests.
pub(crate) fn discovered(
    run: &StoredRun,
    interpreter: &Interpreter,
    asked: Option<u64>,
) -> Result<ToolOutcome, Fault> {
    let characters = asked.map_or(DISCOVER_BUDGET, |asked| usize::try_from(asked).unwrap_or(DISCOVER_BUDGET));
    let report = &run.report;
    let mut members = Map::new();
    let mut budget = CharBudget::new((characters * 3 / 4).saturating_sub(CORE));
    let half = budget.left() / 2;
    let before = budget.left();
    let mut errors = CharBudget::new(half);
    answer::collection_errors(report, &mut errors, &mut members);
    budget = CharBudget::new(before - (half - errors.left()));
    let tests: Vec<Value> = report.items.iter().map_while(|item| budget.afford(item)).collect();
    if tests.len() < report.items.len() {
        members.insert("tests_omitted".to_owned(), json!(report.items.len() - tests.len()));
    }
    members.insert("count".to_owned(), json!(tests.len()));
    members.insert("total".to_owned(), json!(report.items.len()));
    members.insert("tests".to_owned(), json!(tests));
    members.insert("mode".to_owned(), json!(run.mode));
    members.insert("environment".to_owned(), surroundings(run, interpreter));
    let ids: Vec<&str> = report.items.iter().map(|item| item.node_id.as_str()).collect();
    let mut text = format!(
        "{} tests found, {} files or folders did not collect",
        ids.len(),
        report.collection_errors.len()
    );
    if let Some(failures) = answer::failures_text(report, 2_000) {
        text.push_str(&format!("\n{failures}"));
    }
    if !ids.is_empty() {
        text.push_str(&format!("\n{}", fenced(&cut(&ids.join("\n"), characters / 4))));
    }
    let structured = Json::of(&members).or_fault(&reason::SERVER_BUG)?;
    Ok(ToolOutcome::text(text).structured(structured))
}
