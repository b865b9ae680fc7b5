use std::backtrace::Backtrace;
use std::error::Error;
use std::fmt;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::Fault;

/// Output a child or an upstream produced, kept for the operator.
#[derive(Debug, Clone)]
pub struct Captured {
    /// What it is: `stderr`, `upstream message`.
    pub label: &'static str,
    /// The bytes as they came.
    pub bytes: Vec<u8>,
}

/// The private half of a fault. Nothing here is shown to a caller.
#[derive(Default)]
pub(crate) struct Private {
    pub(crate) causes: Vec<Box<dyn Error + Send + Sync>>,
    pub(crate) notes: Vec<(&'static str, String)>,
    pub(crate) locations: Vec<&'static Location<'static>>,
    pub(crate) captured: Vec<Captured>,
    pub(crate) stack: Option<Stack>,
}

/// Where the program was.
pub(crate) enum Stack {
    /// Taken here; put into words when somebody reads it.
    Taken(Backtrace),
    /// Told by whoever saw it.
    Told(String),
}

impl Stack {
    /// The stack of whoever asks, unless many were taken within this second: one takes microseconds, and an
    /// upstream that only talks nonsense must not make us spend them without end.
    pub(crate) fn take() -> Option<Stack> {
        static BUDGET: Mutex<(Option<Instant>, u32)> = Mutex::new((None, 0));
        let mut budget = BUDGET.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, taken) = &mut *budget;
        if since.is_none_or(|since| since.elapsed() >= Duration::from_secs(1)) {
            (*since, *taken) = (Some(Instant::now()), 0);
        }
        *taken += 1;
        let allowed = *taken <= MOST_STACKS_A_SECOND;
        drop(budget);
        allowed.then(|| Stack::Taken(Backtrace::force_capture()))
    }
}

/// How many stacks are taken within a second.
const MOST_STACKS_A_SECOND: u32 = 4;

/// The whole story of a fault, for logs and the ledger only.
pub struct Operator<'a> {
    fault: &'a Fault,
    private: &'a Private,
}

impl<'a> Operator<'a> {
    pub(crate) fn new(fault: &'a Fault, private: &'a Private) -> Operator<'a> {
        Operator { fault, private }
    }

    /// The cause chain, outermost first.
    pub fn causes(&self) -> Vec<String> {
        let mut chain = Vec::new();
        for cause in &self.private.causes {
            chain.push(cause.to_string());
            let mut next = cause.source();
            // A chain that loops would never end; no honest one is this long.
            while let (Some(inner), true) = (next, chain.len() < 64) {
                chain.push(inner.to_string());
                next = inner.source();
            }
        }
        chain
    }

    /// Notes taken along the way.
    pub fn notes(&self) -> &'a [(&'static str, String)] {
        &self.private.notes
    }

    /// Where in this program it was made and classified.
    pub fn locations(&self) -> Vec<String> {
        self.private.locations.iter().map(|l| format!("{}:{}:{}", l.file(), l.line(), l.column())).collect()
    }

    /// Output that was captured.
    pub fn captured(&self) -> &'a [Captured] {
        &self.private.captured
    }

    /// The stack, where one was taken.
    pub fn stack(&self) -> Option<String> {
        self.private.stack.as_ref().map(|stack| match stack {
            Stack::Taken(stack) => stack.to_string(),
            Stack::Told(stack) => stack.clone(),
        })
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
