//! `JUnit` XML for build servers: one suite, one case per step.

use std::fmt::Write as _;

use super::{Counts, escape, seconds};
use crate::steps::{SessionHistory, Step, Verdict};

/// The session as a `JUnit` file.
pub fn junit(run: &SessionHistory) -> String {
    let Counts { failed, broken, .. } = Counts::new(run);
    let (tests, time) = (run.steps.len(), seconds(run.took));
    let title = escape(&run.title);
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let counts = format!("tests=\"{tests}\" failures=\"{failed}\" errors=\"{broken}\" time=\"{time}\"");
    let _ = writeln!(text, "<testsuites name=\"{title}\" {counts}>");
    let began = timestamp(&run.began);
    let _ = writeln!(text, "  <testsuite name=\"{title}\" {counts} skipped=\"0\" timestamp=\"{began}\">");
    properties(run, &mut text);
    for step in &run.steps {
        case(run, step, &mut text);
    }
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

/// The format has seconds and no time zone. The value is UTC.
fn timestamp(began: &str) -> String {
    let end = began.find(['.', 'Z', '+']).unwrap_or(began.len());
    escape(began.get(..end).unwrap_or_default())
}

fn properties(run: &SessionHistory, text: &mut String) {
    text.push_str("    <properties>\n");
    let forgotten = run.forgotten.to_string();
    let all = [
        ("device", run.device.as_str()),
        ("driver", &run.driver),
        ("session", &run.session),
        ("steps no longer kept", &forgotten),
    ];
    for (name, value) in all {
        let _ = writeln!(text, "      <property name=\"{name}\" value=\"{}\"/>", escape(value));
    }
    text.push_str("    </properties>\n");
}

fn case(run: &SessionHistory, step: &Step, text: &mut String) {
    let name = escape(format!("{} {} {}", step.number, step.tool, step.about).trim());
    let (class, time) = (escape(&run.device), seconds(step.took));
    let _ = write!(text, "    <testcase name=\"{name}\" classname=\"{class}\" time=\"{time}\"");
    let ended = match step.verdict {
        Verdict::Passed => None,
        Verdict::Failed => Some("failure"),
        Verdict::Broken => Some("error"),
    };
    if ended.is_none() && step.picture.is_none() {
        text.push_str("/>\n");
        return;
    }
    text.push_str(">\n");
    if let Some(element) = ended {
        let kind = escape(step.reason.unwrap_or("assertion"));
        let message = escape(step.detail.lines().next().unwrap_or_default());
        let mut body = escape(&step.detail);
        if let Some(hint) = &step.hint {
            let _ = write!(body, "\nhelp: {}", escape(hint));
        }
        let _ = writeln!(text, "      <{element} message=\"{message}\" type=\"{kind}\">{body}</{element}>");
    }
    if let Some(picture) = &step.picture {
        let _ = writeln!(text, "      <system-out>screen: {}</system-out>", escape(&picture.uri));
    }
    text.push_str("    </testcase>\n");
}
