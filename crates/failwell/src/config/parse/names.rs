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

/// The valid name that is closest to a text: `Brave Search` becomes `brave-search`. `None` if nothing is left.
pub(crate) fn upstream_name(text: &str) -> Option<String> {
    let plain: String = text
        .chars()
        .map(|c| c.to_ascii_lowercase())
        .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' { c } else { '-' })
        .collect();
    let mut name = plain.trim_start_matches(|c: char| !c.is_ascii_lowercase()).to_owned();
    for (twice, once) in [("__", "_"), ("--", "-")] {
        while name.contains(twice) {
            name = name.replace(twice, once);
        }
    }
    let name: String = name.trim_end_matches(['-', '_']).chars().take(LONGEST_NAME).collect();
    let name = name.trim_end_matches(['-', '_']).to_owned();
    is_upstream(&name).then_some(name)
}

/// Maximum length of a name that is made from a text. Tools are `server__tool`, and clients limit that to 64 characters.
const LONGEST_NAME: usize = 32;

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
    use super::{is_upstream, nearest, upstream_name};

    #[test]
    fn a_name_is_made_from_any_text() {
        for (text, name) in [
            ("memory", Some("memory")),
            ("Brave Search", Some("brave-search")),
            ("a__b", Some("a_b")),
            ("io.github.user/Weather_", Some("io-github-user-weather")),
            ("1password", Some("password")),
            ("\u{65e5}\u{672c}", None),
            ("", None),
        ] {
            assert_eq!(upstream_name(text).as_deref(), name, "{text}");
        }
        let long = upstream_name(&"ab-".repeat(40)).expect("a name");
        assert!(long.len() <= super::LONGEST_NAME && is_upstream(&long), "{long}");
    }

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
