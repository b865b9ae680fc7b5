use super::Pattern;
use crate::Caller;

/// Whom a rule is about: callers by name (`key:ci`, `jwt:*`, `anonymous`) or by role (`role:admin`), and `!` in front of
/// those it is not about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Whom {
    included: Vec<Pattern>,
    excluded: Vec<Pattern>,
}

impl Whom {
    /// Everybody who fits one of these; with none but excluded ones, everybody else.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Whom {
        let mut whom = Whom::default();
        for text in texts {
            match text.strip_prefix('!') {
                Some(not) => whom.excluded.push(Pattern::new(not)),
                None => whom.included.push(Pattern::new(text)),
            }
        }
        whom
    }

    /// Whether it is about everybody.
    pub fn is_everybody(&self) -> bool {
        self.included.is_empty() && self.excluded.is_empty()
    }

    /// Whether it is about this caller.
    pub fn includes(&self, caller: &Caller) -> bool {
        let named = |patterns: &[Pattern]| patterns.iter().any(|pattern| fits(pattern, caller));
        (self.included.is_empty() || named(&self.included)) && !named(&self.excluded)
    }
}

fn fits(pattern: &Pattern, caller: &Caller) -> bool {
    pattern.matches(caller.name()) || caller.roles().any(|role| pattern.matches(&format!("role:{role}")))
}
