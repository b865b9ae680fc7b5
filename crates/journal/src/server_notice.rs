use failwell_render::Moment;
use serde_json::{Map, Value, json};

use crate::LogStyle;
use crate::printable::printable;
use crate::redact::TextRedactor;

/// Maximum bytes of the reason in a line.
const MOST_WHY: usize = 1_024;

/// A log line about the life of a server: it started or ended.
#[derive(Debug)]
pub struct ServerNotice<'a> {
    /// `info` or `warn`.
    pub level: &'static str,
    /// The name from the configuration.
    pub server: &'a str,
    /// The change in one word: `started`, `restarted`, `ended`, `stopped`.
    pub event: &'static str,
    /// The number of its tools, once they were listed.
    pub tools: Option<usize>,
    /// How long its start took.
    pub seconds: Option<f64>,
    /// Why it ended, with text of the server.
    pub why: Option<&'a str>,
}

impl ServerNotice<'_> {
    /// The line, without a line break.
    pub(crate) fn line(&self, style: LogStyle, redact: &TextRedactor) -> String {
        let now = Moment::now().to_string();
        let why = self.why.map(|why| redact.text(why, MOST_WHY));
        let message = format!("server {} {}", self.server, self.event);
        match style {
            LogStyle::Json => {
                let mut members = Map::new();
                let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
                put("timestamp", json!(now));
                put("level", json!(self.level));
                put("message", json!(message));
                put("service", json!("servers"));
                put("server", json!(self.server));
                put("event", json!(self.event));
                let known = [
                    ("tools", self.tools.map(|tools| json!(tools))),
                    ("seconds", self.seconds.map(|seconds| json!(seconds))),
                    ("why", why.map(|why| json!(why))),
                ];
                for (name, value) in known {
                    if let Some(value) = value {
                        put(name, value);
                    }
                }
                Value::Object(members).to_string()
            }
            LogStyle::Text => {
                let tools =
                    self.tools.map(|tools| format!("{tools} tool{}", if tools == 1 { "" } else { "s" }));
                let seconds = self.seconds.map(|seconds| format!("{seconds:.1} s"));
                let parts: Vec<String> = [tools, seconds, why].into_iter().flatten().collect();
                let details =
                    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
                printable(&format!("{now} {:<5} servers {message}{details}", self.level))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::ServerNotice;
    use crate::{LogStyle, TextRedactor};

    #[test]
    fn a_line_says_what_is_known_and_hides_secrets() {
        let redact = TextRedactor::new(Arc::new(|text: &str| text.replace("SECRET", "[x]")));
        let started = ServerNotice {
            level: "info",
            server: "memory",
            event: "started",
            tools: Some(9),
            seconds: Some(0.75),
            why: None,
        };
        let line: Value = serde_json::from_str(&started.line(LogStyle::Json, &redact)).expect("JSON");
        let members =
            ["message", "server", "event", "tools", "seconds", "why"].map(|name| line[name].clone());
        let known =
            [json!("server memory started"), json!("memory"), json!("started"), json!(9), json!(0.75)];
        assert_eq!(members[..5], known);
        assert_eq!(members[5], Value::Null);
        assert!(
            started
                .line(LogStyle::Text, &redact)
                .ends_with("info  servers server memory started: 9 tools, 0.8 s")
        );
        let (event, why) = ("ended", Some("exit 1: no SECRET\n2026-01-01 error forged"));
        let ended = ServerNotice { level: "warn", event, tools: None, seconds: None, why, ..started };
        let text = ended.line(LogStyle::Text, &redact);
        assert!(text.ends_with("server memory ended: exit 1: no [x]\n    2026-01-01 error forged"), "{text}");
    }
}
