//! Rules for names, and suggestions for unknown ones.

pub(in crate::config) fn is_variable(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a text is an HTTP token (RFC 9110, 5.6.2).
pub(in crate::config) fn is_header(name: &str) -> bool {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(is_token)
}

/// Whether a name matches [`crate::config::keys::NAME_PATTERN`].
pub(in crate::config) fn is_upstream(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-')
        && !name.contains("__")
        && !name.ends_with('_')
}

/// The most similar valid name, if one is similar enough.
pub(in crate::config) fn nearest<'a>(
    wrong: &str,
    right: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wrong: String = wrong.chars().take(64).collect::<String>().to_lowercase().replace('-', "_");
    let near = |name: &str| strsim::damerau_levenshtein(&wrong, name);
    let (distance, name) = right.into_iter().map(|name| (near(name), name)).min()?;
    let is_part = wrong.len() > 3 && (name.starts_with(&wrong) || wrong.starts_with(name));
    (distance <= name.len().div_ceil(3) || is_part).then_some(name)
}

/// Formats names for a sentence.
pub(in crate::config) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{is_upstream, nearest};

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let right = ["timeout_s", "start_timeout_s", "headers", "env", "env_pass", "url"];
        for (wrong, near) in [
            ("timout_s", Some("timeout_s")),
            ("timeout", Some("timeout_s")),
            ("Headers", Some("headers")),
            ("env-pass", Some("env_pass")),
            ("uri", Some("url")),
            ("password", None),
            ("x", None),
        ] {
            assert_eq!(nearest(wrong, right), near, "{wrong}");
        }
    }

    #[test]
    fn names_of_upstreams_leave_the_separator_alone() {
        for good in ["a", "files", "a-b_c9", "x-"] {
            assert!(is_upstream(good), "{good}");
        }
        for bad in ["", "A", "9a", "a__b", "a_", "_a", "a.b", "é"] {
            assert!(!is_upstream(bad), "{bad}");
        }
    }
}
