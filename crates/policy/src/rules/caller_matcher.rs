use super::Pattern;
use failwell_rpc::Caller;

/// Matches callers by name (`key:ci`, `jwt:*`, `anonymous`) or by role (`role:admin`). A leading `!` excludes
/// callers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallerMatcher {
    included: Vec<Pattern>,
    excluded: Vec<Pattern>,
}

impl CallerMatcher {
    /// Matches callers that fit one of the texts. If all texts are exclusions, all other callers match.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> CallerMatcher {
        let mut whom = CallerMatcher::default();
        for text in texts {
            match text.strip_prefix('!') {
                Some(not) => whom.excluded.push(Pattern::new(not)),
                None => whom.included.push(Pattern::new(text)),
            }
        }
        whom
    }

    /// Returns true if every caller matches.
    pub fn matches_all(&self) -> bool {
        self.included.is_empty() && self.excluded.is_empty()
    }

    pub fn includes(&self, caller: &Caller) -> bool {
        let named = |patterns: &[Pattern]| patterns.iter().any(|pattern| fits(pattern, caller));
        (self.included.is_empty() || named(&self.included)) && !named(&self.excluded)
    }
}

fn fits(pattern: &Pattern, caller: &Caller) -> bool {
    pattern.matches(caller.name()) || caller.roles().any(|role| pattern.matches(&format!("role:{role}")))
}
