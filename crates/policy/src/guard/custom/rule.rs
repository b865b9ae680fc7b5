use std::time::Duration;

use crate::guard::Direction;
use crate::rules::Pattern;

/// When a custom guard is asked, and what its silence means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomRule {
    /// Its name in the file, which callers may see.
    pub name: String,
    /// The messages it looks at.
    pub directions: Vec<Direction>,
    /// The servers it looks at; none for all.
    pub servers: Vec<Pattern>,
    /// The tools it looks at, with their servers' own names; none for every message, whatever it is about.
    pub tools: Vec<Pattern>,
    /// How long it may take.
    pub timeout: Duration,
    /// Whether nothing passes without its verdict.
    pub critical: bool,
    /// Who is asked first: the smaller number.
    pub priority: u64,
}

/// What a message is about, as far as that is known.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The server it is for or from.
    pub server: Subject<'a>,
    /// The tool.
    pub tool: Subject<'a>,
}

/// A name a guard may have been set up for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'a> {
    /// There is none, such as the tool of a list.
    Nothing,
    /// There is one, and nobody can tell which. A guard for some of them looks rather than let it pass.
    Unknown,
    /// This one.
    Named(&'a str),
}

impl Subject<'_> {
    fn is_among(self, patterns: &[Pattern]) -> bool {
        patterns.is_empty()
            || match self {
                Subject::Nothing => false,
                Subject::Unknown => true,
                Subject::Named(name) => patterns.iter().any(|pattern| pattern.matches(name)),
            }
    }

    /// The name, if there is one.
    pub fn name(&self) -> &str {
        match self {
            Subject::Named(name) => name,
            Subject::Nothing | Subject::Unknown => "",
        }
    }
}

impl CustomRule {
    /// Whether the guard is asked about such a message.
    pub fn looks(&self, direction: Direction, about: &About<'_>) -> bool {
        self.directions.contains(&direction)
            && about.server.is_among(&self.servers)
            && about.tool.is_among(&self.tools)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{About, CustomRule, Subject};
    use crate::guard::Direction;
    use crate::rules::Pattern;

    #[test]
    fn a_guard_is_asked_about_what_it_is_set_up_for_and_what_nobody_can_tell() {
        let rule = |servers: &[&str], tools: &[&str]| CustomRule {
            name: "g".to_owned(),
            directions: vec![Direction::Result],
            servers: servers.iter().map(|text| Pattern::new(text)).collect(),
            tools: tools.iter().map(|text| Pattern::new(text)).collect(),
            timeout: Duration::from_secs(1),
            critical: true,
            priority: 50,
        };
        let check = |rule: &CustomRule, server: Subject<'_>, tool: Subject<'_>| {
            rule.looks(Direction::Result, &About { server, tool })
        };
        let (nothing, unknown) = (Subject::Nothing, Subject::Unknown);
        let all = rule(&[], &[]);
        assert!(check(&all, nothing, nothing));
        assert!(!all.looks(Direction::Request, &About { server: nothing, tool: nothing }));
        let some = rule(&["fi*"], &["read_*"]);
        assert!(check(&some, Subject::Named("files"), Subject::Named("read_file")));
        assert!(!check(&some, Subject::Named("files"), Subject::Named("write_file")));
        assert!(!check(&some, Subject::Named("mail"), Subject::Named("read_file")));
        assert!(check(&some, unknown, unknown));
        assert!(!check(&some, Subject::Named("files"), nothing));
    }
}
