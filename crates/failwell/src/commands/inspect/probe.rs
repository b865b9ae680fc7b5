use std::process::ExitCode;
use std::time::Duration;

use failwell_probe::{Detail, Options, ProbeError, Progress, Report, Target, examine};

use crate::cli::Probe;
use crate::commands::json;
use crate::complaint::Complaint;
use crate::terminal::{self, Paint};

/// The shell convention for an interrupted program: 128 plus SIGINT.
const INTERRUPTED: u8 = 130;

/// Runs the probe. An interrupt drops it, and with it the server that it started.
pub(in crate::commands) async fn run(arguments: Probe) -> Result<ExitCode, Complaint> {
    let (wants_json, min, detail) = (arguments.json, arguments.min, detail(&arguments));
    let examined = tokio::select! {
        examined = examine(target(&arguments), options(&arguments), show) => examined,
        _ = tokio::signal::ctrl_c() => {
            terminal::end_progress();
            return Ok(ExitCode::from(INTERRUPTED));
        }
    };
    terminal::end_progress();
    let report = examined.map_err(complaint)?;
    if report.checks.is_empty() {
        return Err(Complaint::new(
            "no check was made: --only names none",
            "write the beginning of a check's name, as a report without --only shows it",
        ));
    }
    let paint = Paint::for_stdout();
    let text =
        if wants_json { json(&report)? } else { report.table(terminal::width(), paint.is_on(), detail) };
    terminal::print(&text);
    verdict(&report, min)
}

fn target(arguments: &Probe) -> Target {
    match (arguments.command.split_first(), &arguments.url) {
        (Some((program, rest)), _) => {
            Target::Command { program: program.clone(), args: rest.to_vec(), cwd: None, env: Vec::new() }
        }
        (None, url) => Target::Url(url.clone().unwrap_or_default(), arguments.header.clone()),
    }
}

fn detail(arguments: &Probe) -> Detail {
    match (arguments.quiet, arguments.verbose) {
        (true, _) => Detail::Summary,
        (_, true) => Detail::Proof,
        _ => Detail::Checks,
    }
}

fn options(arguments: &Probe) -> Options {
    Options {
        timeout_per_check: Duration::from_secs(arguments.timeout),
        startup_timeout: Duration::from_secs(arguments.start_timeout),
        authorities: arguments.ca.clone(),
        tool: arguments.tool.clone(),
        only: arguments.only.clone(),
        ..Options::default()
    }
}

fn show(step: Progress<'_>) {
    match step {
        Progress::Starting { wait } => {
            terminal::progress(&format!("waiting for the first answer, at most {} s", wait.as_secs()))
        }
        Progress::Detected { total, .. } => terminal::progress(&format!("0/{total}")),
        Progress::Checked { report, done, total } => {
            terminal::progress(&format!("{done}/{total} {}", report.id))
        }
        _ => {}
    }
}

fn verdict(report: &Report, min: Option<u32>) -> Result<ExitCode, Complaint> {
    match min {
        Some(min) if report.score < min => {
            let worst = report.worst().map_or("the report", |check| check.id.as_str());
            Err(Complaint::new(
                format!("the score {} is below {min}", report.score),
                format!("see {worst} above first: it weighs most"),
            ))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// The message of the probe has a title and, after a line break, a hint.
fn complaint(error: ProbeError) -> Complaint {
    let text = error.to_string();
    let (title, help) = text.split_once("\nhelp: ").unwrap_or((&text, "check the address or the command"));
    Complaint::new(title, help)
}
