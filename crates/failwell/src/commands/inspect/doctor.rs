use std::process::ExitCode;

use serde::Serialize;

use crate::cli::Doctor;
use crate::commands::{config_file, json};
use crate::complaint::Complaint;
use crate::config::Config;
use crate::doctor::{self, ConfiguredParts, Finding, Status};
use crate::terminal::{self, Paint};

#[derive(Serialize)]
struct Diagnosis<'a> {
    ok: bool,
    checks: &'a [Finding],
}

pub(in crate::commands) async fn run(arguments: &Doctor) -> Result<ExitCode, Complaint> {
    // `failwell check` reports an invalid file. `doctor` uses the defaults instead.
    let wanted = match config_file::settle(None) {
        Ok(config) => ConfiguredParts::from(&config),
        Err(wrong) => {
            let defaults = ConfiguredParts::from(&Config::default());
            defaults.with_invalid_file(wrong.file, wrong.problems.len())
        }
    };
    let findings = doctor::examine(wanted).await;
    let lacking = doctor::lacking(&findings);
    let text = if arguments.json {
        json(&Diagnosis { ok: lacking.is_none(), checks: &findings })?
    } else if arguments.brief {
        doctor::idle(&findings).iter().map(|line| format!("{line}\n")).collect()
    } else {
        table(&findings, Paint::for_stdout())
    };
    terminal::print(&text);
    match lacking {
        None => Ok(ExitCode::SUCCESS),
        Some(finding) => Err(Complaint::new(
            format!("the {} cannot be used: {}", finding.name, finding.found),
            finding.fix,
        )),
    }
}

fn table(findings: &[Finding], paint: Paint) -> String {
    let widest = findings.iter().map(|finding| finding.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for finding in findings {
        let mark = match finding.status {
            Status::Ok => paint.green("ok     "),
            Status::Old => paint.yellow("old    "),
            Status::Missing => paint.yellow("missing"),
        };
        text.push_str(&format!("{mark}  {:<widest$}  {}\n", finding.name, finding.found));
        if finding.status != Status::Ok {
            let indent = " ".repeat(widest + 11);
            text.push_str(&format!("{indent}{}\n", finding.cost));
            text.push_str(&format!("{indent}{} {}\n", paint.bold("help:"), finding.fix));
        }
    }
    text.push_str(&summary(findings));
    text
}

fn summary(findings: &[Finding]) -> String {
    let wanting = findings.iter().filter(|finding| finding.status != Status::Ok).count();
    match (wanting, doctor::lacking(findings)) {
        (0, _) => "\neverything is there\n".to_owned(),
        (_, None) => format!("\nthe gateway can run; {wanting} extras are missing or old\n"),
        (_, Some(_)) => format!("\nthe gateway cannot run as it is; {wanting} things are missing or old\n"),
    }
}
