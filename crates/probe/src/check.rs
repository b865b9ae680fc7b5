//! A check as data: what it sends, to whom it applies, and what must come back.

use crate::exchange::Exchange;
use crate::link::{Edit, Patience};
use crate::special::Special;
use crate::target::Transport;
use crate::verdict::{Level, Verdict};
use crate::wire::http::Pace;

/// How bad a deviation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Held,
    Short,
    Broken,
}

/// A refusal that is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    /// The right codes.
    pub(crate) codes: &'static [i64],
    /// Codes that refuse, though with the wrong word.
    pub(crate) near: &'static [i64],
    /// The HTTP statuses the specification demands; empty when it leaves them open.
    pub(crate) statuses: &'static [u16],
    /// What no answer at all is worth.
    pub(crate) silence: Mark,
    /// What an answer without the readable id is worth.
    pub(crate) anonymous: Mark,
    /// What a failed tool result instead of a protocol error is worth.
    pub(crate) failed: Mark,
}

/// What must come back.
#[derive(Clone, Copy)]
pub(crate) enum Expect {
    Refusal(Refusal),
    /// A result with the id.
    Result,
    /// Exactly one answer, of any kind.
    OneAnswer {
        silence: Mark,
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

/// In which era a check means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Eras {
    Both,
    Session,
    Modern,
}

/// On what connection a check is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ground {
    /// One that is open and ready.
    Ready,
    /// A new one, before anything was said.
    Fresh,
}

/// What to send.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    /// Text with `$PLACEHOLDERS`.
    Text(&'static str),
    /// Bytes as they are between two texts with `$PLACEHOLDERS`.
    Around(&'static str, &'static [u8], &'static str),
    /// Text with a long or deep part that is made when needed.
    Made(fn() -> String),
}

/// What a check does.
#[derive(Clone, Copy)]
pub(crate) enum Act {
    /// Sends one thing and looks at what comes back.
    Send(Body),
    /// Takes several steps.
    Special(Special),
}

/// One check.
#[derive(Clone, Copy)]
pub(crate) struct Check {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) level: Level,
    pub(crate) eras: Eras,
    pub(crate) transport: Option<Transport>,
    pub(crate) capability: Option<&'static str>,
    pub(crate) ground: Ground,
    pub(crate) act: Act,
    /// The id in the body when it is not `$ID`.
    pub(crate) id_text: Option<&'static str>,
    pub(crate) patience: Patience,
    pub(crate) verb: &'static str,
    pub(crate) path: Option<&'static str>,
    pub(crate) edits: &'static [Edit],
    pub(crate) pace: Pace,
    pub(crate) expect: Expect,
    pub(crate) rule: &'static str,
}

impl Check {
    /// A check that sends one thing.
    pub(crate) const fn send(id: &'static str, title: &'static str, body: Body, expect: Expect) -> Self {
        Self {
            id,
            title,
            level: Level::Must,
            eras: Eras::Both,
            transport: None,
            capability: None,
            ground: Ground::Ready,
            act: Act::Send(body),
            id_text: None,
            patience: Patience::Normal,
            verb: "POST",
            path: None,
            edits: &[],
            pace: Pace::Whole,
            expect,
            rule: "",
        }
    }

    /// A check that sends text with placeholders.
    pub(crate) const fn text(
        id: &'static str,
        title: &'static str,
        body: &'static str,
        expect: Expect,
    ) -> Self {
        Self::send(id, title, Body::Text(body), expect)
    }

    /// A check of several steps; `wanted` says in words what must happen.
    pub(crate) const fn special(
        id: &'static str,
        title: &'static str,
        special: Special,
        wanted: &'static str,
    ) -> Self {
        let expect = Expect::Custom(wanted, |_| Verdict::HELD);
        let check = Self::send(id, title, Body::Text(""), expect);
        Self { act: Act::Special(special), ..check }
    }

    pub(crate) const fn should(self) -> Self {
        Self { level: Level::Should, ..self }
    }

    pub(crate) const fn leak(self) -> Self {
        Self { level: Level::Leak, ..self }
    }

    pub(crate) const fn session(self) -> Self {
        Self { eras: Eras::Session, ..self }
    }

    pub(crate) const fn modern(self) -> Self {
        Self { eras: Eras::Modern, ..self }
    }

    pub(crate) const fn over(self, transport: Transport) -> Self {
        Self { transport: Some(transport), ..self }
    }

    pub(crate) const fn needs(self, capability: &'static str) -> Self {
        Self { capability: Some(capability), ..self }
    }

    pub(crate) const fn fresh(self) -> Self {
        Self { ground: Ground::Fresh, ..self }
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

    pub(crate) const fn edits(self, edits: &'static [Edit]) -> Self {
        Self { edits, ..self }
    }

    pub(crate) const fn pace(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }

    pub(crate) const fn expect(self, expect: Expect) -> Self {
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
