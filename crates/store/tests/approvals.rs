//! Approval requests, decisions and their use, from several handles of one file at the same time.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

#[path = "support/temp_folder.rs"]
mod temp_folder;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_fault::Ref;
use failwell_rpc::Caller;
use failwell_rpc::{Json, Limits};
use failwell_store::{
    ApprovalOutcome, ApprovalRequest, ApprovalStore, ApproverAnswer, DecideResult, Decision,
};
use failwell_store::{ConsentFile, SqliteApprovals};
use temp_folder::TempFolder;

/// A handle, as another process would open it.
fn handle(folder: &TempFolder) -> SqliteApprovals {
    SqliteApprovals::new(&ConsentFile::in_folder(&folder.0), "here")
}

const HOUR: Duration = Duration::from_secs(3_600);

fn petition(caller: &str, tool: &str, arguments: &str, expires: Duration) -> Arc<ApprovalRequest> {
    let caller = Caller::keyholder(caller);
    let json = Json::read(arguments, &Limits::default()).expect("JSON");
    Arc::new(ApprovalRequest {
        reference: Ref::fresh(),
        caller: caller.name().to_string(),
        server: "files".to_owned(),
        tool: tool.to_owned(),
        shown: arguments.to_owned(),
        binding: ApprovalRequest::binding(&caller, "files", tool, &json),
        expires,
    })
}

async fn seek(approvals: &SqliteApprovals, caller: &str, tool: &str, arguments: &str) -> ApprovalOutcome {
    approvals.claim(petition(caller, tool, arguments, HOUR)).await.expect("it can be asked")
}

async fn open(approvals: &SqliteApprovals, arguments: &str) -> String {
    match seek(approvals, "ann", "write", arguments).await {
        ApprovalOutcome::Open(id) => id,
        other => panic!("{other:?}"),
    }
}

fn approve(approvals: &SqliteApprovals, id: &str) {
    let decided = approvals.answer(id, Decision::Approve, "terminal:0", None).expect("it can be answered");
    assert!(matches!(decided, DecideResult::Done(_)), "{decided:?}");
}

#[tokio::test]
async fn a_yes_is_for_one_call_of_one_caller_with_these_arguments() {
    let folder = TempFolder::new();
    let (gateway, terminal) = (handle(&folder), handle(&folder));
    let id = open(&gateway, r#"{"path":"/x","n":18446744073709551616}"#).await;
    assert_eq!(
        open(&gateway, r#"{ "n": 18446744073709551616, "path": "\u002fx" }"#).await,
        id,
        "one question"
    );
    approve(&terminal, &id);
    for (caller, tool, arguments) in [
        ("bob", "write", r#"{"path":"/x","n":18446744073709551616}"#),
        ("ann", "write", r#"{"path":"/y","n":18446744073709551616}"#),
        ("ann", "write", r#"{"path":"/x","n":18446744073709551617}"#),
        ("ann", "write", r#"{"path":"/x","n":18446744073709551616,"m":null}"#),
        ("ann", "writ", r#"{"path":"/x","n":18446744073709551616}"#),
    ] {
        let standing = seek(&gateway, caller, tool, arguments).await;
        assert!(
            matches!(&standing, ApprovalOutcome::Open(other) if *other != id),
            "{caller} {tool} {arguments}: {standing:?}"
        );
    }
    let reordered = r#"{"n":18446744073709551616,"path":"/x"}"#;
    let by = "terminal:0".to_owned();
    let given = ApproverAnswer { id: id.clone(), by, reason: None };
    assert_eq!(seek(&gateway, "ann", "write", reordered).await, ApprovalOutcome::Granted(given));
    assert_ne!(open(&gateway, reordered).await, id, "it is used up");
    assert_eq!(terminal.read(&id).expect("read").expect("known").state, "used");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_calls_at_once_one_runs() {
    let folder = TempFolder::new();
    let id = open(&handle(&folder), "{}").await;
    approve(&handle(&folder), &id);
    let calls: Vec<_> = (0..16)
        .map(|_| {
            let approvals = handle(&folder);
            tokio::spawn(async move { seek(&approvals, "ann", "write", "{}").await })
        })
        .collect();
    let mut granted = 0;
    for call in calls {
        granted += usize::from(matches!(call.await.expect("ran"), ApprovalOutcome::Granted(_)));
    }
    assert_eq!(granted, 1);
}

#[tokio::test]
async fn questions_and_answers_expire() {
    let folder = TempFolder::new();
    let approvals = handle(&folder);
    let late = approvals.claim(petition("ann", "write", "{}", Duration::ZERO)).await.expect("asked");
    let ApprovalOutcome::Open(late) = late else { panic!("{late:?}") };
    let settled = approvals.answer(&late, Decision::Approve, "x", None).expect("read");
    assert_eq!(settled, DecideResult::Settled("expired"));
    assert_ne!(open(&approvals, "{}").await, late, "it is asked anew");

    let short = petition("ann", "other", "{}", Duration::from_secs(2));
    let ApprovalOutcome::Open(id) = approvals.claim(short.clone()).await.expect("asked") else {
        panic!("open")
    };
    approve(&approvals, &id);
    let began = Instant::now();
    while approvals.read(&id).expect("read").expect("known").state != "expired" {
        assert!(began.elapsed() < Duration::from_secs(30), "it never expires");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let standing = approvals.claim(short).await.expect("asked");
    assert!(matches!(&standing, ApprovalOutcome::Open(other) if *other != id), "{standing:?}");
}

#[tokio::test]
async fn a_no_stands_and_an_answer_is_given_once() {
    let folder = TempFolder::new();
    let approvals = handle(&folder);
    let id = open(&approvals, "{}").await;
    let denied = approvals.answer(&id, Decision::Deny, "key:boss", Some("never")).expect("answered");
    let DecideResult::Done(denied) = denied else { panic!("{denied:?}") };
    assert_eq!((denied.state, denied.reason.as_deref()), ("denied", Some("never")));
    let refused = ApprovalOutcome::Refused(ApproverAnswer {
        id: id.clone(),
        by: "key:boss".into(),
        reason: Some("never".into()),
    });
    assert_eq!(seek(&approvals, "ann", "write", "{}").await, refused);
    assert_eq!(
        approvals.answer(&id, Decision::Approve, "x", None).expect("read"),
        DecideResult::Settled("denied")
    );
    for forged in ["0000000000000", "", "' OR 1=1 --", "../x"] {
        assert_eq!(
            approvals.answer(forged, Decision::Approve, "x", None).expect("read"),
            DecideResult::Unknown,
            "{forged}"
        );
        assert_eq!(approvals.read(forged).expect("read"), None);
    }
}

#[tokio::test]
async fn what_was_not_called_is_given_back() {
    let folder = TempFolder::new();
    let approvals = handle(&folder);
    let id = open(&approvals, "{}").await;
    approve(&approvals, &id);
    assert!(matches!(seek(&approvals, "ann", "write", "{}").await, ApprovalOutcome::Granted(_)));
    approvals.restore(&id).await.expect("given back");
    assert!(matches!(seek(&approvals, "ann", "write", "{}").await, ApprovalOutcome::Granted(_)));
    let other = open(&approvals, "[]").await;
    approvals.restore(&other).await.expect("nothing to give");
    assert_eq!(
        approvals.read(&other).expect("read").expect("known").state,
        "pending",
        "only a yes comes back"
    );
}

#[tokio::test]
async fn a_caller_cannot_fill_the_queue_for_others() {
    let folder = TempFolder::new();
    let approvals = handle(&folder);
    for number in 0..100 {
        assert!(matches!(
            seek(&approvals, "ann", "write", &format!("[{number}]")).await,
            ApprovalOutcome::Open(_)
        ));
    }
    assert_eq!(seek(&approvals, "ann", "write", "[100]").await, ApprovalOutcome::Full { limit: 100 });
    assert!(
        matches!(seek(&approvals, "ann", "write", "[99]").await, ApprovalOutcome::Open(_)),
        "those that wait still do"
    );
    assert!(matches!(seek(&approvals, "bob", "write", "[100]").await, ApprovalOutcome::Open(_)));
}

#[tokio::test]
async fn gateways_that_share_a_folder_do_not_share_answers() {
    let folder = TempFolder::new();
    let store = ConsentFile::in_folder(&folder.0);
    let (one, other, all) = (
        SqliteApprovals::new(&store, "one"),
        SqliteApprovals::new(&store, "other"),
        SqliteApprovals::all_gateways(&store),
    );
    let id = open(&one, "{}").await;
    assert_eq!(other.answer(&id, Decision::Approve, "x", None).expect("read"), DecideResult::Unknown);
    approve(&all, &id);
    assert!(matches!(seek(&other, "ann", "write", "{}").await, ApprovalOutcome::Open(_)));
    assert!(matches!(seek(&one, "ann", "write", "{}").await, ApprovalOutcome::Granted(_)));
    assert_eq!((one.read_all().expect("read").len(), all.read_all().expect("read").len()), (1, 2));
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempFolder::new();
    let approvals = handle(&folder);
    open(&approvals, "{}").await;
    let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&folder.0), 0o700);
    for file in std::fs::read_dir(&folder.0).expect("a folder").map(|file| file.expect("a file").path()) {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_no_yes() {
    let nowhere = SqliteApprovals::new(&ConsentFile::in_folder(Path::new("/proc/failwell/cannot/be")), "");
    let fault = nowhere.claim(petition("ann", "write", "{}", HOUR)).await.expect_err("no place");
    assert_eq!(fault.reason().id, "policy/UNDECIDED");
    let folder = TempFolder::new();
    std::fs::create_dir_all(&folder.0).expect("a folder");
    std::fs::write(folder.0.join(ConsentFile::FILE), "this is no database, whatever it says".repeat(50))
        .expect("written");
    let fault = handle(&folder).claim(petition("ann", "write", "{}", HOUR)).await.expect_err("no database");
    assert_eq!(fault.reason().id, "policy/UNDECIDED");
}
