//! Tool names that every client and model provider accepts. A provider that rejects one name rejects the whole request.

use std::borrow::Cow;

use crate::federation::names::short_hash;

/// The longest name of the specification. Prefixed names are shorter.
const LONGEST: usize = 128;
/// Stands for a name of which nothing could be kept.
const NAMELESS: &str = "tool";

/// The name to show to clients: the original, or one derived from it. `None` for an empty name.
pub(crate) fn portable_name(name: &str) -> Option<Cow<'_, str>> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if name.is_empty() {
        return None;
    }
    if name.len() <= LONGEST && name.chars().all(is_plain) {
        return Some(Cow::Borrowed(name));
    }
    let hash = short_hash(name);
    let plain = name.chars().map(|c| if is_plain(c) { c } else { '_' });
    let kept: String = plain.take(LONGEST - hash.len() - 1).collect();
    let kept = if kept.trim_matches('_').is_empty() { NAMELESS } else { &kept };
    // The hash keeps names apart that differ only in the replaced characters.
    Some(Cow::Owned(format!("{kept}_{hash}")))
}

#[cfg(test)]
mod tests {
    use super::portable_name;

    #[test]
    fn other_names_are_derived_and_plain_ones_stay() {
        for name in ["echo", "read_file", "a.b-c", "X9", &"x".repeat(128)] {
            assert_eq!(portable_name(name).as_deref(), Some(name));
        }
        for (name, begin) in [
            ("a b", "a_b_"),
            ("a\nb", "a_b_"),
            ("\u{202e}evil", "_evil_"),
            ("\u{200b}", "tool_"),
            ("werkzeug \u{fc}", "werkzeug___"),
            ("\u{5de5}\u{5177}", "tool_"),
            (&"y".repeat(5_000), "yyyy"),
        ] {
            let shown = portable_name(name).expect("a name");
            assert!(shown.starts_with(begin) && shown.len() <= 128 && shown != name, "{name}: {shown}");
            assert_eq!(portable_name(&shown).as_deref(), Some(&*shown), "it needs no other name");
            assert_eq!(portable_name(name), Some(shown), "stable");
        }
        assert_ne!(portable_name("a b"), portable_name("a\nb"));
        assert_eq!(portable_name(""), None);
    }
}
