//! The verdict on a run: by its events first, by its exit code second, never by its text (ADR 0006).

use crate::report::Report;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessEnd {
    /// It exited with a code.
    Code(i32),
    /// A signal ended it that this server did not send.
    Signal(&'static str),
    /// This server ended it, because the interpreter stayed alive after pytest had finished.
    Lingered,
    /// This server ended it at the time limit.
    TimeLimit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunVerdict {
    /// The session ended. Its tests may have failed.
    Completed { exit_code: i32 },
    /// A test, a call to `pytest.exit` or a signal that pytest caught interrupted it.
    Interrupted { exit_code: i32 },
    /// The process ended before the session did.
    Crashed { signal: Option<&'static str>, exit_code: Option<i32> },
    /// An internal error of pytest.
    Internal,
    /// Pytest refused its arguments.
    Usage,
    /// An exit code that pytest does not define.
    UnknownExit { exit_code: i32 },
    /// The time limit was exceeded.
    Timeout,
    /// Pytest did not start.
    NotStarted,
}

/// The exit codes of pytest itself.
const KNOWN: std::ops::RangeInclusive<i32> = 0..=6;

pub(crate) fn classify(report: &Report, end: ProcessEnd) -> RunVerdict {
    let status = match end {
        ProcessEnd::TimeLimit => return RunVerdict::Timeout,
        _ if report.no_pytest.is_some() || report.python.is_none() => return RunVerdict::NotStarted,
        ProcessEnd::Signal(name) => return RunVerdict::Crashed { signal: Some(name), exit_code: None },
        ProcessEnd::Code(code) => Some(code),
        ProcessEnd::Lingered => None,
    };
    match (report.exit.or(report.finish), status) {
        (Some(code), _) => finished(report, code),
        (None, Some(code)) if KNOWN.contains(&code) => {
            RunVerdict::Crashed { signal: None, exit_code: Some(code) }
        }
        (None, Some(code)) => RunVerdict::UnknownExit { exit_code: code },
        (None, None) => RunVerdict::Crashed { signal: None, exit_code: None },
    }
}

fn finished(report: &Report, exit_code: i32) -> RunVerdict {
    let uncollected = !report.collection_errors.is_empty();
    match report.interrupt.as_ref().map(|(kind, message)| (kind.as_str(), message.as_str())) {
        // `-x` and `--maxfail` end an xdist run this way, as the caller requested.
        Some(("Interrupted", message)) if uncollected || message.starts_with("stopping after") => {
            return RunVerdict::Completed { exit_code };
        }
        Some(_) => return RunVerdict::Interrupted { exit_code },
        None => {}
    }
    match exit_code {
        // Some tests have no report, for example because a pytest-xdist worker could not send it.
        0 if report.is_short() => RunVerdict::Crashed { signal: None, exit_code: Some(0) },
        0 | 1 | 5 | 6 => RunVerdict::Completed { exit_code },
        2..=4 if uncollected => RunVerdict::Completed { exit_code },
        2 => RunVerdict::Interrupted { exit_code },
        3 => RunVerdict::Internal,
        4 => RunVerdict::Usage,
        _ => RunVerdict::UnknownExit { exit_code },
    }
}

#[cfg(test)]
mod tests {
    use super::{ProcessEnd, RunVerdict, classify};
    use crate::project::Project;
    use crate::report::Report;
    use crate::report::scrubber::Scrubber;

    const PYTHON: &str = r#"{"e":"python","version":"3","executable":"p"}"#;
    const BROKEN: &str = r#"{"e":"collect_error","id":"a.py","type":"E","msg":"m","line":1,"tb":""}"#;
    const FINISH: &str = r#"{"e":"finish","code":0}"#;

    fn interrupt(kind: &str) -> String {
        format!(r#"{{"e":"interrupt","type":"{kind}","msg":"m"}}"#)
    }

    fn exit(code: i32) -> String {
        format!(r#"{{"e":"exit","code":{code}}}"#)
    }

    fn check(lines: &[&str], end: ProcessEnd, expected: RunVerdict) {
        let project = Project::open(std::path::Path::new(".")).expect("here");
        let mut report = Report::default();
        lines.iter().for_each(|line| report.take_line(line, &Scrubber::default(), &project));
        assert_eq!(classify(&report, end), expected, "{lines:?} {end:?}");
    }

    #[test]
    fn every_row_of_the_table() {
        for code in [0, 1, 5, 6] {
            check(&[PYTHON, &exit(code)], ProcessEnd::Code(code), RunVerdict::Completed { exit_code: code });
        }
        for code in [1, 2, 3, 4] {
            check(
                &[PYTHON, BROKEN, &exit(code)],
                ProcessEnd::Code(code),
                RunVerdict::Completed { exit_code: code },
            );
        }
        check(
            &[PYTHON, BROKEN, &interrupt("Interrupted"), &exit(2)],
            ProcessEnd::Code(2),
            RunVerdict::Completed { exit_code: 2 },
        );
        for (kind, code) in [("KeyboardInterrupt", 2), ("Exit", 2), ("Exit", 7), ("Exit", 0), ("Exit", 6)] {
            let expected = RunVerdict::Interrupted { exit_code: code };
            check(&[PYTHON, &interrupt(kind), &exit(code)], ProcessEnd::Code(code), expected);
            check(&[PYTHON, BROKEN, &interrupt(kind), &exit(code)], ProcessEnd::Code(code), expected);
        }
        check(&[PYTHON, &exit(2)], ProcessEnd::Code(2), RunVerdict::Interrupted { exit_code: 2 });
        check(&[PYTHON, &exit(3)], ProcessEnd::Code(3), RunVerdict::Internal);
        check(&[PYTHON, &exit(4)], ProcessEnd::Code(4), RunVerdict::Usage);
        check(&[PYTHON, &exit(9)], ProcessEnd::Code(9), RunVerdict::UnknownExit { exit_code: 9 });
    }

    #[test]
    fn nothing_is_green_without_proof() {
        for code in [0, 1, 5] {
            let expected = RunVerdict::Crashed { signal: None, exit_code: Some(code) };
            check(&[PYTHON], ProcessEnd::Code(code), expected);
        }
        check(&[PYTHON], ProcessEnd::Code(77), RunVerdict::UnknownExit { exit_code: 77 });
        check(&[PYTHON, FINISH], ProcessEnd::Code(0), RunVerdict::Completed { exit_code: 0 });
        let collected = r#"{"e":"collected","n":2,"deselected":0}"#;
        let lost = RunVerdict::Crashed { signal: None, exit_code: Some(0) };
        check(&[PYTHON, collected, &exit(0)], ProcessEnd::Code(0), lost);
        check(&[PYTHON, collected, &exit(1)], ProcessEnd::Code(1), RunVerdict::Completed { exit_code: 1 });
        check(&[PYTHON, &exit(1)], ProcessEnd::Lingered, RunVerdict::Completed { exit_code: 1 });
        check(&[PYTHON, &exit(1)], ProcessEnd::Code(0), RunVerdict::Completed { exit_code: 1 });
        let killed = RunVerdict::Crashed { signal: Some("SIGSEGV"), exit_code: None };
        check(&[PYTHON], ProcessEnd::Signal("SIGSEGV"), killed);
        check(&[PYTHON, &exit(0)], ProcessEnd::TimeLimit, RunVerdict::Timeout);
        check(&[], ProcessEnd::Code(1), RunVerdict::NotStarted);
        check(
            &[PYTHON, r#"{"e":"no_pytest","msg":"m","missing":true}"#],
            ProcessEnd::Code(127),
            RunVerdict::NotStarted,
        );
    }
}
