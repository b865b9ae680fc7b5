//! Calls that a person has to say yes to first: what is asked, what may be answered, and who keeps it.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Ref;
use failwell_policy::{Caller, Whom};
use failwell_rpc::Json;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::tool::Work;

/// What becomes of a call that needs a person's yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// How long it waits for the answer before it is refused.
    pub wait: Duration,
    /// How long a question waits for its answer, and an answer for its call.
    pub expires: Duration,
    /// Who may answer over HTTP, where callers have names.
    pub approvers: Whom,
}

impl Default for Terms {
    fn default() -> Terms {
        let expires = Duration::from_secs(3_600);
        Terms { wait: Duration::ZERO, expires, approvers: Whom::new(["role:admin"]) }
    }
}

/// A call that needs a yes.
#[derive(Debug, Clone)]
pub struct Petition {
    /// The reference of the call, which becomes the name of the question.
    pub reference: Ref,
    /// Who calls.
    pub caller: String,
    /// Which server's tool.
    pub server: String,
    /// What its server calls it.
    pub tool: String,
    /// The arguments as a person may read them, secrets taken out.
    pub shown: String,
    /// What the answer is bound to.
    pub binding: [u8; 32],
    /// How long question and answer stand.
    pub expires: Duration,
}

impl Petition {
    /// What a yes is bound to: this caller, this tool of this server, and these arguments, however they are written.
    pub fn binding(caller: &Caller, server: &str, tool: &str, arguments: &Json) -> [u8; 32] {
        let mut hash = Sha256::new();
        for part in [&**caller.name(), server, tool, &arguments.raw().canonical()] {
            // Length first, so that no two different lists of parts feed the same bytes.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.finalize().into()
    }
}

/// How a question stands when its call comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// A person said yes, and this call has used it up.
    Granted(Given),
    /// A person said no.
    Refused(Given),
    /// Nobody has answered yet; this is the name of the question.
    Open(String),
    /// So many questions wait already that no other is taken.
    Full {
        /// How many.
        limit: u64,
    },
}

/// An answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given {
    /// The name of the question.
    pub id: String,
    /// Who answered.
    pub by: String,
    /// What was said, if anything.
    pub reason: Option<String>,
}

/// A question with all that became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Approval {
    /// Its name: the reference of the call that asked first.
    pub id: String,
    /// How it stands: `pending`, `approved`, `denied`, `used` or `expired`.
    pub state: &'static str,
    /// Who calls.
    pub caller: String,
    /// Which server's tool.
    pub server: String,
    /// What its server calls it.
    pub tool: String,
    /// The arguments, secrets taken out; left out of lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Json>,
    /// When it was asked, in milliseconds since 1970.
    pub asked_ms: i64,
    /// When question or answer expire.
    pub expires_ms: i64,
    /// When it was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_ms: Option<i64>,
    /// Who answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// What was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When the answer was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_ms: Option<i64>,
    /// The configuration of the gateway that asks, where several share a folder.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub scope: String,
}

/// What a person says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Yes.
    Approve,
    /// No.
    Deny,
}

impl Decision {
    /// As it is written.
    pub fn named(word: &str) -> Option<Decision> {
        match word {
            "approve" => Some(Decision::Approve),
            "deny" => Some(Decision::Deny),
            _ => None,
        }
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Approve => "approve",
            Decision::Deny => "deny",
        }
    }
}

/// What became of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decided {
    /// It counts.
    Done(Box<Approval>),
    /// The question needs none any more: how it stands.
    Settled(&'static str),
    /// There is no such question.
    Unknown,
}

/// Who keeps questions and answers, for longer than this program runs and for others to see. What cannot be read or
/// written fails as `policy/UNDECIDED`.
pub trait Approvals: Debug + Send + Sync + 'static {
    /// Uses up a yes, tells a no, or writes the question down unless it waits already. One yes is used by one call,
    /// whoever asks at the same time.
    fn seek(&self, petition: Arc<Petition>) -> Work<Standing>;
    /// A yes that was used by a call which then was not made: it may be used again, for as long as it stands.
    fn give_back(&self, id: &str) -> Work<()>;
    /// All that is remembered, the latest first, without arguments.
    fn all(&self) -> Work<Vec<Approval>>;
    /// One of them.
    fn find(&self, id: &str) -> Work<Option<Approval>>;
    /// Answers a question that waits.
    fn decide(&self, id: &str, decision: Decision, by: &str, reason: Option<&str>) -> Work<Decided>;
}
