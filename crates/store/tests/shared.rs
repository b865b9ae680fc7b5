//! Approvals and pins that several nodes share, with an image in memory instead of Redis.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test may stop at the first surprise")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use failwell_fault::{Fault, Ref, reason};
use failwell_rpc::{Caller, Json, Limits};
use failwell_store::{
    ApprovalOutcome, ApprovalRequest, ApprovalStore, ConsentFile, Decision, ListedItems, PinAdmin,
    PinSettings, SharedImage, SqliteApprovals, ToolPins, VersionedImage,
};

#[derive(Debug, Default)]
struct MemoryImage {
    now: Mutex<(u64, Vec<u8>)>,
    is_away: AtomicBool,
}

impl MemoryImage {
    fn check(&self) -> Result<(), Fault> {
        match self.is_away.load(Ordering::Relaxed) {
            true => Err(Fault::new(&reason::POLICY_UNDECIDED)),
            false => Ok(()),
        }
    }
}

impl SharedImage for MemoryImage {
    fn load(&self, known: u64) -> Result<Option<VersionedImage>, Fault> {
        self.check()?;
        let (version, bytes) = self.now.lock().expect("no panic").clone();
        Ok((version != known).then_some(VersionedImage { version, bytes }))
    }

    fn replace(&self, before: u64, bytes: &[u8]) -> Result<bool, Fault> {
        self.check()?;
        let mut now = self.now.lock().expect("no panic");
        if now.0 != before {
            return Ok(false);
        }
        *now = (before + 1, bytes.to_vec());
        Ok(true)
    }
}

fn request() -> Arc<ApprovalRequest> {
    let (caller, arguments) = (Caller::keyholder("a"), Json::empty_object());
    Arc::new(ApprovalRequest {
        reference: Ref::fresh(),
        caller: caller.name().to_string(),
        server: "files".to_owned(),
        tool: "write".to_owned(),
        shown: "{}".to_owned(),
        binding: ApprovalRequest::binding(&caller, "files", "write", &arguments),
        expires: Duration::from_secs(60),
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_nodes_uses_an_approval() {
    let image = Arc::new(MemoryImage::default());
    let nodes: Vec<SqliteApprovals> =
        (0..4).map(|_| SqliteApprovals::new(&ConsentFile::shared(image.clone()), "")).collect();
    let mut ids = Vec::new();
    for node in &nodes {
        match node.claim(request()).await.expect("a store") {
            ApprovalOutcome::Open(id) => ids.push(id),
            other => unreachable!("{other:?}"),
        }
    }
    ids.dedup();
    assert_eq!(ids.len(), 1, "every node asks the same question");
    nodes[3].decide(&ids[0], Decision::Approve, "boss", None).await.expect("a store");
    let claims: Vec<_> = (0..16).map(|turn| tokio::spawn(nodes[turn % 4].claim(request()))).collect();
    let mut granted = 0;
    for claim in claims {
        let outcome = claim.await.expect("no panic").expect("a store");
        granted += usize::from(matches!(outcome, ApprovalOutcome::Granted(_)));
    }
    assert_eq!(granted, 1);
    image.is_away.store(true, Ordering::Relaxed);
    assert!(nodes[0].claim(request()).await.is_err(), "every doubt counts as no approval");
}

async fn held(pins: &Arc<ToolPins>, text: &str) -> usize {
    let item = Json::read(text, &Limits::default()).expect("JSON");
    let items = vec![("read".to_owned(), item)];
    let listing = ListedItems { server: "files".to_owned(), era: "", kind: "tools", items };
    pins.check(listing).await.expect("it can be looked at").held.len()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pin_of_one_node_holds_on_all() {
    let image = Arc::new(MemoryImage::default());
    let node = || ToolPins::new(&ConsentFile::shared(image.clone()), "", PinSettings::default());
    let (first, second) = (node(), node());
    assert_eq!(held(&first, r#"{"d":"reads"}"#).await, 0, "pinned");
    assert_eq!(held(&second, r#"{"d":"sends"}"#).await, 1, "another definition on another node");
    image.is_away.store(true, Ordering::Relaxed);
    assert_eq!(held(&second, r#"{"d":"sends"}"#).await, 1, "as last known");
    assert_eq!(held(&second, r#"{"d":"reads"}"#).await, 0);
    image.is_away.store(false, Ordering::Relaxed);
    let admin = PinAdmin::new(&ConsentFile::shared(image.clone()), Some(String::new()));
    let pins = admin.all(None).expect("pins");
    admin.approve(&pins, "boss").expect("approved");
    assert!(first.has_changed().await && second.has_changed().await);
    assert_eq!(held(&first, r#"{"d":"sends"}"#).await, 0);
    *image.now.lock().expect("no panic") = (0, Vec::new());
    assert_eq!(held(&second, r#"{"d":"other"}"#).await, 1, "a node's copy outlives a lost image");
    assert!(image.now.lock().expect("no panic").0 > 0, "and is stored again");
}
