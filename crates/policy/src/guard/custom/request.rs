use std::time::Instant;

use serde_json::Value;

use failwell_rpc::Direction;

/// The request to a custom guard.
#[derive(Debug, Clone, Copy)]
pub struct GuardRequest<'a> {
    /// The guard's name in the configuration file.
    pub guard: &'a str,
    pub direction: Direction,
    /// The server that sends or receives the message; empty if unknown.
    pub server: &'a str,
    /// The tool, by its server's own name; empty if the message is not about a tool.
    pub tool: &'a str,
    /// The method of the request; empty for an unsolicited message.
    pub method: &'a str,
    /// The name of the caller; empty for an unsolicited message.
    pub caller: &'a str,
    /// The message as JSON.
    pub message: &'a str,
    /// The gateway stops waiting for the verdict at this time.
    pub deadline: Instant,
}

impl GuardRequest<'_> {
    /// Serializes the request as one line of JSON, without a line break.
    pub fn to_line(&self, id: u64) -> String {
        let mut line = String::with_capacity(self.message.len() + 160);
        line.push_str(&format!(r#"{{"id":{id}"#));
        for (name, text) in [
            ("guard", self.guard),
            ("direction", self.direction.looked_at()),
            ("server", self.server),
            ("tool", self.tool),
            ("method", self.method),
            ("caller", self.caller),
        ] {
            line.push_str(&format!(r#","{name}":{}"#, Value::from(text)));
        }
        line.push_str(r#","message":"#);
        // A raw line break is white space between JSON tokens; inside of strings, JSON does not allow it.
        line.extend(self.message.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }));
        line.push('}');
        line
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::GuardRequest;
    use failwell_rpc::Direction;

    #[test]
    fn a_question_is_one_line_of_json_whatever_is_asked() {
        let line = GuardRequest {
            guard: "g",
            direction: Direction::Notice,
            server: "s",
            tool: "a\"b\n",
            method: "tools/call",
            caller: "key:ci",
            message: "{\n\"x\":\r\n[1]}",
            deadline: Instant::now(),
        }
        .to_line(7);
        assert!(!line.contains(['\n', '\r']), "{line}");
        let read: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(read["id"], 7);
        assert_eq!(read["direction"], "notification");
        assert_eq!(read["tool"], "a\"b\n");
        assert_eq!(read["message"]["x"][0], 1);
    }
}
