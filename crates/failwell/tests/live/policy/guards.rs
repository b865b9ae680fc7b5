//! Content guards in the real program: their ledger records, and a change of guards at run time.

use serde_json::json;

use crate::ledger::story;
use crate::setup::folder::{Folder, upstream};
use crate::setup::node::Node;

fn token() -> String {
    format!("ghp_{}", "x7Rk2mPq9WvL4tZs8NcY".repeat(2).get(..36).expect("enough"))
}

#[test]
fn the_story_has_every_verdict_and_what_was_found_but_not_the_content() {
    let guards = "[guard.secrets]\naction = \"block\"\n[guard.pii]\naction = \"audit_only\"\n";
    let folder = Folder::with(&format!("{}{guards}", upstream("a", "")));
    let node = Node::up(&folder, &[]);
    let text = format!("for ann@example.org: {}", token());
    let blocked = node.tool("a__variable", json!({"name": text}));
    assert_eq!(blocked.reason(), "policy/BLOCKED");
    let story = story(&folder, &blocked);
    for part in [
        "secrets on the request: block: github_token at ",
        "pii on the request: audit_only: email at ",
        "secrets on the error: pass",
        "pii on the error: pass",
    ] {
        assert!(story.contains(part), "{part} is missing: {story}");
    }
    assert!(!story.contains("injection on"), "a guard that is off says nothing: {story}");
    assert!(!story.contains(&token()), "{story}");
}

#[test]
fn other_guards_watch_once_the_file_says_so() {
    let server = upstream("a", "");
    let folder = Folder::with(&format!("{server}[guard.secrets]\naction = \"audit_only\"\n"));
    let node = Node::up(&folder, &[]);
    let call = || node.tool("a__variable", json!({"name": token()}));
    assert_eq!(call().status, 200);
    folder.save(&format!("{server}[guard.secrets]\naction = \"block\"\n"));
    node.waits_for("failwell.toml was read again: guards changed; ", 1);
    assert_eq!(call().reason(), "policy/BLOCKED");
    folder.save(&format!("{server}[guard.secrets]\naction = \"audit_only\"\n"));
    node.waits_for("failwell.toml was read again: guards changed; ", 2);
    assert_eq!(call().status, 200);
    assert!(!node.journal().contains(&token()), "{}", node.journal());
}
