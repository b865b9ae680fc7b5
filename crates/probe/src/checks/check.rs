//! A check as data: what it sends, to whom it applies, and what must come back.

use super::procedure::Procedure;
use super::verdict::{Level, Verdict};
use crate::connection::exchange::Exchange;
use crate::connection::wire::http::SendPace;
use crate::connection::{HeaderEdit, Patience};
use crate::target::Transport;

/// The severity of a deviation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    Held,
    Short,
    Broken,
}

/// The error that the server should answer with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpectedRefusal {
    /// The right codes.
    pub(crate) codes: &'static [i64],
    /// Codes that refuse, though with the wrong word.
    pub(crate) near: &'static [i64],
    /// The HTTP statuses the specification demands; empty when it leaves them open.
    pub(crate) statuses: &'static [u16],
    /// The severity of no answer at all.
    pub(crate) silence: Severity,
    /// The severity of an answer without the readable id.
    pub(crate) anonymous: Severity,
    /// The severity of a failed tool result instead of a protocol error.
    pub(crate) failed: Severity,
}

/// The expected answer.
#[derive(Clone, Copy)]
pub(crate) enum Expectation {
    Refusal(ExpectedRefusal),
    /// A result with the id.
    Result,
    /// Exactly one answer, of any kind.
    OneAnswer {
        silence: Severity,
    },
    /// Nothing; over HTTP 202 or a refusal.
    Silence,
    /// One of these statuses.
    Status {
        held: &'static [u16],
        short: &'static [u16],
    },
    /// Said in words, judged by a function.
    Custom(&'static str, fn(&Exchange) -> Verdict),
}

/// The eras that a check applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EraScope {
    Both,
    Session,
    Modern,
}

/// The connection that a check needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionNeed {
    /// One that is open and ready.
    Ready,
    /// A new one, before anything was said.
    Fresh,
}

/// The bytes to send.
#[derive(Clone, Copy)]
pub(crate) enum Payload {
    /// Text with `$PLACEHOLDERS`.
    Text(&'static str),
    /// Bytes as they are between two texts with `$PLACEHOLDERS`.
    Around(&'static str, &'static [u8], &'static str),
    /// Text with a long or deep part that is made when needed.
    Made(fn() -> String),
}

/// The action of a check.
#[derive(Clone, Copy)]
pub(crate) enum Action {
    /// Sends one thing and looks at what comes back.
    Send(Payload),
    /// Takes several steps.
    Special(Procedure),
}

#[derive(Clone, Copy)]
pub(crate) struct Check {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) level: Level,
    pub(crate) eras: EraScope,
    pub(crate) transport: Option<Transport>,
    pub(crate) capability: Option<&'static str>,
    pub(crate) ground: ConnectionNeed,
    pub(crate) act: Action,
    /// The id in the body when it is not `$ID`.
    pub(crate) id_text: Option<&'static str>,
    pub(crate) patience: Patience,
    pub(crate) verb: &'static str,
    pub(crate) path: Option<&'static str>,
    pub(crate) edits: &'static [HeaderEdit],
    pub(crate) pace: SendPace,
    pub(crate) expect: Expectation,
    pub(crate) rule: &'static str,
}

impl Check {
    /// A check that sends one thing.
    pub(crate) const fn send(
        id: &'static str,
        title: &'static str,
        body: Payload,
        expect: Expectation,
    ) -> Self {
        Self {
            id,
            title,
            level: Level::Must,
            eras: EraScope::Both,
            transport: None,
            capability: None,
            ground: ConnectionNeed::Ready,
            act: Action::Send(body),
            id_text: None,
            patience: Patience::Normal,
            verb: "POST",
            path: None,
            edits: &[],
            pace: SendPace::Whole,
            expect,
            rule: "",
        }
    }

    /// A check that sends text with placeholders.
    pub(crate) const fn text(
        id: &'static str,
        title: &'static str,
        body: &'static str,
        expect: Expectation,
    ) -> Self {
        Self::send(id, title, Payload::Text(body), expect)
    }

    /// A check of several steps; `wanted` says in words what must happen.
    pub(crate) const fn special(
        id: &'static str,
        title: &'static str,
        special: Procedure,
        wanted: &'static str,
    ) -> Self {
        let expect = Expectation::Custom(wanted, |_| Verdict::HELD);
        let check = Self::send(id, title, Payload::Text(""), expect);
        Self { act: Action::Special(special), ..check }
    }

    pub(crate) const fn should(self) -> Self {
        Self { level: Level::Should, ..self }
    }

    pub(crate) const fn leak(self) -> Self {
        Self { level: Level::Leak, ..self }
    }

    pub(crate) const fn session(self) -> Self {
        Self { eras: EraScope::Session, ..self }
    }

    pub(crate) const fn modern(self) -> Self {
        Self { eras: EraScope::Modern, ..self }
    }

    pub(crate) const fn over(self, transport: Transport) -> Self {
        Self { transport: Some(transport), ..self }
    }

    pub(crate) const fn needs(self, capability: &'static str) -> Self {
        Self { capability: Some(capability), ..self }
    }

    pub(crate) const fn fresh(self) -> Self {
        Self { ground: ConnectionNeed::Fresh, ..self }
    }

    pub(crate) const fn id_text(self, id: &'static str) -> Self {
        Self { id_text: Some(id), ..self }
    }

    pub(crate) const fn patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    pub(crate) const fn verb(self, verb: &'static str) -> Self {
        Self { verb, ..self }
    }

    pub(crate) const fn at(self, path: &'static str) -> Self {
        Self { path: Some(path), ..self }
    }

    pub(crate) const fn edits(self, edits: &'static [HeaderEdit]) -> Self {
        Self { edits, ..self }
    }

    pub(crate) const fn pace(self, pace: SendPace) -> Self {
        Self { pace, ..self }
    }

    pub(crate) const fn expect(self, expect: Expectation) -> Self {
        Self { expect, ..self }
    }

    /// The clause or rule behind the check.
    pub(crate) const fn rule(self, rule: &'static str) -> Self {
        Self { rule, ..self }
    }

    /// The part of the id before the dot.
    pub(crate) fn group(&self) -> &'static str {
        self.id.split('.').next().unwrap_or(self.id)
    }
}
