use super::{ArgumentCheck, Pattern};

/// What a rule says of the items of one sort.
#[derive(Debug, Clone, Default)]
pub struct Items {
    /// Only these are there; `None` for all.
    pub allow: Option<Vec<Pattern>>,
    /// These are not there.
    pub hide: Vec<Pattern>,
    /// What the server calls it, and what callers call it.
    pub rename: Vec<(String, String)>,
    /// Descriptions in place of the server's own.
    pub describe: Vec<(Pattern, String)>,
    /// These run only after a person said yes.
    pub approve: Vec<Pattern>,
    /// What arguments must satisfy.
    pub arguments: Vec<(Pattern, ArgumentCheck)>,
}

impl Items {
    pub(super) fn show(&self, name: &str) -> bool {
        let allowed = self.allow.as_ref().is_none_or(|allowed| any(allowed, name));
        allowed && !any(&self.hide, name)
    }

    pub(super) fn renamed(&self, name: &str) -> Option<&str> {
        self.rename.iter().find(|(inside, _)| inside == name).map(|(_, outside)| outside.as_str())
    }

    pub(super) fn described(&self, name: &str) -> Option<&str> {
        self.describe.iter().find(|(pattern, _)| pattern.matches(name)).map(|(_, text)| text.as_str())
    }

    pub(super) fn wants_approval(&self, name: &str) -> bool {
        any(&self.approve, name)
    }

    pub(super) fn argument_checks(&self, name: &str) -> impl Iterator<Item = &ArgumentCheck> {
        self.arguments.iter().filter(move |(pattern, _)| pattern.matches(name)).map(|(_, check)| check)
    }
}

fn any(patterns: &[Pattern], name: &str) -> bool {
    patterns.iter().any(|pattern| pattern.matches(name))
}
