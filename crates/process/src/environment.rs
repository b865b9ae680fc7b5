use std::ffi::{OsStr, OsString};

/// The complete environment of a child: an allow-list of inherited variables, and additions.
#[derive(Clone, Default)]
pub struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    pub fn empty() -> Environment {
        Environment::default()
    }

    /// The named variables of this process that are set.
    pub fn inherit(names: &[&str]) -> Environment {
        let set = |name: &&str| std::env::var_os(name).map(|value| (OsString::from(name), value));
        Environment(names.iter().filter_map(set).collect())
    }

    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Environment {
        let name = name.into();
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, value.into()));
        self
    }

    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        let name = name.as_ref();
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
    }

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

/// Prints names only, because values may be secrets.
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
