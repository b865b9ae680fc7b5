//! Killed processes, concurrent processes and manual changes leave no partial file and no name without its
//! bytes.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test stops where it fails")]

mod support;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bytes::Bytes;
use failwell_store::blob_store::{BlobStore, BlobStoreSettings, ListFilter, StoreChange};
use support::{TestStore, new};

const FOLDER: &str = "SHELF_OF_THE_PARENT";

/// Not a test by itself: the child processes of the tests below run it until they are killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let blobs = BlobStore::open(folder.as_ref(), BlobStoreSettings::default()).expect("a shelf");
    let writers = (0..4u8).map(|writer| {
        let blobs = blobs.clone();
        tokio::spawn(async move {
            for round in 0u64.. {
                let mut deposit = blobs.begin(new("runs", "bin")).await.expect("begun");
                for piece in 0..8u8 {
                    let mut bytes = vec![writer ^ piece; 40_000];
                    bytes.extend_from_slice(&round.to_le_bytes());
                    bytes.extend_from_slice(&std::process::id().to_le_bytes());
                    deposit.write(bytes.into()).await.expect("taken");
                }
                let stored = deposit.finish().await.expect("kept");
                if round % 3 == 2 {
                    blobs.remove(&stored.uri).await.expect("removed");
                }
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("it goes on until it is killed");
    }
}

fn start(folder: &TestStore) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["child", "--exact", "--nocapture"])
        .env(FOLDER, &folder.0)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started")
}

fn wait_for(what: &str, is: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(120);
    while !is() {
        assert!(Instant::now() < until, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[tokio::test]
async fn a_program_that_is_killed_leaves_no_torn_file() {
    let folder = TestStore::new("killed");
    let mut known = 0;
    for round in 0..5 {
        // Two children at once, killed while they write and while they start.
        let mut children = [start(&folder), start(&folder)];
        wait_for("writing", || folder.kept().len() > known + 3 && !folder.incoming().is_empty());
        std::thread::sleep(Duration::from_millis(round * 7));
        for child in &mut children {
            child.kill().expect("killed");
            child.wait().expect("reaped");
        }
        // Files are complete even before the cleanup.
        folder.check_names();
        let blobs = folder.blobs(BlobStoreSettings::default());
        assert_eq!(folder.incoming(), Vec::<String>::new(), "what was being written is gone");
        known = folder.check_names();
        let (bytes, items) = blobs.total().await.expect("counted");
        let on_disk: u64 = folder.kept().values().map(|bytes| bytes.len() as u64).sum();
        assert_eq!((bytes, items), (on_disk, known as u64), "rows and files agree");
        let page =
            blobs.list(ListFilter { most: Some(1_000), ..ListFilter::default() }).await.expect("a page");
        for stored in page.items {
            blobs.read(&stored.uri).await.expect("what is listed is there");
        }
    }
}

#[tokio::test]
async fn two_programs_share_a_folder() {
    let folder = TestStore::new("shared");
    let (one, other) =
        (folder.blobs(BlobStoreSettings::default()), folder.blobs(BlobStoreSettings::default()));
    let mut changes = other.changes();
    // A third process does not touch the upload of the first.
    let mut deposit = one.receive().await.expect("begun");
    deposit.write(Bytes::from(vec![7; 300_000])).await.expect("taken");
    let third = folder.blobs(BlobStoreSettings::default());
    third.sweep().await.expect("swept");
    let stored = deposit.finish_as(new("logs", "txt")).await.expect("kept");
    assert_eq!(other.read(&stored.uri).await.expect("seen by the other").1.len(), 300_000);
    tokio::time::timeout(Duration::from_secs(60), async {
        while changes.recv().await.expect("told") != StoreChange::Elsewhere {}
    })
    .await
    .expect("the other hears that something changed");

    // Both processes store and remove the same bytes many times.
    let work = |blobs: BlobStore| async move {
        for round in 0..40u8 {
            let stored = blobs.put(new("logs", "txt"), vec![round % 3; 1_000].into()).await.expect("kept");
            if round % 4 == 0 {
                // The other process may have removed it.
                let _ = blobs.remove(&stored.uri).await;
            }
        }
    };
    tokio::join!(work(one.clone()), work(other.clone()));
    let (bytes, items) = one.total().await.expect("counted");
    let files = folder.kept();
    assert_eq!((bytes, items), (files.values().map(|b| b.len() as u64).sum(), files.len() as u64));
    folder.check_names();
}

#[tokio::test]
async fn a_folder_that_was_taken_away_is_made_anew() {
    let folder = TestStore::new("away");
    let blobs = BlobStore::at(&folder.0, BlobStoreSettings::default());
    assert!(!folder.0.exists(), "not before it is needed");
    let stored = blobs.put(new("logs", "txt"), "one".into()).await.expect("kept");
    std::fs::remove_dir_all(&folder.0).expect("removed");
    assert_eq!(blobs.read(&stored.uri).await.expect_err("gone").reason().id, "mcp/UNKNOWN_RESOURCE");
    assert_eq!(
        blobs.put(new("logs", "txt"), "two".into()).await.expect_err("gone").reason().id,
        "shelf/TROUBLE"
    );
    let again = blobs.put(new("logs", "txt"), "two".into()).await.expect("kept");
    assert_eq!(blobs.read(&again.uri).await.expect("there").1, "two");
    assert!(blobs.read(&stored.uri).await.is_err());
}

#[tokio::test]
async fn missing_damaged_and_leftover_files_are_repaired() {
    let folder = TestStore::new("meddled");
    let blobs = folder.blobs(BlobStoreSettings::default());
    let mut uris = Vec::new();
    for text in ["gone", "torn", "left"] {
        uris.push(blobs.put(new("logs", "txt"), text.into()).await.expect("kept").uri);
    }
    let path = |uri: &str| folder.0.join("kept").join(uri.trim_start_matches("resource://"));
    std::fs::remove_file(path(&uris[0])).expect("removed");
    std::fs::write(path(&uris[1]), "to").expect("torn");
    let stranger = folder.0.join("kept/logs").join(format!("{}.txt", support::hash(b"stranger")));
    std::fs::write(&stranger, "stranger").expect("written");
    let foreign = folder.0.join("kept/logs/README");
    std::fs::write(&foreign, "not ours").expect("written");
    for uri in &uris[..2] {
        assert_eq!(blobs.read(uri).await.expect_err("gone").reason().id, "mcp/UNKNOWN_RESOURCE");
    }
    blobs.sweep().await.expect("swept");
    assert_eq!(blobs.total().await.expect("counted"), (4, 1));
    assert!(!stranger.exists() && !path(&uris[1]).exists() && foreign.exists());
    assert_eq!(blobs.read(&uris[2]).await.expect("there").1, "left");
    // Uploaded again, the file is complete again.
    let again = blobs.put(new("logs", "txt"), "torn".into()).await.expect("kept");
    assert_eq!(blobs.read(&again.uri).await.expect("there").1, "torn");
    drop(blobs);
    let blobs = folder.blobs(BlobStoreSettings::default());
    assert_eq!(blobs.total().await.expect("counted"), (8, 2));
}
