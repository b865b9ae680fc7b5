use super::{ArgumentCheck, Pattern};

/// The restrictions of a rule on one kind of item.
#[derive(Debug, Clone, Default)]
pub struct ItemRules {
    /// Only these items are visible; `None` means all.
    pub allow: Option<Vec<Pattern>>,
    /// These items are invisible.
    pub hide: Vec<Pattern>,
    /// Pairs of the server's name and the name that callers see.
    pub rename: Vec<(String, String)>,
    /// Descriptions that replace the server's own.
    pub describe: Vec<(Pattern, String)>,
    /// These items need human approval.
    pub approve: Vec<Pattern>,
    /// Checks on the arguments of tools.
    pub arguments: Vec<(Pattern, ArgumentCheck)>,
}

impl ItemRules {
    /// The same rules with patterns for resources.
    pub(super) fn of_resources(self) -> ItemRules {
        let all = |patterns: Vec<Pattern>| patterns.iter().map(Pattern::of_resources).collect();
        let describe = self.describe.into_iter().map(|(pattern, text)| (pattern.of_resources(), text));
        ItemRules {
            allow: self.allow.map(all),
            hide: all(self.hide),
            approve: all(self.approve),
            describe: describe.collect(),
            ..self
        }
    }

    pub(super) fn hide(&self, name: &str) -> bool {
        any(&self.hide, name)
    }

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
