use std::backtrace::Backtrace;
use std::error::Error;
use std::fmt;
use std::panic::Location;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::Fault;

/// Output of a child or an upstream, for the operator.
#[derive(Debug, Clone)]
pub struct CapturedOutput {
    /// The source, such as `stderr` or `upstream message`.
    pub label: &'static str,
    /// The unchanged bytes.
    pub bytes: Vec<u8>,
}

/// The private half of a fault. No caller sees any part of it.
#[derive(Default)]
pub(crate) struct PrivateDetails {
    pub(crate) causes: Vec<Box<dyn Error + Send + Sync>>,
    pub(crate) notes: Vec<(&'static str, String)>,
    pub(crate) locations: Vec<&'static Location<'static>>,
    pub(crate) captured: Vec<CapturedOutput>,
    pub(crate) stack: Option<Stack>,
}

/// The name of the note for absorbed faults, outermost first.
const ABSORBED: &str = "absorbed";

impl PrivateDetails {
    /// A log line has one value per name, so all absorbed faults share one note.
    pub(crate) fn add_absorbed(&mut self, story: String) {
        match self.notes.iter_mut().find(|(name, _)| *name == ABSORBED) {
            Some((_, known)) => known.push_str(&format!("\n{story}")),
            None => self.notes.push((ABSORBED, story)),
        }
    }
}

/// A captured stack.
pub(crate) enum Stack {
    /// Captured here. It is formatted only when it is read.
    Backtrace(Backtrace),
    /// Already formatted, for example by the panic hook.
    Text(String),
}

impl Stack {
    /// Captures the caller's stack. The rate is limited: a capture takes microseconds, and an upstream that
    /// sends only invalid responses must not cost one capture per response.
    pub(crate) fn capture() -> Option<Stack> {
        static BUDGET: Mutex<(Option<Instant>, u32)> = Mutex::new((None, 0));
        let mut budget = BUDGET.lock();
        let (since, taken) = &mut *budget;
        if since.is_none_or(|since| since.elapsed() >= Duration::from_secs(1)) {
            (*since, *taken) = (Some(Instant::now()), 0);
        }
        *taken += 1;
        let allowed = *taken <= MAX_STACKS_PER_SECOND;
        drop(budget);
        allowed.then(|| Stack::Backtrace(Backtrace::force_capture()))
    }
}

/// Maximum number of captures per second.
const MAX_STACKS_PER_SECOND: u32 = 4;

/// Access to both halves of a fault, for logs and the ledger only.
pub struct Operator<'a> {
    fault: &'a Fault,
    private: &'a PrivateDetails,
}

impl<'a> Operator<'a> {
    pub(crate) fn new(fault: &'a Fault, private: &'a PrivateDetails) -> Operator<'a> {
        Operator { fault, private }
    }

    /// The cause chain, outermost first.
    pub fn causes(&self) -> Vec<String> {
        let mut chain = Vec::new();
        for cause in &self.private.causes {
            chain.push(cause.to_string());
            let mut next = cause.source();
            // A limit against cyclic chains. No real chain is this long.
            while let (Some(inner), true) = (next, chain.len() < 64) {
                chain.push(inner.to_string());
                next = inner.source();
            }
        }
        chain
    }

    pub fn notes(&self) -> &'a [(&'static str, String)] {
        &self.private.notes
    }

    /// The source locations where the fault was created and classified.
    pub fn locations(&self) -> Vec<String> {
        self.private.locations.iter().map(|l| format!("{}:{}:{}", l.file(), l.line(), l.column())).collect()
    }

    pub fn captured(&self) -> &'a [CapturedOutput] {
        &self.private.captured
    }

    /// The stack, if one was captured.
    pub fn stack(&self) -> Option<String> {
        self.private.stack.as_ref().map(|stack| match stack {
            Stack::Backtrace(stack) => stack.to_string(),
            Stack::Text(stack) => stack.clone(),
        })
    }
}

impl Operator<'_> {
    /// Detail, facts and notes, one per line, with absorbed faults last.
    pub(crate) fn without_evidence(&self) -> String {
        let mut lines = vec![format!("{}: {}", self.fault.reason().id, self.fault)];
        lines.extend(self.fault.facts().iter().map(|(key, fact)| format!("  {key} = {fact}")));
        let (absorbed, own): (Vec<_>, Vec<_>) = self.notes().iter().partition(|(name, _)| *name == ABSORBED);
        lines.extend(own.iter().map(|(key, note)| format!("  note {key}: {note}")));
        lines.extend(absorbed.into_iter().map(|(_, story)| story.clone()));
        lines.join("\n")
    }
}

impl fmt::Display for Operator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.fault.reason().id, self.fault)?;
        for (key, fact) in self.fault.facts() {
            writeln!(f, "  {key} = {fact}")?;
        }
        for cause in self.causes() {
            writeln!(f, "  caused by: {cause}")?;
        }
        for (key, note) in self.notes() {
            writeln!(f, "  note {key}: {note}")?;
        }
        for location in self.locations() {
            writeln!(f, "  at {location}")?;
        }
        for captured in self.captured() {
            writeln!(f, "  {}: {}", captured.label, String::from_utf8_lossy(&captured.bytes))?;
        }
        if let Some(stack) = self.stack() {
            writeln!(f, "  stack:\n{stack}")?;
        }
        Ok(())
    }
}
