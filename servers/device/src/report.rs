//! What a session did, for people and for build servers. Pure: a run in, text out.
//!
//! Titles, selectors and texts in a run are the app's and the caller's words. They are written as text and never as markup.

mod html;
mod junit;
#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::steps::{Run, Verdict};

pub use html::html;
pub use junit::junit;

/// How many steps ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
    broken: usize,
}

impl Counts {
    fn of(run: &Run) -> Counts {
        let count = |verdict: Verdict| run.steps.iter().filter(|step| step.verdict == verdict).count();
        Counts {
            passed: count(Verdict::Passed),
            failed: count(Verdict::Failed),
            broken: count(Verdict::Broken),
        }
    }
}

/// Text between tags or in an attribute. What XML has no way to write becomes a replacement character.
fn escaped(text: &str) -> String {
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
            // These turn what follows around, so that it can look like something else.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Seconds with three places.
fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}
