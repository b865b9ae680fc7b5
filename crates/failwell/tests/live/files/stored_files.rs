//! The blob store of the real program: expiry, limits, a full disk, and kills of the program.

use std::collections::HashSet;
use std::io::Write;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use super::forms::{begin, form, get, incoming, keep, kept, try_upload, upload};
use crate::ledger::records_once;
use crate::setup::folder::Folder;
use crate::setup::node::{Node, within};

const DEMO: &str = "servers = [\"lobby\"]\n";

#[test]
fn time_and_quota_hold_and_can_change_while_it_runs() {
    let folder =
        Folder::with(&format!("{DEMO}[shelf]\nmax_bytes = 3000\nmax_upload_bytes = 2000\nmax_items = 3\n"));
    let node = Node::up(&folder, &[]);
    let brief =
        upload(&node, &[("type", None, b"notes"), ("file", Some("a.txt"), b"brief"), ("ttl", None, b"1")]);
    let brief = format!("/v1/resources/{}", brief.json()["uri"].as_str().expect("a URI"));
    assert!(within(Duration::from_secs(30), || get(&node, &brief, &[]).0.status == 404));
    keep(&node, "notes", "b.bin", &[1; 2_000]);
    let full = upload(&node, &[("type", None, b"notes"), ("file", Some("c.bin"), &[2; 1_500])]);
    assert_eq!((full.status, full.reason().as_str()), (413, "shelf/FULL"));
    let facts = &full.json()["detail"]["facts"];
    assert_eq!((&facts["size"], &facts["free"], &facts["limit"]), (&json!(1500), &json!(1000), &json!(3000)));
    keep(&node, "notes", "d.bin", &[3; 10]);
    keep(&node, "notes", "e.bin", &[4; 10]);
    let crowded = upload(&node, &[("type", None, b"notes"), ("file", Some("f.bin"), &[5; 10])]);
    assert_eq!((crowded.status, crowded.reason().as_str()), (413, "shelf/CROWDED"));
    folder.save(&format!("{DEMO}[shelf]\nmax_items = 4\n"));
    node.waits_for("shelf read again", 1);
    keep(&node, "notes", "f.bin", &[5; 10]);
    // A change of the folder needs a restart.
    folder.save(&format!("{DEMO}[shelf]\nfolder = \"elsewhere\"\n"));
    node.waits_for("`shelf.folder` cannot change while failwell runs", 1);
    assert_eq!((kept(&folder).len(), incoming(&folder)), (4, 0));
}

#[test]
fn an_upload_that_is_cut_off_leaves_nothing() {
    let folder = Folder::with(DEMO);
    let node = Node::up(&folder, &[]);
    let body = form(&[("type", None, b"notes"), ("file", Some("a.bin"), &vec![9; 900_000])]);
    let mut stream = begin(&node, body.len()).expect("begun");
    stream.write_all(&body[..600_000]).expect("sent");
    assert!(within(Duration::from_secs(30), || incoming(&folder) == 1), "it is being written");
    drop(stream);
    assert!(within(Duration::from_secs(30), || incoming(&folder) == 0), "it is gone");
    assert!(kept(&folder).is_empty());
    records_once(&folder, &["--limit", "100"], |all| {
        all.iter().any(|record| {
            record["method"] == "resources/upload"
                && ["shelf/CUT_OFF", "server/CANCELLED"].iter().any(|reason| record["reason"] == *reason)
        })
    });
}

/// A file size limit behaves like a full disk: writes beyond it fail.
#[test]
fn a_full_disk_removes_the_partial_file_and_leaves_stored_ones() {
    let folder = Folder::with(DEMO);
    let mut command = Command::new("sh");
    let script = "trap '' XFSZ; ulimit -f 1000; exec \"$0\" up --listen 127.0.0.1:0";
    command.args(["-c", script, env!("CARGO_BIN_EXE_failwell")]);
    let node = Node::start(command, &folder);
    let small = keep(&node, "notes", "a.bin", &[1; 1_000]);
    for _ in 0..3 {
        let full = upload(&node, &[("type", None, b"notes"), ("file", Some("b.bin"), &vec![2; 3_000_000])]);
        assert_eq!((full.status, full.reason().as_str()), (503, "shelf/DISK_FULL"), "{full:?}");
        assert_eq!(full.json()["error_code"], -32603);
    }
    assert!(within(Duration::from_secs(30), || incoming(&folder) == 0));
    assert_eq!(get(&node, &format!("/v1/resources/{small}"), &[]).1, [1; 1_000]);
    keep(&node, "notes", "c.bin", &[3; 1_000]);
    assert_eq!(kept(&folder).len(), 2);
}

#[test]
fn killed_in_the_middle_of_uploads_it_keeps_what_it_promised() {
    let folder = Folder::with(DEMO);
    let promised: Arc<Mutex<HashSet<String>>> = Arc::default();
    for round in 0..3u8 {
        let mut node = Node::up(&folder, &[]);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for writer in 0..4u8 {
                let (node, over, promised) = (&node, &over, promised.clone());
                scope.spawn(move || {
                    for number in 0u32.. {
                        if over.load(Ordering::Relaxed) {
                            return;
                        }
                        let mut bytes = vec![writer ^ round; 700_000];
                        bytes.extend_from_slice(&number.to_le_bytes());
                        let parts = [("type", None, &b"runs"[..]), ("file", Some("r.bin"), &bytes[..])];
                        let Some(answer) = try_upload(node, &form(&parts)) else { return };
                        // A truncated response promises nothing.
                        if let Ok(json) = serde_json::from_str::<serde_json::Value>(&answer.body)
                            && let Some(uri) = json["uri"].as_str()
                        {
                            promised.lock().expect("a list").insert(uri.to_owned());
                        }
                    }
                });
            }
            let before = promised.lock().expect("a list").len();
            let enough = || promised.lock().expect("a list").len() > before + 5 && incoming(&folder) > 0;
            assert!(within(Duration::from_secs(60), enough), "{}", node.journal());
            node.signal("-KILL");
            over.store(true, Ordering::Relaxed);
        });
        node.kill();
        kept(&folder);
    }
    let node = Node::up(&folder, &[]);
    let listed = get(&node, "/v1/resources?limit=1000", &[]).0.json();
    let listed = listed["resources"].as_array().expect("a list").iter();
    let listed: HashSet<String> = listed.filter_map(|item| item["uri"].as_str().map(str::to_owned)).collect();
    let on_disk: HashSet<String> = kept(&folder).into_iter().collect();
    assert_eq!(listed, on_disk, "every file has its row, and every row its file");
    let promised = promised.lock().expect("a list");
    assert!(promised.is_subset(&on_disk), "{:?}", promised.difference(&on_disk));
    assert_eq!(incoming(&folder), 0, "what was being written is gone");
    for uri in promised.iter().take(10) {
        assert_eq!(get(&node, &format!("/v1/resources/{uri}"), &[]).1.len(), 700_004);
    }
}

#[test]
fn two_programs_share_a_folder() {
    let folder = Folder::with(DEMO);
    let (one, other) = (Node::up(&folder, &[]), Node::up(&folder, &[]));
    let uri = keep(&one, "notes", "a.txt", b"shared");
    let at = format!("/v1/resources/{uri}");
    assert_eq!(get(&other, &at, &[]).1, b"shared");
    std::thread::scope(|scope| {
        for node in [&one, &other] {
            scope.spawn(move || (0..20u8).for_each(|n| drop(keep(node, "notes", "n.bin", &[n; 5_000]))));
        }
    });
    assert_eq!(kept(&folder).len(), 21);
    assert_eq!(other.send("DELETE", &at, &[], "").status, 204);
    assert_eq!(get(&one, &at, &[]).0.status, 404);
    // A third node that starts and stops removes nothing.
    drop(Node::up(&folder, &[]));
    assert_eq!((kept(&folder).len(), incoming(&folder)), (20, 0));
}
