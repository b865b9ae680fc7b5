use std::time::Instant;

use serde_json::Value;

use crate::guard::Direction;

/// What a custom guard is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The name of the guard in the file.
    pub guard: &'a str,
    /// What the message is.
    pub direction: Direction,
    /// The server it is for or from; empty where it is not known.
    pub server: &'a str,
    /// The tool it is about, with its server's own name; empty where it is about none.
    pub tool: &'a str,
    /// The method that was asked for; empty where nobody asked.
    pub method: &'a str,
    /// Who asked; empty where nobody did.
    pub caller: &'a str,
    /// The message, as JSON.
    pub message: &'a str,
    /// When nobody waits for the verdict any more.
    pub deadline: Instant,
}

impl Question<'_> {
    /// The question as one line of JSON, without its line break.
    pub fn line(&self, id: u64) -> String {
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
        // Between the tokens of JSON a line break is only space; within a string it cannot stand as it is.
        line.extend(self.message.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }));
        line.push('}');
        line
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::Question;
    use crate::guard::Direction;

    #[test]
    fn a_question_is_one_line_of_json_whatever_is_asked() {
        let line = Question {
            guard: "g",
            direction: Direction::Notice,
            server: "s",
            tool: "a\"b\n",
            method: "tools/call",
            caller: "key:ci",
            message: "{\n\"x\":\r\n[1]}",
            deadline: Instant::now(),
        }
        .line(7);
        assert!(!line.contains(['\n', '\r']), "{line}");
        let read: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(read["id"], 7);
        assert_eq!(read["direction"], "notification");
        assert_eq!(read["tool"], "a\"b\n");
        assert_eq!(read["message"]["x"][0], 1);
    }
}
