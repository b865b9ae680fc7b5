//! Every limit is enforced, and the fault names it.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test stops where it fails")]

mod support;

use std::time::Duration;

use bytes::Bytes;
use failwell_fault::Fact;
use failwell_store::blob_store::{BlobStoreSettings, NewFile};
use support::{TestStore, new};

fn bytes(count: usize, fill: u8) -> Bytes {
    vec![fill; count].into()
}

#[tokio::test]
async fn one_may_be_so_large() {
    let folder = TestStore::new("large");
    let blobs = folder.blobs(BlobStoreSettings { largest: 1_000, ..BlobStoreSettings::default() });
    blobs.put(new("logs", "txt"), bytes(1_000, 1)).await.expect("as large as may be");
    let refused = blobs.put(new("logs", "txt"), bytes(1_001, 2)).await.expect_err("too large");
    assert_eq!(refused.to_string(), "the resource has 1001 bytes or more; the limit is 1000 bytes");
    let mut deposit = blobs.begin(new("logs", "txt")).await.expect("begun");
    deposit.write(bytes(600, 3)).await.expect("taken");
    deposit.write(bytes(600, 3)).await.expect("taken");
    assert_eq!(deposit.finish().await.expect_err("too large").reason().id, "shelf/TOO_LARGE");
    assert_eq!((folder.check_names(), folder.incoming().len()), (1, 0));
}

#[tokio::test]
async fn all_together_may_be_so_large_and_what_expired_goes_first() {
    let folder = TestStore::new("quota");
    let settings =
        BlobStoreSettings { most_bytes: 1_000, sweep: Duration::from_secs(3_600), ..Default::default() };
    let blobs = folder.blobs(settings);
    let brief = NewFile { ttl: Some(Duration::ZERO), ..new("logs", "txt") };
    blobs.put(brief.clone(), bytes(300, 1)).await.expect("kept");
    blobs.put(brief, bytes(301, 2)).await.expect("kept");
    let stays = blobs.put(new("logs", "txt"), bytes(200, 3)).await.expect("kept");
    // Only as many expired resources as needed are deleted; here all are needed.
    blobs.put(new("logs", "txt"), bytes(600, 4)).await.expect("room was made");
    assert_eq!(blobs.total().await.expect("counted"), (800, 2));
    let full = blobs.put(new("logs", "txt"), bytes(201, 5)).await.expect_err("full");
    assert_eq!(full.to_string(), "the resource has 201 bytes; 200 of 1000 bytes are free");
    assert_eq!(full.get("free"), Some(&Fact::from(200u64)));
    blobs.put(new("logs", "txt"), bytes(600, 4)).await.expect("what is there takes no room");
    blobs.remove(&stays.uri).await.expect("removed");
    blobs.put(new("logs", "txt"), bytes(201, 5)).await.expect("room again");
    assert_eq!((folder.check_names(), folder.incoming().len()), (2, 0));
    // The limits change at run time.
    assert!(blobs.set(BlobStoreSettings { most_bytes: 801, ..(*blobs.settings()).clone() }));
    assert_eq!(blobs.put(new("a", "txt"), bytes(1, 6)).await.expect_err("full").reason().id, "shelf/FULL");
}

#[tokio::test]
async fn there_may_be_so_many() {
    let folder = TestStore::new("many");
    let blobs = folder.blobs(BlobStoreSettings { most_items: 2, ..BlobStoreSettings::default() });
    for fill in 0..2 {
        blobs.put(new("logs", "txt"), bytes(10, fill)).await.expect("kept");
    }
    let crowded = blobs.put(new("logs", "txt"), bytes(10, 2)).await.expect_err("too many");
    assert_eq!(crowded.to_string(), "2 resources are stored; the limit is 2");
}

#[tokio::test]
async fn so_many_may_be_brought_at_once() {
    let folder = TestStore::new("deposits");
    let blobs =
        folder.blobs(BlobStoreSettings { most_deposits: 2, most_bytes: 500_000, ..Default::default() });
    let mut first = blobs.receive().await.expect("begun");
    let mut second = blobs.receive().await.expect("begun");
    let third = blobs.receive().await.expect_err("one too many");
    assert_eq!(third.reason().id, "server/BUSY");
    // Uploads in progress have a separate quota of the same size.
    first.write(bytes(300_000, 1)).await.expect("taken");
    assert_eq!(second.write(bytes(300_000, 2)).await.expect_err("full").reason().id, "shelf/FULL");
    drop(second);
    let mut third = blobs.receive().await.expect("room again");
    third.write(bytes(100_000, 3)).await.expect("taken");
    first.finish_as(new("logs", "txt")).await.expect("kept");
    third.finish_as(new("logs", "txt")).await.expect("kept");
    assert_eq!((folder.check_names(), folder.incoming().len()), (2, 0));
}
