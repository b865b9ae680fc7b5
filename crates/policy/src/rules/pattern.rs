use crate::resource_uri::normalize_pattern;

/// A name with wildcards: `*` matches any run of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Box<[Box<str>]>);

impl Pattern {
    pub fn new(text: &str) -> Pattern {
        Pattern(text.split('*').map(Box::from).collect())
    }

    /// A pattern for resources. It matches URIs in their normal form.
    pub(super) fn of_resources(&self) -> Pattern {
        Pattern::new(&normalize_pattern(&self.0.join("*")))
    }

    /// The only name that it matches, if it has no wildcard.
    pub(super) fn as_name(&self) -> Option<&str> {
        match &*self.0 {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Returns true if this pattern matches every name that the other one matches.
    pub(super) fn covers(&self, other: &Pattern) -> bool {
        // NUL is in no pattern. It can therefore only be matched by a wildcard, as any text could.
        self.matches(&other.0.join("\0"))
    }

    /// Matches a name in time proportional to its length, for any pattern.
    pub fn matches(&self, name: &str) -> bool {
        let [first, between @ .., last] = &*self.0 else {
            return self.0.first().is_some_and(|only| **only == *name);
        };
        let Some(rest) = name.strip_prefix(&**first).and_then(|rest| rest.strip_suffix(&**last)) else {
            return false;
        };
        // The leftmost match of each piece leaves the longest rest for the next one.
        let found = between
            .iter()
            .try_fold(rest, |rest, piece| rest.find(&**piece).and_then(|at| rest.get(at + piece.len()..)));
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn a_wider_pattern_covers_a_narrower_one() {
        for (wide, narrow, covers) in [
            ("*", "*", true),
            ("*", "read", true),
            ("*", "read_*", true),
            ("**", "*", true),
            ("read_*", "read_file*", true),
            ("read_*", "read_*", true),
            ("read_*", "*", false),
            ("read_f*", "read_*", false),
            ("read", "read", true),
            ("read", "read*", false),
            ("a*b", "a*c*b", true),
            ("a*c*b", "a*b", false),
        ] {
            assert_eq!(Pattern::new(wide).covers(&Pattern::new(narrow)), covers, "{wide} {narrow}");
        }
    }

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name, fits) in [
            ("echo", "echo", true),
            ("echo", "echo2", false),
            ("", "", true),
            ("", "x", false),
            ("*", "", true),
            ("*", "anything", true),
            ("read_*", "read_", true),
            ("read_*", "reader", false),
            ("*_file", "read_file", true),
            ("*_file", "read_files", false),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "acb", false),
            ("aa*aa", "aaa", false),
            ("ab*ba", "aba", false),
            ("*é*", "café", true),
            ("**", "x", true),
            ("a*b*b", "ab", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(name), fits, "{pattern} {name}");
        }
    }
}
