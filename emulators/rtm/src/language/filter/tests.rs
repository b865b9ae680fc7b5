//! One small account, and for each filter the tasks it finds.

use super::Filter;
use crate::language::phrase::DateContext;
use crate::state::State;
use crate::state::seed::{Seed, plant};

/// Wednesday, 11 November 2026, 14:30 in Berlin.
const NOW: &str = "2026-11-11T13:30:00Z";

fn account() -> State {
    let seed: Seed = serde_json::from_str(
        r#"{
        "timezone": "Europe/Berlin",
        "people": [{"username": "ana", "fullname": "Ana Lima", "contact": true}],
        "locations": [
            {"name": "Home", "latitude": 52.52, "longitude": 13.40},
            {"name": "Shop", "latitude": 52.53, "longitude": 13.41},
            {"name": "Coast", "latitude": 54.18, "longitude": 12.09}
        ],
        "lists": [
            {"name": "Inbox", "tasks": [
                {"name": "alpha", "due": "today", "priority": 1, "tags": ["red", "big"], "estimate": "30 min"},
                {"name": "beta", "due": "tomorrow 9am", "priority": 2, "tags": ["red"], "estimate": "2 hours"},
                {"name": "gamma ray", "due": "2026-11-09", "priority": 3, "location": "Home", "url": "https://example.org"},
                {"name": "delta", "notes": [{"title": "Why", "text": "because of the Garden"}], "postponed": 4}
            ]},
            {"name": "Work", "tasks": [
                {"name": "epsilon", "due": "2026-11-18", "start": "2026-11-12", "repeat": "every week"},
                {"name": "zeta", "completed": "2026-11-10", "tags": ["blue"], "location": "Shop"},
                {"name": "eta", "due": "2026-12-24 18:00", "location": "Coast", "subtasks": [{"name": "theta"}]},
                {"name": "iota", "completed": "2026-10-01", "shared_with": ["ana"]}
            ]},
            {"name": "Old", "archived": true, "tasks": [{"name": "kappa"}]}
        ]}"#,
    )
    .unwrap();
    let mut state = State::for_tests(NOW);
    plant(&seed, &mut state).unwrap();
    state
}

/// The initials of what is found, or why nothing is.
fn found(state: &State, text: &str) -> String {
    let context = DateContext::new(&state.account, state.clock.now());
    let Some(filter) = Filter::read(text, &context) else { return "refused".to_owned() };
    let mut initials = String::new();
    for series in state.account.series.values() {
        let is_archived = state.account.lists[&series.list].is_archived;
        if is_archived && !filter.includes_archived() {
            continue;
        }
        for task in &series.tasks {
            if filter.matches(&state.account, series, task, &context) {
                initials.extend(series.name.chars().next());
            }
        }
    }
    let mut initials: Vec<char> = initials.chars().collect();
    initials.sort_unstable();
    initials.into_iter().collect()
}

#[test]
fn what_filters_find() {
    let state = account();
    for (text, expected) in [
        ("", "abdeegitz"),
        ("list:inbox", "abdg"),
        ("list:WORK", "eeitz"),
        ("list:nowhere", ""),
        ("priority:1", "a"),
        ("priority:none", "deeitz"),
        ("priority:high", "a"),
        ("status:completed", "iz"),
        ("status:incomplete", "abdeegt"),
        ("tag:red", "ab"),
        ("tag:RED", "ab"),
        ("tagContains:e", "abz"),
        ("isTagged:true", "abz"),
        ("isTagged:false", "deegit"),
        ("location:home", "g"),
        ("isLocated:true", "egz"),
        ("locationWithin:\"2 km of home\"", "gz"),
        ("locationWithin:\"1 mile of Home\"", "gz"),
        ("locationWithin:\"500 m of home\"", "g"),
        ("isRepeating:true", "e"),
        ("name:ray", "g"),
        ("name:\"GAMMA R\"", "g"),
        ("ray", "g"),
        ("\"ma ra\"", "g"),
        ("noteContains:garden", "d"),
        ("noteContains:why", "d"),
        ("hasNotes:true", "d"),
        ("hasNotes:false", "abeegitz"),
        ("hasUrl:true", "g"),
        ("hasAttachments:true", ""),
        ("hasAttachments:false AND priority:1", "a"),
        ("filename:plan.pdf", ""),
        ("due:today", "a"),
        ("due:tomorrow", "b"),
        ("due:\"tomorrow 9am\"", "b"),
        ("due:never", "ditz"),
        ("due:\"24 dec\"", "e"),
        ("due:24/12/2026", "e"),
        ("dueBefore:today", "g"),
        ("dueBefore:tomorrow", "ag"),
        ("dueBefore:\"tomorrow 10am\"", "abg"),
        ("dueAfter:today", "bee"),
        ("dueAfter:\"tomorrow 10am\"", "ee"),
        ("dueWithin:\"1 week of today\"", "abe"),
        ("dueWithin:\"2 days of today\"", "ab"),
        ("dueWithin:\"1 day of 2026-11-08\"", "g"),
        ("start:tomorrow", "e"),
        ("startBefore:\"20/11\"", "e"),
        ("startAfter:tomorrow", ""),
        ("startWithin:\"3 days of today\"", "e"),
        ("start:never AND list:work AND status:incomplete", "et"),
        ("completed:yesterday", "z"),
        ("completedBefore:\"1/11/2026\"", "i"),
        ("completedAfter:2026-11-01", "z"),
        ("completedWithin:\"7 days of today\"", "z"),
        ("completedWithin:\"2 months of today\"", "iz"),
        ("completedAfter:\"7 days ago\"", ""),
        ("added:today", "abdeegitz"),
        ("addedBefore:today", ""),
        ("addedWithin:\"1 day of today\" AND tag:big", "a"),
        ("updated:today AND priority:3", "g"),
        ("updatedAfter:today", ""),
        ("timeEstimate:\"> 1 hour\"", "b"),
        ("timeEstimate:\"< 1 hour\"", "a"),
        ("timeEstimate:\"30 min\"", "a"),
        ("timeEstimate:\"1 min\"", ""),
        ("hasTimeEstimate:true", "ab"),
        ("postponed:\"> 3\"", "d"),
        ("postponed:4", "d"),
        ("postponed:\"<1\" AND list:inbox", "abg"),
        ("isShared:true", "i"),
        ("sharedWith:ana", "i"),
        ("sharedWith:lima", "i"),
        ("isReceived:true", ""),
        ("isSubtask:true", "t"),
        ("hasSubtasks:true", "e"),
        ("source:api AND tag:big", "a"),
        ("source:email", ""),
        ("includeArchived:true AND name:kappa", "k"),
        ("name:kappa", ""),
        ("priority:1 OR priority:2", "ab"),
        ("priority:1 or tag:blue", "az"),
        ("tag:red AND NOT tag:big", "b"),
        ("tag:red NOT tag:big", "b"),
        ("NOT (list:inbox OR status:completed)", "eet"),
        ("tag:red AND (priority:2 OR tag:big)", "ab"),
        ("tag:blue OR tag:red AND priority:1", "az"),
        ("((priority:1))", "a"),
        ("not not priority:1", "a"),
        ("dueBefore:nonsense", ""),
        ("NOT dueBefore:nonsense AND priority:1", "a"),
    ] {
        assert_eq!(found(&state, text), expected, "{text}");
    }
}

#[test]
fn what_is_no_filter() {
    let state = account();
    for text in [
        "colour:red",
        "priority:9",
        "status:done",
        "isTagged:maybe",
        "(priority:1",
        "priority:1)",
        "AND priority:1",
        "priority:1 OR",
        "NOT",
        "()",
        "name:\"unended",
        "postponed:often",
        "timeEstimate:long",
        "locationWithin:home",
        "dueBeside:today",
    ] {
        assert_eq!(found(&state, text), "refused", "{text}");
    }
    assert_eq!(found(&state, &"(".repeat(100_000)), "refused");
}

/// Days are the account's: at half past midnight in Auckland it is still yesterday in Berlin.
#[test]
fn days_are_local() {
    let mut state = account();
    state.account.zone_name = "Pacific/Auckland".to_owned();
    assert_eq!(found(&state, "due:\"2026-11-11\" AND tag:big"), "a");
    assert_eq!(found(&state, "due:today AND tag:big"), "");
    assert_eq!(found(&state, "due:yesterday AND tag:big"), "a");
}
