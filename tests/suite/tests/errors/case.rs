//! One case: what is sent, where it applies, and what must come back.

use failwell_rpc::{Era, Revision};
use serde_json::Value;

use crate::requests;

/// One failure.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) send: SentMessage,
    pub(crate) expect: Expectation,
    pub(crate) revisions: fn(Revision) -> bool,
    pub(crate) transports: &'static [Transport],
}

/// A message to send.
#[derive(Clone)]
pub(crate) enum SentMessage {
    /// Exactly these bytes.
    Bytes(Vec<u8>),
    /// A request in the form of the revision. The id is JSON text.
    Call { id: String, method: &'static str, params: Value },
}

impl SentMessage {
    /// Its bytes in this revision.
    pub(crate) fn bytes(&self, revision: Revision) -> Vec<u8> {
        match self {
            SentMessage::Bytes(bytes) => bytes.clone(),
            SentMessage::Call { id, method, params } => {
                requests::request(revision, id, method, params).into_bytes()
            }
        }
    }
}

/// A transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Stdio,
    Http,
}

/// The shape of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Error,
    ToolError,
    Result,
    Silence,
}

/// The expected response.
#[derive(Clone)]
pub(crate) struct Expectation {
    pub(crate) kind: Kind,
    pub(crate) reason: &'static str,
    pub(crate) session: (i64, u16),
    pub(crate) modern: (i64, u16),
    /// The id's exact text; `None` when none could be read.
    pub(crate) id: Option<String>,
    /// Expected values in the fault object, by JSON Pointer.
    pub(crate) holds: Vec<(&'static str, Value)>,
    /// A text that the hint must contain.
    pub(crate) hint: Vec<&'static str>,
}

/// Begins a case that applies everywhere.
pub(crate) fn case(name: &'static str) -> Case {
    let nothing = SentMessage::Bytes(Vec::new());
    Case {
        name,
        send: nothing,
        expect: silence(),
        revisions: |_| true,
        transports: &[Transport::Stdio, Transport::Http],
    }
}

impl Case {
    pub(crate) fn sends(mut self, text: impl Into<Vec<u8>>) -> Case {
        self.send = SentMessage::Bytes(text.into());
        self
    }

    pub(crate) fn calls(mut self, method: &'static str, params: Value) -> Case {
        self.send = SentMessage::Call { id: "1".to_owned(), method, params };
        self
    }

    /// Sends the call under this id, and expects it back.
    pub(crate) fn under(mut self, text: &str) -> Case {
        if let SentMessage::Call { id, .. } = &mut self.send {
            *id = text.to_owned();
        }
        self.expect.id = Some(text.to_owned());
        self
    }

    pub(crate) fn gets(mut self, expect: Expectation) -> Case {
        self.expect = expect;
        // The response to a readable request has its id.
        if let (SentMessage::Call { id, .. }, None) = (&self.send, &self.expect.id) {
            self.expect.id = Some(id.clone());
        }
        self
    }

    pub(crate) fn only(mut self, revisions: fn(Revision) -> bool) -> Case {
        self.revisions = revisions;
        self
    }

    pub(crate) fn in_sessions(self) -> Case {
        self.only(|revision| revision.era() == Era::Session)
    }

    pub(crate) fn in_modern(self) -> Case {
        self.only(|revision| revision.era() == Era::Modern)
    }

    pub(crate) fn over(mut self, transports: &'static [Transport]) -> Case {
        self.transports = transports;
        self
    }
}

/// An error with this code, and over HTTP this status.
pub(crate) fn error(reason: &'static str, code: i64, status: u16) -> Expectation {
    let both = (code, status);
    Expectation {
        kind: Kind::Error,
        reason,
        session: both,
        modern: both,
        id: None,
        holds: Vec::new(),
        hint: Vec::new(),
    }
}

/// A result that says `isError`, for the model to read.
pub(crate) fn tool_error(reason: &'static str) -> Expectation {
    Expectation { kind: Kind::ToolError, ..error(reason, 0, 200) }
}

/// An ordinary result.
pub(crate) fn result() -> Expectation {
    Expectation { kind: Kind::Result, ..error("", 0, 200) }
}

/// No answer; over HTTP `202 Accepted`.
pub(crate) fn silence() -> Expectation {
    Expectation { kind: Kind::Silence, ..error("", 0, 202) }
}

impl Expectation {
    /// Another code and status in the modern era.
    pub(crate) fn modern(mut self, code: i64, status: u16) -> Expectation {
        self.modern = (code, status);
        self
    }

    /// The response has this id.
    pub(crate) fn id(mut self, text: &str) -> Expectation {
        self.id = Some(text.to_owned());
        self
    }

    /// The fault object has this value there.
    pub(crate) fn with(mut self, pointer: &'static str, value: impl Into<Value>) -> Expectation {
        self.holds.push((pointer, value.into()));
        self
    }

    /// The hint contains this text.
    pub(crate) fn hints(mut self, word: &'static str) -> Expectation {
        self.hint.push(word);
        self
    }

    pub(crate) fn numbers(&self, revision: Revision) -> (i64, u16) {
        match revision.era() {
            Era::Session => self.session,
            Era::Modern => self.modern,
        }
    }
}
