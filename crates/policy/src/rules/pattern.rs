/// A name with wildcards: `*` matches any run of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Box<[Box<str>]>);

impl Pattern {
    pub fn new(text: &str) -> Pattern {
        Pattern(text.split('*').map(Box::from).collect())
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
