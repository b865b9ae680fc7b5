//! What a run came to: by its events first, by its exit code second. Text is not asked.

use crate::report::Report;

/// How the process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself, with a code.
    Code(i32),
    /// By a signal that was not ours.
    Signal(&'static str),
    /// By us, after pytest was done but something kept the interpreter alive.
    Lingered,
    /// By us, at the time limit.
    TimeLimit,
}

/// What a run came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A result, failing tests and all.
    Ordinary { exit_code: i32 },
    /// Interrupted by a test, a call to `pytest.exit`, or a signal that pytest caught.
    Interrupted { exit_code: i32 },
    /// Ended before the session was over.
    Crashed { signal: Option<&'static str>, exit_code: Option<i32> },
    /// pytest itself failed.
    Internal,
    /// pytest refused its arguments.
    Usage,
    /// A code nobody knows.
    UnknownExit { exit_code: i32 },
    /// Past the time limit.
    Timeout,
    /// pytest never ran.
    NotStarted,
}

/// Codes of pytest itself.
const KNOWN: std::ops::RangeInclusive<i32> = 0..=6;

/// The verdict on a run.
pub(crate) fn classify(report: &Report, end: End) -> Verdict {
    let status = match end {
        End::TimeLimit => return Verdict::Timeout,
        _ if report.no_pytest.is_some() || report.python.is_none() => return Verdict::NotStarted,
        End::Signal(name) => return Verdict::Crashed { signal: Some(name), exit_code: None },
        End::Code(code) => Some(code),
        End::Lingered => None,
    };
    match (report.exit.or(report.finish), status) {
        (Some(code), _) => finished(report, code),
        (None, Some(code)) if KNOWN.contains(&code) => {
            Verdict::Crashed { signal: None, exit_code: Some(code) }
        }
        (None, Some(code)) => Verdict::UnknownExit { exit_code: code },
        (None, None) => Verdict::Crashed { signal: None, exit_code: None },
    }
}

fn finished(report: &Report, exit_code: i32) -> Verdict {
    let uncollected = !report.collection_errors.is_empty();
    match report.interrupt.as_ref().map(|(kind, message)| (kind.as_str(), message.as_str())) {
        // `-x` and `--maxfail` end an xdist run this way: that is what was asked for.
        Some(("Interrupted", message)) if uncollected || message.starts_with("stopping after") => {
            return Verdict::Ordinary { exit_code };
        }
        Some(_) => return Verdict::Interrupted { exit_code },
        None => {}
    }
    match exit_code {
        // Tests went missing on the way, as when a process of pytest-xdist cannot pass a report on.
        0 if report.is_short() => Verdict::Crashed { signal: None, exit_code: Some(0) },
        0 | 1 | 5 | 6 => Verdict::Ordinary { exit_code },
        2..=4 if uncollected => Verdict::Ordinary { exit_code },
        2 => Verdict::Interrupted { exit_code },
        3 => Verdict::Internal,
        4 => Verdict::Usage,
        _ => Verdict::UnknownExit { exit_code },
    }
}

#[cfg(test)]
mod tests {
    use super::{End, Verdict, classify};
    use crate::place::Project;
    use crate::report::Report;
    use crate::scrub::Scrub;

    const PYTHON: &str = r#"{"e":"python","version":"3","executable":"p"}"#;
    const BROKEN: &str = r#"{"e":"collect_error","id":"a.py","type":"E","msg":"m","line":1,"tb":""}"#;
    const FINISH: &str = r#"{"e":"finish","code":0}"#;

    fn interrupt(kind: &str) -> String {
        format!(r#"{{"e":"interrupt","type":"{kind}","msg":"m"}}"#)
    }

    fn exit(code: i32) -> String {
        format!(r#"{{"e":"exit","code":{code}}}"#)
    }

    fn check(lines: &[&str], end: End, expected: Verdict) {
        let project = Project::open(std::path::Path::new(".")).expect("here");
        let mut report = Report::default();
        lines.iter().for_each(|line| report.take_line(line, &Scrub::default(), &project));
        assert_eq!(classify(&report, end), expected, "{lines:?} {end:?}");
    }

    #[test]
    fn every_row_of_the_table() {
        for code in [0, 1, 5, 6] {
            check(&[PYTHON, &exit(code)], End::Code(code), Verdict::Ordinary { exit_code: code });
        }
        for code in [1, 2, 3, 4] {
            check(&[PYTHON, BROKEN, &exit(code)], End::Code(code), Verdict::Ordinary { exit_code: code });
        }
        check(
            &[PYTHON, BROKEN, &interrupt("Interrupted"), &exit(2)],
            End::Code(2),
            Verdict::Ordinary { exit_code: 2 },
        );
        for (kind, code) in [("KeyboardInterrupt", 2), ("Exit", 2), ("Exit", 7), ("Exit", 0), ("Exit", 6)] {
            let expected = Verdict::Interrupted { exit_code: code };
            check(&[PYTHON, &interrupt(kind), &exit(code)], End::Code(code), expected);
            check(&[PYTHON, BROKEN, &interrupt(kind), &exit(code)], End::Code(code), expected);
        }
        check(&[PYTHON, &exit(2)], End::Code(2), Verdict::Interrupted { exit_code: 2 });
        check(&[PYTHON, &exit(3)], End::Code(3), Verdict::Internal);
        check(&[PYTHON, &exit(4)], End::Code(4), Verdict::Usage);
        check(&[PYTHON, &exit(9)], End::Code(9), Verdict::UnknownExit { exit_code: 9 });
    }

    #[test]
    fn nothing_is_green_without_proof() {
        for code in [0, 1, 5] {
            let expected = Verdict::Crashed { signal: None, exit_code: Some(code) };
            check(&[PYTHON], End::Code(code), expected);
        }
        check(&[PYTHON], End::Code(77), Verdict::UnknownExit { exit_code: 77 });
        check(&[PYTHON, FINISH], End::Code(0), Verdict::Ordinary { exit_code: 0 });
        let collected = r#"{"e":"collected","n":2,"deselected":0}"#;
        let lost = Verdict::Crashed { signal: None, exit_code: Some(0) };
        check(&[PYTHON, collected, &exit(0)], End::Code(0), lost);
        check(&[PYTHON, collected, &exit(1)], End::Code(1), Verdict::Ordinary { exit_code: 1 });
        check(&[PYTHON, &exit(1)], End::Lingered, Verdict::Ordinary { exit_code: 1 });
        check(&[PYTHON, &exit(1)], End::Code(0), Verdict::Ordinary { exit_code: 1 });
        let killed = Verdict::Crashed { signal: Some("SIGSEGV"), exit_code: None };
        check(&[PYTHON], End::Signal("SIGSEGV"), killed);
        check(&[PYTHON, &exit(0)], End::TimeLimit, Verdict::Timeout);
        check(&[], End::Code(1), Verdict::NotStarted);
        check(
            &[PYTHON, r#"{"e":"no_pytest","msg":"m","missing":true}"#],
            End::Code(127),
            Verdict::NotStarted,
        );
    }
}
