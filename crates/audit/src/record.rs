//! One exchange as it is handed over: everything owned, nothing formatted.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use failwell_fault::Fault;
use failwell_rpc::ReplyTo;

use crate::trace::TraceMark;

/// One exchange. Made on the request's path, so it only moves what is there; words are found for it later.
#[derive(Debug)]
pub struct Record {
    /// Where the answer went: reference, id, face.
    pub to: ReplyTo,
    /// When it ended.
    pub ended: SystemTime,
    /// How long it took.
    pub took: Duration,
    /// Which server was asked.
    pub service: &'static str,
    /// Which connection or session it came in on; empty when it has no name.
    pub connection: Cow<'static, str>,
    /// How it came in.
    pub transport: Transport,
    /// Who sent it, once that is known.
    pub caller: Option<Arc<str>>,
    /// Which method was asked for, if it could be read.
    pub method: Option<Cow<'static, str>>,
    /// The tool, resource or prompt it was about.
    pub target: Option<Box<str>>,
    /// The server behind the gateway the target belongs to.
    pub server: Option<Box<str>>,
    /// What it came to.
    pub ended_as: Ended,
    /// Bytes that came in, where they were counted.
    pub bytes_in: usize,
    /// Bytes that went out.
    pub bytes_out: usize,
    /// Which trace it was part of, where traces are kept.
    pub trace: Option<TraceMark>,
    /// What each guard said about it.
    pub verdicts: Vec<Verdict>,
    /// What went in and out, when bodies are kept.
    pub bodies: Option<Box<Bodies>>,
}

/// How an exchange came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Standard input and output.
    Stdio,
    /// HTTP.
    Http,
    /// Typed by a person.
    Terminal,
}

impl Transport {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Transport::Stdio => "stdio",
            Transport::Http => "http",
            Transport::Terminal => "terminal",
        }
    }
}

/// What an exchange came to.
#[derive(Debug, Clone)]
pub enum Ended {
    /// It worked.
    Well,
    /// A tool's own result says that it failed.
    ToolFailed(Arc<Fault>),
    /// A tool failed for a reason of the catalogue.
    ToolFault(Arc<Fault>),
    /// It failed.
    Fault(Arc<Fault>),
}

impl Ended {
    /// Why, where the catalogue knows.
    pub fn fault(&self) -> Option<&Arc<Fault>> {
        match self {
            Ended::ToolFailed(fault) | Ended::ToolFault(fault) | Ended::Fault(fault) => Some(fault),
            Ended::Well => None,
        }
    }
}

/// What went in and out, as it was, already cut to the cap.
#[derive(Debug, Default)]
pub struct Bodies {
    /// What came in.
    pub request: Vec<u8>,
    /// What went out.
    pub answer: Vec<u8>,
    /// The server it was for, where guards tell servers apart.
    pub server: String,
}

/// What guards have let in of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LetIn<'a> {
    /// Nothing, as far as is known.
    No,
    /// All of it.
    Whole,
    /// This.
    Changed(&'a str),
}

/// What one guard said.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Which guard.
    pub guard: Cow<'static, str>,
    /// What it looked at: `request`, `result`, `error`, `notification`.
    pub looked_at: &'static str,
    /// What it decided: `pass`, `redact`, `block`, `audit_only`.
    pub decided: &'static str,
    /// What it found, by category and place; never the content.
    pub found: Vec<Cow<'static, str>>,
    /// When it decided, counted from the start of the exchange.
    pub after: Duration,
    /// How long it took.
    pub took: Duration,
}

/// Unless told otherwise, one guard looks, at results. Thousands of records may wait, so they hold no more than they use.
const USUAL_VERDICTS: usize = 1;

/// What is learnt about an exchange along its way.
#[derive(Debug, Default)]
pub struct Trail {
    target: OnceLock<Box<str>>,
    let_in: OnceLock<Option<Box<str>>>,
    verdicts: Mutex<Vec<Verdict>>,
}

impl Trail {
    /// It is about this tool, resource or prompt. The first word counts.
    pub fn aim(&self, target: &str) {
        let _ = self.target.set(target.into());
    }

    /// What it is about.
    pub fn target(&self) -> Option<&str> {
        self.target.get().map(AsRef::as_ref)
    }

    /// Every guard that was asked has let it in: as it came, or changed to this.
    pub fn let_in(&self, changed: Option<&str>) {
        let _ = self.let_in.set(changed.map(Box::from));
    }

    /// What guards have let in of it.
    pub fn was_let_in(&self) -> LetIn<'_> {
        match self.let_in.get() {
            None => LetIn::No,
            Some(None) => LetIn::Whole,
            Some(Some(changed)) => LetIn::Changed(changed),
        }
    }

    /// A guard has decided.
    pub fn decide(&self, verdict: Verdict) {
        let mut verdicts = self.verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        if verdicts.is_empty() {
            verdicts.reserve_exact(USUAL_VERDICTS);
        }
        verdicts.push(verdict);
    }

    /// What it was about, and what the guards said.
    pub fn into_parts(self) -> (Option<Box<str>>, Vec<Verdict>) {
        (self.target.into_inner(), self.verdicts.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Record {
    /// Bytes it holds beyond its own size, where they can be many.
    pub(crate) fn weight(&self) -> usize {
        let bodies = self.bodies.as_ref().map_or(0, |bodies| bodies.request.len() + bodies.answer.len());
        bodies + self.ended_as.fault().map_or(0, |fault| weight(fault))
    }
}

/// Bytes the private half of a fault holds, where they can be many.
pub(crate) fn weight(fault: &Fault) -> usize {
    let operator = fault.operator();
    let captured: usize = operator.captured().iter().map(|captured| captured.bytes.len()).sum();
    captured + operator.notes().iter().map(|(_, note)| note.len()).sum::<usize>()
}
