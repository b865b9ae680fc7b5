//! Resources can be read completely and in ranges, listed, edited and removed, and they expire.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test stops where it fails")]

mod support;

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use failwell_store::blob_store::{BlobStoreSettings, ListFilter, NewFile, ResourceType, StoreChange};
use serde_json::json;
use support::{TestStore, hash, new};

#[tokio::test]
async fn bytes_are_stored_under_their_hash() {
    let folder = TestStore::new("hash");
    let blobs = folder.blobs(BlobStoreSettings::default());
    let stored = blobs.put(new("screenshots", "png"), Bytes::from_static(b"pixels")).await.expect("kept");
    assert_eq!(stored.uri, format!("resource://screenshots/{}.png", hash(b"pixels")));
    assert_eq!(
        (stored.size, stored.media_type, stored.sha256.as_str()),
        (6, "image/png", hash(b"pixels").as_str())
    );
    let (again, bytes) = blobs.read(&stored.uri).await.expect("there");
    assert_eq!((again, &bytes[..]), (stored.clone(), &b"pixels"[..]));
    let unknown = blobs.read("resource://screenshots/abcd1234.png").await.expect_err("unknown");
    assert_eq!(unknown.to_string(), "Resource not found: resource://screenshots/abcd1234.png");
    // An empty resource.
    let empty = blobs.put(new("logs", "txt"), Bytes::new()).await.expect("kept");
    assert!(blobs.read(&empty.uri).await.expect("there").1.is_empty());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for (path, mode) in [
            (folder.0.clone(), 0o700),
            (folder.0.join("kept/screenshots"), 0o700),
            (folder.0.join(format!("kept/screenshots/{}.png", hash(b"pixels"))), 0o600),
            (folder.0.join("index.sqlite"), 0o600),
        ] {
            let found = std::fs::metadata(&path).expect("there").permissions().mode() & 0o777;
            assert_eq!(found, mode, "{}", path.display());
        }
    }
}

#[tokio::test]
async fn the_same_bytes_are_one_resource() {
    let folder = TestStore::new("same");
    let blobs = folder.blobs(BlobStoreSettings::default());
    let file = |ttl: u64, metadata: serde_json::Value| NewFile {
        ttl: Some(Duration::from_secs(ttl)),
        metadata: metadata.as_object().cloned().expect("an object"),
        ..new("logs", "txt")
    };
    let first = blobs.put(file(500, json!({"a": 1, "b": 2})), "same".into()).await.expect("kept");
    let second = blobs.put(file(100, json!({"b": 3, "c": 4})), "same".into()).await.expect("kept");
    assert_eq!((&first.uri, first.expires), (&second.uri, second.expires), "the longer time holds");
    assert_eq!(serde_json::Value::from(second.metadata), json!({"a": 1, "b": 3, "c": 4}));
    assert_eq!(blobs.total().await.expect("counted"), (4, 1));
    let other = blobs.put(new("notes", "txt"), "same".into()).await.expect("kept");
    assert_ne!(other.uri, first.uri);
    assert_eq!(blobs.total().await.expect("counted"), (8, 2));
    assert_eq!(folder.check_names(), 2);
}

#[tokio::test]
async fn pieces_come_together_or_not_at_all() {
    let folder = TestStore::new("pieces");
    let blobs = folder.blobs(BlobStoreSettings::default());
    let whole: Vec<u8> = (0..700_000u32).map(|n| (n % 251) as u8).collect();
    let mut deposit = blobs.begin(new("videos", "mp4")).await.expect("begun");
    for piece in whole.chunks(70_001) {
        deposit.write(Bytes::copy_from_slice(piece)).await.expect("taken");
    }
    let stored = deposit.finish().await.expect("kept");
    assert_eq!(stored.sha256, hash(&whole));
    let mut dropped = blobs.receive().await.expect("begun");
    dropped.write(Bytes::from(whole.clone())).await.expect("taken");
    assert_eq!(folder.incoming().len(), 1);
    drop(dropped);
    assert_eq!(folder.incoming(), Vec::<String>::new());
    // The type is given at the end of the upload.
    let mut late = blobs.receive().await.expect("begun");
    late.write(Bytes::from_static(b"late")).await.expect("taken");
    assert_eq!(late.finish_as(new("notes", "txt")).await.expect("kept").sha256, hash(b"late"));
    assert_eq!((folder.check_names(), folder.incoming().len()), (2, 0));

    let mut all = Vec::new();
    let mut fetched = blobs.fetch(&stored.uri).await.expect("open");
    blobs.remove(&stored.uri).await.expect("removed");
    while let Some(piece) = fetched.piece().await.expect("read although it is gone") {
        all.extend_from_slice(&piece);
    }
    assert_eq!(hash(&all), stored.sha256);
    assert!(blobs.fetch(&stored.uri).await.is_err());
}

#[tokio::test]
async fn parts_are_given_out() {
    let folder = TestStore::new("parts");
    let blobs = folder.blobs(BlobStoreSettings::default());
    let stored = blobs.put(new("logs", "txt"), "0123456789".into()).await.expect("kept");
    for (range, wanted) in [
        (0..10, Some("0123456789")),
        (3..5, Some("34")),
        (8..100, Some("89")),
        (9..10, Some("9")),
        (10..11, None),
        (100..200, None),
        (5..5, None),
    ] {
        let part = blobs.fetch(&stored.uri).await.expect("open").only(range.clone());
        let found = match part {
            Ok(mut part) => part.piece().await.expect("read").map(|bytes| bytes.to_vec()),
            Err(fault) => {
                assert_eq!(fault.reason().id, "shelf/RANGE");
                None
            }
        };
        assert_eq!(found.as_deref(), wanted.map(str::as_bytes), "{range:?}");
    }
}

#[tokio::test]
async fn lists_have_pages() {
    let folder = TestStore::new("pages");
    let blobs = folder.blobs(BlobStoreSettings::default());
    let mut uris = Vec::new();
    for number in 0..7 {
        let kind = if number % 2 == 0 { "even" } else { "odd" };
        uris.push(blobs.put(new(kind, "txt"), format!("{number}").into()).await.expect("kept").uri);
    }
    uris.reverse();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page =
            blobs.list(ListFilter { after, most: Some(3), ..ListFilter::default() }).await.expect("a page");
        seen.extend(page.items.into_iter().map(|stored| stored.uri));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, uris);
    let odd = ListFilter { kind: ResourceType::new("odd").ok(), ..ListFilter::default() };
    assert_eq!(blobs.list(odd).await.expect("a page").items.len(), 3);
    let foreign = ListFilter { after: Some("x' OR 1".to_owned()), ..ListFilter::default() };
    assert_eq!(blobs.list(foreign).await.expect_err("refused").reason().id, "mcp/BAD_CURSOR");
}

#[tokio::test]
async fn metadata_changes_and_everybody_hears_of_it() {
    let folder = TestStore::new("edit");
    let blobs = folder.blobs(BlobStoreSettings::default());
    let mut changes = blobs.changes();
    let stored = blobs.put(new("logs", "txt"), "x".into()).await.expect("kept");
    let object = |value: serde_json::Value| value.as_object().cloned().expect("an object");
    blobs.edit(&stored.uri, object(json!({"a": 1, "b": {"c": 2}}))).await.expect("edited");
    let edited = blobs.edit(&stored.uri, object(json!({"a": null, "d": "e"}))).await.expect("edited");
    assert_eq!(serde_json::Value::from(edited.metadata), json!({"b": {"c": 2}, "d": "e"}));
    let large = object(json!({"x": "y".repeat(20_000)}));
    assert_eq!(blobs.edit(&stored.uri, large).await.expect_err("refused").reason().id, "shelf/METADATA");
    blobs.remove(&stored.uri).await.expect("removed");
    assert!(blobs.remove(&stored.uri).await.is_err() && blobs.describe(&stored.uri).await.is_err());
    assert!(folder.kept().is_empty());
    let (uri, owner) = (|| stored.uri.clone(), || stored.owner.clone());
    for wanted in [
        StoreChange::Added(uri(), owner()),
        StoreChange::Updated(uri(), owner()),
        StoreChange::Updated(uri(), owner()),
        StoreChange::Removed(uri(), owner()),
    ] {
        assert_eq!(changes.recv().await.expect("told"), wanted);
    }
}

#[tokio::test]
async fn what_has_expired_is_gone() {
    let folder = TestStore::new("ttl");
    let sweep = Duration::from_millis(50);
    let blobs = folder.blobs(BlobStoreSettings {
        sweep,
        longest_ttl: Duration::from_secs(60),
        ..BlobStoreSettings::default()
    });
    let mut changes = blobs.changes();
    let brief = NewFile { ttl: Some(Duration::from_millis(300)), ..new("logs", "txt") };
    let brief = blobs.put(brief, "brief".into()).await.expect("kept");
    let long = NewFile { ttl: Some(Duration::from_secs(1_000_000)), ..new("logs", "txt") };
    let long = blobs.put(long, "long".into()).await.expect("kept");
    assert!(long.expires <= SystemTime::now() + Duration::from_secs(61), "no longer than the longest");
    // The sweeper announces the deletion.
    let gone = async {
        while changes.recv().await.expect("told")
            != StoreChange::Removed(brief.uri.clone(), brief.owner.clone())
        {}
    };
    tokio::time::timeout(Duration::from_secs(60), gone).await.expect("swept");
    assert!(SystemTime::now() >= brief.expires, "not before its time");
    assert!(blobs.read(&brief.uri).await.is_err() && blobs.read(&long.uri).await.is_ok());
    assert_eq!(folder.check_names(), 1);
}

#[tokio::test]
async fn what_has_expired_is_gone_before_the_sweeper_comes() {
    let folder = TestStore::new("unswept");
    let blobs =
        folder.blobs(BlobStoreSettings { sweep: Duration::from_secs(3_600), ..BlobStoreSettings::default() });
    let at_once = || NewFile { ttl: Some(Duration::ZERO), ..new("logs", "txt") };
    let stored = blobs.put(at_once(), "x".into()).await.expect("kept");
    assert_eq!(folder.kept().len(), 1);
    assert!(blobs.read(&stored.uri).await.is_err() && blobs.describe(&stored.uri).await.is_err());
    assert!(blobs.edit(&stored.uri, Default::default()).await.is_err());
    assert!(blobs.list(ListFilter::default()).await.expect("a page").items.is_empty());
    // Uploaded again, it is a new resource.
    let again = blobs.put(new("logs", "txt"), "x".into()).await.expect("kept");
    assert!(again.expires > SystemTime::now() && blobs.read(&again.uri).await.is_ok());
    assert_eq!(blobs.total().await.expect("counted"), (1, 1));
}
