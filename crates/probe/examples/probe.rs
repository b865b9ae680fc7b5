//! Examines a server from the command line: `probe [--json] [--only P] [--tool T] (-- command… | url)`.

use std::io::Write;
use std::process::ExitCode;

use failwell_probe::{Detail, Options, Progress, Report, Target, examine};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut options = Options::default();
    let (mut json, mut row, mut target) = (false, false, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = true,
            "--row" => row = true,
            "--only" => options.only = arguments.next(),
            "--tool" => options.tool = arguments.next(),
            "--" => {
                let program = arguments.next().unwrap_or_default();
                target = Some(Target::Command {
                    program,
                    args: arguments.by_ref().collect(),
                    cwd: None,
                    env: Vec::new(),
                });
            }
            url => target = Some(Target::Url(url.to_owned(), Vec::new())),
        }
    }
    let mut out = std::io::stdout().lock();
    let Some(target) = target else {
        let _ =
            writeln!(out, "usage: probe [--json] [--row] [--only PREFIX] [--tool NAME] (-- command… | url)");
        return ExitCode::from(2);
    };
    let progress = |step: Progress<'_>| {
        if let Progress::Checked { report, done, total } = step {
            let _ = write!(std::io::stderr(), "\r\x1b[K{done}/{total} {}", report.id);
        }
    };
    let shown = match examine(target, options, progress).await {
        Ok(report) if json => serde_json::to_string_pretty(&report).map_err(|error| error.to_string()),
        Ok(report) if row => Ok(format!("{}\n{}", Report::markdown_head(), report.markdown_row())),
        Ok(report) => Ok(report.table(110, false, Detail::Checks)),
        Err(error) => Err(error.to_string()),
    };
    match shown {
        Ok(text) => {
            let _ = writeln!(out, "\n{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(out, "{error}");
            ExitCode::FAILURE
        }
    }
}
