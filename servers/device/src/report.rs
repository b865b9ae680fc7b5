//! Reports of a session, for people and for build servers. Pure: a history in, text out.
//!
//! Titles, selectors and texts come from the app and the caller. They are written as text, never as markup.

mod html;
mod junit;
#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::steps::{SessionHistory, Verdict};

pub use html::html;
pub use junit::junit;

/// The number of steps per verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
    broken: usize,
}

impl Counts {
    fn new(run: &SessionHistory) -> Counts {
        let count = |verdict: Verdict| run.steps.iter().filter(|step| step.verdict == verdict).count();
        Counts {
            passed: count(Verdict::Passed),
            failed: count(Verdict::Failed),
            broken: count(Verdict::Broken),
        }
    }
}

/// Escapes text for an element or an attribute. Characters that XML does not allow become replacement
/// characters.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(character),
            control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => {
                escaped.push('\u{fffd}')
            }
            // Direction overrides can disguise the following text.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Seconds with three decimals.
fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}
