//! Leaks: internal details in messages of the server.

mod detect;

use serde::Serialize;
use serde_json::Value;

use super::verdict::Level;
use crate::connection::message::Message;
use crate::examine::test_bench::SECRET_NAME;

/// One category of leak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// An absolute path of the machine the server runs on.
    Path,
    /// A stack trace or panic message.
    StackTrace,
    /// The name or value of a planted environment variable.
    Environment,
    /// The raw words of a validation library.
    ValidatorDump,
}

impl Category {
    pub(crate) const ALL: [Self; 4] = [Self::Path, Self::StackTrace, Self::Environment, Self::ValidatorDump];

    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Path => "leak.path",
            Self::StackTrace => "leak.stack-trace",
            Self::Environment => "leak.environment",
            Self::ValidatorDump => "leak.validator-dump",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Path => "no path of the server's machine in any error",
            Self::StackTrace => "no stack trace in any answer",
            Self::Environment => "nothing from the environment in any answer",
            Self::ValidatorDump => "no raw words of a validation library in any error",
        }
    }

    pub(crate) fn level(self) -> Level {
        if self == Self::ValidatorDump { Level::Should } else { Level::Leak }
    }

    pub(crate) fn rule(self) -> &'static str {
        match self {
            Self::ValidatorDump => "good manners: an error says what to change, not how the server was built",
            _ => {
                "OWASP ASVS 5.0 16.5.1: an error shown outside reveals no internals, such as paths, traces or secrets"
            }
        }
    }
}

/// A leak and the check it was seen in.
#[derive(Clone, Debug, Serialize)]
pub struct Leak {
    /// The kind of leak.
    pub category: Category,
    /// The check during which it was heard.
    pub check: String,
    /// The offending text.
    pub excerpt: String,
}

/// Keeps one leak per category and check.
#[derive(Debug, Default)]
pub(crate) struct LeakScanner {
    pub(crate) leaks: Vec<Leak>,
    known_paths: Vec<String>,
    secret: String,
}

impl LeakScanner {
    /// `known_paths` were given by the person and may be repeated.
    pub(crate) fn new(known_paths: Vec<String>, secret: String) -> Self {
        Self { leaks: Vec::new(), known_paths, secret }
    }

    /// Scans what was heard during a check; text the examiner sent itself is no leak.
    pub(crate) fn scan(&mut self, check: &str, sent: &[u8], pieces: &[Vec<u8>]) {
        let sent = String::from_utf8_lossy(sent).into_owned();
        for piece in pieces {
            match Message::read(piece) {
                Some(messages) => {
                    messages.iter().for_each(|message| self.scan_message(check, &sent, message))
                }
                None => self.scan_text(check, &sent, &String::from_utf8_lossy(piece), true),
            }
        }
    }

    fn scan_message(&mut self, check: &str, sent: &str, message: &Message) {
        let mut text = String::new();
        strings(&message.value, &mut text);
        self.scan_text(check, sent, &text, message.is_about_failure());
    }

    fn scan_text(&mut self, check: &str, sent: &str, text: &str, about_failure: bool) {
        let known = |path: &str| {
            sent.contains(path)
                || self.known_paths.iter().any(|own| own.contains(path) || path.starts_with(own.as_str()))
        };
        let mut found = Vec::new();
        found.extend(detect::stack_trace(text).map(|at| (Category::StackTrace, at)));
        let environment = [self.secret.as_str(), SECRET_NAME].into_iter().find_map(|word| text.find(word));
        found.extend(environment.map(|at| (Category::Environment, at)));
        // A result may well be about paths, that is a tool's trade; an error is about the caller's mistake.
        if about_failure {
            found.extend(detect::path(text, known).map(|at| (Category::Path, at)));
            found.extend(detect::validator_dump(text).map(|at| (Category::ValidatorDump, at)));
        }
        for (category, at) in found {
            if !self.leaks.iter().any(|leak| leak.category == category && leak.check == check) {
                let excerpt = excerpt(text, at);
                self.leaks.push(Leak { category, check: check.to_owned(), excerpt });
            }
        }
    }
}

/// Every string of a message, decoded, one per line.
fn strings(value: &Value, into: &mut String) {
    match value {
        Value::String(text) => {
            into.push_str(text);
            into.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| strings(item, into)),
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            if !value.is_string() {
                into.push_str(key);
                into.push('\n');
            }
            strings(value, into);
        }),
        _ => {}
    }
}

/// The text around a finding.
fn excerpt(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default().chars().rev().take(40).collect::<Vec<_>>();
    let after = text.get(at..).unwrap_or_default().chars().take(160);
    before.into_iter().rev().chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::{Category, LeakScanner};

    fn check(piece: &str, sent: &str, expected: &[Category]) {
        let mut scanner = LeakScanner::new(vec!["/tmp/given".to_owned()], "fw-env-77".to_owned());
        scanner.scan("x.y", sent.as_bytes(), &[piece.as_bytes().to_vec()]);
        let mut found: Vec<Category> = scanner.leaks.iter().map(|leak| leak.category).collect();
        found.sort();
        assert_eq!(found, expected, "{piece}");
    }

    #[test]
    fn errors_are_searched_for_paths_and_results_are_not() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"open /home/ann/x.py"}}"#,
            "",
            &[Category::Path],
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"/home/ann/x.py"}]}}"#,
            "",
            &[],
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"text":"C:\\Users\\ann\\x"}]}}"#,
            "",
            &[Category::Path],
        );
        check("Internal error at /usr/lib/python3/x.py", "", &[Category::Path]);
    }

    #[test]
    fn what_the_caller_said_may_be_repeated() {
        check(r#"{"jsonrpc":"2.0","id":1,"error":{"message":"no /home/ann/x"}}"#, "read /home/ann/x", &[]);
        check(r#"{"jsonrpc":"2.0","id":1,"error":{"message":"outside /tmp/given/deep"}}"#, "", &[]);
    }

    #[test]
    fn planted_secrets_are_found_anywhere() {
        check(r#"{"jsonrpc":"2.0","id":1,"result":{"env":"fw-env-77"}}"#, "", &[Category::Environment]);
        check(r#"{"jsonrpc":"2.0","id":1,"result":{"PROBE_SECRET":{}}}"#, "", &[Category::Environment]);
    }

    #[test]
    fn tracebacks_and_dumps_are_distinguished() {
        check(
            r#"{"jsonrpc":"2.0","id":1,"error":{"message":"Traceback (most recent call last):\n x"}}"#,
            "",
            &[Category::StackTrace],
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"error":{"message":"1 validation error for Call\nname [type=missing, input_value={}]"}}"#,
            "",
            &[Category::ValidatorDump],
        );
    }
}
