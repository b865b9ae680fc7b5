//! Definitions that are listed, change, revert and are approved, from several handles of one file.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test may stop at the first surprise")]

#[path = "support/temp_folder.rs"]
mod temp_folder;

use std::collections::BTreeMap;
use std::sync::Arc;

use failwell_rpc::{Json, Limits};
use failwell_store::{
    ConsentFile, ListedItems, NewTools, PinAction, PinAdmin, PinCheck, PinSettings, ToolPins,
};
use temp_folder::TempFolder;

fn tool_pins(folder: &TempFolder, settings: PinSettings) -> Arc<ToolPins> {
    ToolPins::new(&ConsentFile::in_folder(&folder.0), "here", settings)
}

fn pin_admin(folder: &TempFolder) -> PinAdmin {
    PinAdmin::new(&ConsentFile::in_folder(&folder.0), Some("here".to_owned()))
}

async fn look(pins: &Arc<ToolPins>, era: &'static str, items: &[(&str, &str)]) -> PinCheck {
    let item = |(name, text): &(&str, &str)| {
        ((*name).to_owned(), Json::read(text, &Limits::default()).expect("JSON"))
    };
    let items = items.iter().map(item).collect();
    let listing = ListedItems { server: "files".to_owned(), era, kind: "tools", items };
    pins.check(listing).await.expect("it can be looked at")
}

/// The quarantined indexes, and the number of newly reported changes.
fn diff_counts(looked: &PinCheck) -> (Vec<usize>, usize) {
    let mut held: Vec<usize> = looked.held.iter().copied().collect();
    held.sort_unstable();
    (held, looked.changes.len())
}

#[tokio::test]
async fn a_change_is_held_reported_once_and_released() {
    let folder = TempFolder::new();
    let (one, other) =
        (tool_pins(&folder, PinSettings::default()), tool_pins(&folder, PinSettings::default()));
    let first = look(&one, "", &[("a", r#"{"name":"a","d":1}"#), ("b", "{}")]).await;
    assert_eq!(diff_counts(&first), (vec![], 0));
    let same = look(&other, "", &[("b", " { } "), ("a", r#"{ "d":1, "n\u0061me":"a" }"#)]).await;
    assert_eq!(diff_counts(&same), (vec![], 0), "another way of writing it");
    let changed = [("b", "{}"), ("a", r#"{"name":"a","d":1.0}"#)];
    assert_eq!(diff_counts(&look(&one, "", &changed).await), (vec![1], 1));
    assert_eq!(
        diff_counts(&look(&other, "", &changed).await),
        (vec![1], 0),
        "told once, by whichever process"
    );
    assert_eq!(
        diff_counts(&look(&one, "", &[("a", r#"{"name":"a","d":2}"#)]).await),
        (vec![0], 1),
        "another change"
    );
    assert_eq!(
        diff_counts(&look(&one, "", &[("a", r#"{"name":"a","d":1}"#)]).await),
        (vec![], 0),
        "as it was"
    );
    assert!(pin_admin(&folder).all(None).expect("read").iter().all(|pin| pin.held_hash.is_none()));
}

#[tokio::test]
async fn what_was_shown_is_approved_and_not_what_came_after() {
    let folder = TempFolder::new();
    let (pins, book) = (tool_pins(&folder, PinSettings::default()), pin_admin(&folder));
    look(&pins, "", &[("a", "1")]).await;
    look(&pins, "", &[("a", "2")]).await;
    assert!(!pins.has_changed().await, "the first look finds out where it stands");
    let shown = book.all(Some("files")).expect("read");
    look(&pins, "", &[("a", "3")]).await;
    assert_eq!(book.approve(&shown, "terminal:0").expect("written"), 0, "it changed meanwhile");
    assert_eq!(diff_counts(&look(&pins, "", &[("a", "3")]).await), (vec![0], 0));
    assert_eq!(book.approve(&book.all(None).expect("read"), "terminal:0").expect("written"), 1);
    assert!(pins.has_changed().await && !pins.has_changed().await);
    assert_eq!(diff_counts(&look(&pins, "", &[("a", "3")]).await), (vec![], 0));
    assert_eq!(
        diff_counts(&look(&pins, "", &[("a", "1")]).await),
        (vec![0], 1),
        "what was known before is not any more"
    );
}

#[tokio::test]
async fn a_new_tool_comes_or_waits_and_a_forgotten_server_begins_anew() {
    let folder = TempFolder::new();
    let hold = PinSettings { new_tools: NewTools::Hold, ..PinSettings::default() };
    let (allowing, holding) = (tool_pins(&folder, PinSettings::default()), tool_pins(&folder, hold));
    look(&holding, "", &[("a", "1")]).await;
    assert_eq!(diff_counts(&look(&allowing, "", &[("a", "1"), ("b", "1")]).await), (vec![], 0));
    let looked = look(&holding, "", &[("a", "1"), ("c", "1")]).await;
    assert_eq!(diff_counts(&looked), (vec![1], 1));
    assert!(looked.changes[0].is_new && looked.changes[0].before.is_none());
    let book = pin_admin(&folder);
    book.forget(&book.all(Some("files")).expect("read"), Some("files")).expect("written");
    assert_eq!(diff_counts(&look(&holding, "", &[("c", "2")]).await), (vec![], 0));
}

#[tokio::test]
async fn dialects_may_differ_where_an_exception_is_listed() {
    let folder = TempFolder::new();
    let (pins, book) = (tool_pins(&folder, PinSettings::default()), pin_admin(&folder));
    look(&pins, "session", &[("a", "1")]).await;
    assert_eq!(diff_counts(&look(&pins, "modern", &[("a", "1")]).await), (vec![], 0), "the same on both");
    assert_eq!(
        diff_counts(&look(&pins, "modern", &[("a", "2")]).await),
        (vec![0], 1),
        "no first sight by another door"
    );
    book.approve(&book.all(None).expect("read"), "x").expect("written");
    for era in ["session", "modern"] {
        for text in ["1", "2"] {
            assert_eq!(diff_counts(&look(&pins, era, &[("a", text)]).await), (vec![], 0), "{era} {text}");
        }
        assert_eq!(diff_counts(&look(&pins, era, &[("a", "3")]).await), (vec![0], 1), "{era}");
    }
}

#[tokio::test]
async fn actions_are_per_server_and_a_server_cannot_fill_the_book() {
    let folder = TempFolder::new();
    let servers = BTreeMap::from([("files".to_owned(), PinAction::Warn)]);
    let pins = tool_pins(&folder, PinSettings { servers, ..PinSettings::default() });
    look(&pins, "", &[("a", "1")]).await;
    assert_eq!(
        diff_counts(&look(&pins, "", &[("a", "2")]).await),
        (vec![], 1),
        "it passes, and somebody is told"
    );
    assert!(pins.is_watched("files") && pins.is_watched("other"));
    assert!(pins.replace(PinSettings { action: PinAction::Off, ..PinSettings::default() }));
    assert!(!pins.is_watched("files"));
    pins.replace(PinSettings::default());
    let names: Vec<String> = (0..1_500).map(|number| format!("t{number}")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "{}")).collect();
    let looked = look(&pins, "", &many).await;
    assert_eq!(looked.held.len(), 501, "what is one too many is never known");
    assert_eq!(pin_admin(&folder).all(None).expect("read").len(), 1_000);
}
