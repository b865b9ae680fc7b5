use std::time::Duration;

use crate::rules::Pattern;
use failwell_rpc::{Direction, TargetName};

/// The conditions under which a custom guard runs, and the effect of its failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomRule {
    /// The guard's name in the configuration file. Callers can see it.
    pub name: String,
    pub directions: Vec<Direction>,
    /// Servers whose messages are checked; empty means all.
    pub servers: Vec<Pattern>,
    /// Tools whose messages are checked, by their servers' own names; empty means every message.
    pub tools: Vec<Pattern>,
    pub timeout: Duration,
    /// If true, a message without a verdict is blocked.
    pub critical: bool,
    /// Guards with a smaller number run first.
    pub priority: u64,
}

/// The server and tool that a message is about, if known.
#[derive(Debug, Clone, Copy)]
pub struct MessageContext<'a> {
    /// The server that sends or receives the message.
    pub server: TargetName<'a>,
    pub tool: TargetName<'a>,
}

/// Whether a guard that is configured for some names looks at this one.
fn is_among(target: TargetName<'_>, patterns: &[Pattern]) -> bool {
    patterns.is_empty()
        || match target {
            TargetName::Nothing => false,
            TargetName::Unknown => true,
            TargetName::Named(name) => patterns.iter().any(|pattern| pattern.matches(name)),
        }
}

impl CustomRule {
    pub fn applies(&self, direction: Direction, about: &MessageContext<'_>) -> bool {
        self.directions.contains(&direction)
            && is_among(about.server, &self.servers)
            && is_among(about.tool, &self.tools)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{CustomRule, MessageContext};
    use crate::rules::Pattern;
    use failwell_rpc::Direction;
    use failwell_rpc::TargetName;

    #[test]
    fn a_guard_is_asked_about_its_tools_and_about_unknown_ones() {
        let rule = |servers: &[&str], tools: &[&str]| CustomRule {
            name: "g".to_owned(),
            directions: vec![Direction::Result],
            servers: servers.iter().map(|text| Pattern::new(text)).collect(),
            tools: tools.iter().map(|text| Pattern::new(text)).collect(),
            timeout: Duration::from_secs(1),
            critical: true,
            priority: 50,
        };
        let check = |rule: &CustomRule, server: TargetName<'_>, tool: TargetName<'_>| {
            rule.applies(Direction::Result, &MessageContext { server, tool })
        };
        let (nothing, unknown) = (TargetName::Nothing, TargetName::Unknown);
        let all = rule(&[], &[]);
        assert!(check(&all, nothing, nothing));
        assert!(!all.applies(Direction::Request, &MessageContext { server: nothing, tool: nothing }));
        let some = rule(&["fi*"], &["read_*"]);
        assert!(check(&some, TargetName::Named("files"), TargetName::Named("read_file")));
        assert!(!check(&some, TargetName::Named("files"), TargetName::Named("write_file")));
        assert!(!check(&some, TargetName::Named("mail"), TargetName::Named("read_file")));
        assert!(check(&some, unknown, unknown));
        assert!(!check(&some, TargetName::Named("files"), nothing));
    }
}
