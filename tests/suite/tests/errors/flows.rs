//! Exchanges of more than one message.

mod access;
mod batches;
mod dialects;
mod duplicates;
mod handshake;
mod interruptions;
mod load;
mod process;
mod questions;
mod sessions;

use failwell_rpc::Revision;

use crate::case::{Expectation, Kind};
use crate::client::wire::Response;
use crate::judge;
use crate::received_message::ReceivedMessage;
use crate::world::World;

/// The revisions with sessions.
const SESSIONS: [Revision; 4] =
    [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];

/// Checks a refusal: status, code, reason, one line in the journal, and no private text.
fn refused(world: &World, response: &Response, (status, code, reason): (u16, i64, &str)) -> ReceivedMessage {
    let text = String::from_utf8_lossy(&response.body).into_owned();
    assert_eq!(response.status, status, "{text}");
    let seen = response.message();
    assert_eq!((seen.code(), seen.reason()), (Some(code), reason), "{text}");
    assert_eq!(judge::no_leak(&format!("{:?} {text}", response.headers)), Ok(()));
    assert_eq!(judge::journal(world, &seen), Ok(()), "{text}");
    seen
}

/// Checks a message against the case, its id and the schema.
fn assert_outcome(world: &World, seen: &ReceivedMessage, expect: &Expectation, revision: Revision) {
    assert_eq!(judge::answer(seen, expect, revision), Ok(()), "{}", revision.as_str());
    assert_eq!(crate::schemas::check(&seen.value, None, revision), Ok(()));
    if matches!(expect.kind, Kind::Error | Kind::ToolError) {
        assert_eq!(judge::journal(world, seen), Ok(()));
    }
}
