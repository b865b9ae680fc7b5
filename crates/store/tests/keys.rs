//! API keys in a real file, opened by two handles at once.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may stop at the first surprise")]

#[path = "support/temp_folder.rs"]
mod temp_folder;

use failwell_fault::Secret;
use failwell_policy::KeyHash;
use failwell_store::SqliteKeys;
use failwell_store::{AddKeyResult, ApiKey, KeyStore, RevokeKeyResult, create_first_key, generate_key};
use temp_folder::TempFolder;

fn made(id: &str, name: &str, roles: &[&str], expires_ms: Option<i64>) -> ApiKey {
    ApiKey {
        id: id.to_owned(),
        name: name.to_owned(),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        made_by: "key:admin".to_owned(),
        created_ms: 1,
        expires_ms,
    }
}

fn hash(text: &str) -> KeyHash {
    KeyHash::new(&Secret::new(text.to_owned()))
}

#[tokio::test]
async fn keys_last_longer_than_the_program_and_are_nowhere_in_the_file() {
    let folder = TempFolder::new();
    let key = generate_key().expect("a key");
    let keys = SqliteKeys::in_folder(&folder.0);
    let added = keys.add(&made("1", "ci", &["developer", "writer"], None), KeyHash::new(&key)).await;
    assert_eq!(added.expect("added"), AddKeyResult::Done);
    let again = SqliteKeys::in_folder(&folder.0);
    let holder = again.holder(KeyHash::new(&key)).await.expect("read").expect("there");
    assert!(holder.to_string() == "key:ci" && holder.is_in("developer") && holder.is_in("writer"));
    assert!(again.holder(hash("fw_other")).await.expect("read").is_none());
    for entry in std::fs::read_dir(&folder.0).expect("the folder") {
        let path = entry.expect("an entry").path();
        let bytes = std::fs::read(&path).expect("a file");
        let found = bytes.windows(key.expose().len()).any(|window| window == key.expose().as_bytes());
        assert!(!found, "{}", path.display());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&path).expect("metadata").permissions().mode();
            assert_eq!(mode & 0o077, 0, "{}", path.display());
        }
    }
}

#[tokio::test]
async fn names_are_unique_and_what_is_taken_back_opens_nothing() {
    let folder = TempFolder::new();
    let (keys, other) = (SqliteKeys::in_folder(&folder.0), SqliteKeys::in_folder(&folder.0));
    assert_eq!(keys.add(&made("1", "a", &[], None), hash("1")).await.expect("added"), AddKeyResult::Done);
    assert_eq!(other.add(&made("2", "a", &[], None), hash("2")).await.expect("asked"), AddKeyResult::Taken);
    assert!(matches!(other.revoke("1").await.expect("asked"), RevokeKeyResult::Done(key) if key.name == "a"));
    assert!(keys.holder(hash("1")).await.expect("read").is_none());
    assert_eq!(keys.revoke("1").await.expect("asked"), RevokeKeyResult::Unknown);
    assert_eq!(keys.add(&made("3", "a", &[], None), hash("3")).await.expect("added"), AddKeyResult::Done);
}

#[tokio::test]
async fn an_expired_key_is_none_and_makes_room_for_its_name() {
    let folder = TempFolder::new();
    let keys = SqliteKeys::in_folder(&folder.0);
    keys.add(&made("1", "a", &[], Some(1_000)), hash("1")).await.expect("added");
    assert!(keys.holder(hash("1")).await.expect("read").is_none());
    assert!(keys.all().await.expect("read").is_empty());
    assert_eq!(keys.revoke("1").await.expect("asked"), RevokeKeyResult::Unknown);
    assert_eq!(keys.add(&made("2", "a", &[], None), hash("2")).await.expect("added"), AddKeyResult::Done);
}

#[tokio::test]
async fn there_is_one_first_key_and_the_last_admin_stays() {
    let folder = TempFolder::new();
    let stores: Vec<SqliteKeys> = (0..4).map(|_| SqliteKeys::in_folder(&folder.0)).collect();
    let mut firsts = Vec::new();
    for keys in &stores {
        firsts.extend(create_first_key(keys).await.expect("asked"));
    }
    let [first] = firsts.as_slice() else { panic!("{} first keys", firsts.len()) };
    let keys = &stores[0];
    assert!(
        keys.holder(KeyHash::new(first)).await.expect("read").is_some_and(|holder| holder.is_in("admin"))
    );
    let all = keys.all().await.expect("read");
    assert_eq!(keys.revoke(&all[0].id).await.expect("asked"), RevokeKeyResult::LastAdmin);
    let far = Some(i64::MAX);
    keys.add(&made("2", "for a while", &["admin"], far), hash("2")).await.expect("added");
    assert_eq!(keys.revoke(&all[0].id).await.expect("asked"), RevokeKeyResult::LastAdmin, "that one expires");
    keys.add(&made("3", "b", &["admin"], None), hash("3")).await.expect("added");
    assert!(matches!(keys.revoke(&all[0].id).await.expect("asked"), RevokeKeyResult::Done(_)));
    assert!(create_first_key(keys).await.expect("asked").is_none(), "never again");
}

#[tokio::test]
async fn a_file_that_cannot_be_read_opens_nothing() {
    let folder = TempFolder::new();
    std::fs::create_dir_all(folder.0.join(SqliteKeys::FILE)).expect("in the way");
    let keys = SqliteKeys::in_folder(&folder.0);
    let fault = keys.holder(hash("1")).await.expect_err("no verdict");
    assert_eq!(fault.reason().id, "policy/KEYS_AWAY");
}
