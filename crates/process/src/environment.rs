use std::ffi::{OsStr, OsString};

/// The whole environment of a child: an allow-list of what we have, and what is added to it.
#[derive(Clone, Default)]
pub struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    /// An environment without variables.
    pub fn empty() -> Environment {
        Environment::default()
    }

    /// Those of our own variables that are named here and set.
    pub fn inherit(names: &[&str]) -> Environment {
        let set = |name: &&str| std::env::var_os(name).map(|value| (OsString::from(name), value));
        Environment(names.iter().filter_map(set).collect())
    }

    /// Sets a variable, whatever it was before.
    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Environment {
        let name = name.into();
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, value.into()));
        self
    }

    /// The value of a variable.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        let name = name.as_ref();
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
    }

    /// All variables.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    pub(crate) fn into_pairs(self) -> Vec<(OsString, OsString)> {
        self.0
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Environment {
        pairs.into_iter().fold(Environment::empty(), |all, (name, value)| all.with(name, value))
    }
}

/// Names alone: values may be secrets.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::Environment;

    #[test]
    fn only_what_is_named_is_there_and_values_are_not_shown() {
        let some =
            Environment::inherit(&["PATH", "NO_SUCH_VARIABLE_HERE"]).with("KEY", "a").with("KEY", "hush");
        assert_eq!(some.iter().count(), 2);
        assert_eq!(some.get("KEY").unwrap(), "hush");
        assert!(some.get("HOME").is_none());
        assert!(!format!("{some:?}").contains("hush"));
    }
}
