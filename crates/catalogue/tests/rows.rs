//! Rules that every row keeps, the core's and the servers'.

use std::collections::HashSet;

use failwell_fault::{Condition, Kind, ReasonRegistry};

#[expect(clippy::expect_used, reason = "a test may stop at the first surprise")]
fn registry() -> ReasonRegistry {
    failwell_catalogue::registry().expect("no id twice")
}

#[test]
fn identities_are_unique_and_spelt_alike() {
    let mut seen = HashSet::new();
    for row in registry().iter() {
        assert!(seen.insert(row.id), "{} twice", row.id);
        let (area, name) = row.id.split_once('/').expect("area/NAME");
        assert!(area.chars().all(|c| c.is_ascii_lowercase()), "{}", row.id);
        assert!(name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'), "{}", row.id);
    }
}

#[test]
fn titles_are_lowercase_short_and_carry_no_values() {
    for row in registry().iter() {
        let first = row.title.chars().next().expect("a title");
        let acronym = row.title.starts_with("HTTP ");
        assert!(acronym || first.is_lowercase(), "{}: {}", row.id, row.title);
        assert!(!row.title.ends_with('.') && !row.title.contains('{'), "{}: {}", row.id, row.title);
        assert!(row.title.len() <= 80, "{}: {}", row.id, row.title);
    }
}

#[test]
fn every_row_says_what_to_do_and_has_a_story() {
    for row in registry().iter() {
        assert!(row.hint.len() > 10 && !row.hint.ends_with('.'), "{}: {}", row.id, row.hint);
        assert!(row.about.len() > 30 && row.about.ends_with('.'), "{}: {}", row.id, row.about);
    }
}

/// People read hints on a terminal or in a chat, where the members of the failure object have no names.
#[test]
fn hints_name_no_member_of_the_failure_object() {
    for row in registry().iter() {
        for member in [
            "retry",
            "retry_after_ms",
            "violations",
            "errors",
            "facts",
            "effect",
            "origin",
            "excerpt",
            "near",
        ] {
            assert!(!row.hint.contains(&format!("`{member}`")), "{}: {}", row.id, row.hint);
        }
    }
}

#[test]
fn every_kind_and_every_condition_has_a_row() {
    for kind in Kind::ALL {
        assert!(registry().iter().any(|row| row.kind == kind), "{kind:?}");
    }
    for condition in Condition::ALL {
        assert!(registry().iter().any(|row| row.condition == condition), "{condition:?}");
    }
}

#[test]
fn rows_are_found_by_identity_in_any_case() {
    assert_eq!(registry().find("RPC/not_json").map(|row| row.id), Some("rpc/NOT_JSON"));
    assert!(registry().find("rpc/NOPE").is_none());
}
