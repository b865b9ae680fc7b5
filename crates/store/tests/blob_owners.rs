//! Resources belong to their owners.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]
#![allow(dead_code, reason = "each test uses a part of what is shared")]

mod support;

use failwell_store::blob_store::{AccessibleFiles, BlobStoreSettings, FileAccess, ListFilter, NewFile};
use rusqlite::Connection;
use serde_json::Map;
use support::{TestStore, new};

fn of(owner: &str) -> NewFile {
    NewFile { owner: owner.to_owned(), ..new("notes", "txt") }
}

async fn listed(files: &AccessibleFiles) -> Vec<String> {
    let page = files.list(ListFilter::default()).await.expect("a list");
    page.items.into_iter().map(|stored| stored.owner).collect()
}

#[tokio::test]
async fn what_belongs_to_another_is_unknown() {
    let folder = TestStore::new("owners");
    let blobs = folder.blobs(BlobStoreSettings::default());
    let stored = blobs.put(of("key:alice"), "diary".into()).await.expect("kept");
    let (alice, bob, admin) = (
        blobs.accessible(FileAccess::owned_by("key:alice")),
        blobs.accessible(FileAccess::owned_by("key:bob")),
        blobs.accessible(FileAccess::all("key:root")),
    );
    let unknown = |reason: &str| assert_eq!(reason, "mcp/UNKNOWN_RESOURCE");
    unknown(bob.describe(&stored.uri).await.expect_err("hidden").reason().id);
    unknown(bob.read(&stored.uri).await.expect_err("hidden").reason().id);
    unknown(bob.edit(&stored.uri, Map::new()).await.expect_err("hidden").reason().id);
    unknown(bob.remove(&stored.uri).await.expect_err("hidden").reason().id);
    assert_eq!((listed(&alice).await, listed(&bob).await), (vec!["key:alice".to_owned()], Vec::new()));
    assert_eq!(admin.describe(&stored.uri).await.expect("seen").owner, "key:alice");

    // The same bytes of another owner are another resource at the same address.
    blobs.put(of("key:bob"), "diary".into()).await.expect("kept");
    assert_eq!(bob.describe(&stored.uri).await.expect("his own").owner, "key:bob");
    assert_eq!(listed(&admin).await, ["key:bob", "key:alice"]);
    alice.remove(&stored.uri).await.expect("her own");
    assert_eq!(bob.read(&stored.uri).await.expect("his own").1, "diary");
    bob.remove(&stored.uri).await.expect("his own");
    assert!(folder.kept().is_empty(), "the file goes with its last owner");
}

#[tokio::test]
async fn one_owner_cannot_use_up_everything() {
    let folder = TestStore::new("shares");
    let settings = BlobStoreSettings { most_items_of_one: 2, most_bytes_of_one: 10, ..Default::default() };
    let blobs = folder.blobs(settings);
    for text in ["a", "b"] {
        blobs.put(of("key:alice"), text.into()).await.expect("kept");
    }
    let crowded = blobs.put(of("key:alice"), "c".into()).await.expect_err("too many");
    assert_eq!(crowded.reason().id, "shelf/SHARE_CROWDED");
    let full = blobs.put(of("key:bob"), "more than ten bytes".into()).await.expect_err("too much");
    assert_eq!(full.reason().id, "shelf/SHARE_FULL");
    blobs.put(of("key:bob"), "c".into()).await.expect("others have their own share");
    blobs.put(of(""), "callers that are not told apart have no share".into()).await.expect("kept");
}

/// An index of the layout without owners.
#[tokio::test]
async fn what_was_stored_before_there_were_owners_can_be_read() {
    let folder = TestStore::new("before");
    let uri = {
        let blobs = folder.blobs(BlobStoreSettings::default());
        blobs.put(of("key:alice"), "old".into()).await.expect("kept").uri
    };
    let index = Connection::open(folder.0.join("index.sqlite")).expect("the index");
    let back = "ALTER TABLE resource RENAME TO owned; DROP TRIGGER resource_added; DROP TRIGGER resource_removed;
        DROP INDEX resource_expires; DROP INDEX resource_owner; DROP TABLE total;
        CREATE TABLE resource (number INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, sha256 TEXT NOT NULL,
            extension TEXT NOT NULL, size INTEGER NOT NULL, created INTEGER NOT NULL, expires INTEGER NOT NULL,
            metadata TEXT NOT NULL, UNIQUE (kind, sha256, extension)) STRICT;
        CREATE INDEX resource_expires ON resource (expires);
        CREATE TABLE total (bytes INTEGER NOT NULL, items INTEGER NOT NULL) STRICT;
        INSERT INTO total VALUES (3, 1);
        CREATE TRIGGER resource_added AFTER INSERT ON resource BEGIN
            UPDATE total SET bytes = bytes + NEW.size, items = items + 1; END;
        CREATE TRIGGER resource_removed AFTER DELETE ON resource BEGIN
            UPDATE total SET bytes = bytes - OLD.size, items = items - 1; END;
        INSERT INTO resource SELECT number, kind, sha256, extension, size, created, expires, metadata FROM owned;
        UPDATE total SET bytes = 3, items = 1;
        DROP TABLE owned; PRAGMA user_version = 1;";
    index.execute_batch(back).expect("the layout before");
    drop(index);
    let blobs = folder.blobs(BlobStoreSettings::default());
    let bob = blobs.accessible(FileAccess::owned_by("key:bob"));
    assert_eq!(bob.read(&uri).await.expect("as before").1, "old");
    assert!(bob.remove(&uri).await.is_err(), "but not changed");
    assert_eq!(blobs.total().await.expect("totals"), (3, 1));
    blobs.accessible(FileAccess::all("")).remove(&uri).await.expect("removed");
    assert_eq!(blobs.total().await.expect("totals"), (0, 0));
}
