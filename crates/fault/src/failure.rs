use std::error::Error;
use std::fmt;
use std::panic::Location;

use crate::fact::fill;
use crate::operator::{Private, Stack};
use crate::{
    Advice, Captured, Effect, Excerpt, Fact, Kind, Name, Operator, Origin, Reason, Retry, Violation,
};

/// One failure: what the caller may know, and behind [`Fault::operator`] what only the operator may.
pub struct Fault(Box<Inner>);

struct Inner {
    reason: &'static Reason,
    facts: Vec<(&'static str, Fact)>,
    violations: Vec<Violation>,
    nearest: Vec<Name>,
    advice: Option<&'static Advice>,
    excerpt: Option<Excerpt>,
    retry: Retry,
    effect: Effect,
    origin: Origin,
    private: Private,
}

impl Fault {
    /// A failure for this reason, made here.
    #[track_caller]
    pub fn new(reason: &'static Reason) -> Fault {
        let private = Private {
            locations: vec![Location::caller()],
            stack: if matches!(reason.kind, Kind::Bug | Kind::Broken) { Stack::take() } else { None },
            ..Private::default()
        };
        Fault(Box::new(Inner {
            reason,
            facts: Vec::new(),
            violations: Vec::new(),
            nearest: Vec::new(),
            advice: None,
            excerpt: None,
            retry: reason.kind.retry(),
            effect: Effect::None,
            origin: reason.origin,
            private,
        }))
    }

    /// Adds a public, typed fact. A later fact of the same name replaces the earlier.
    #[must_use]
    pub fn fact(mut self, name: &'static str, fact: impl Into<Fact>) -> Fault {
        self.0.facts.retain(|(known, _)| *known != name);
        self.0.facts.push((name, fact.into()));
        self
    }

    /// Another hint than the usual one of its reason, where the usual one would lead astray.
    #[must_use]
    pub fn advise(mut self, advice: &'static Advice) -> Fault {
        self.0.advice = Some(advice);
        self
    }

    /// Adds what is wrong with the caller's input.
    #[must_use]
    pub fn violation(mut self, violation: Violation) -> Fault {
        self.0.violations.push(violation);
        self
    }

    /// Adds names that are near the wrong one.
    #[must_use]
    pub fn nearest(mut self, names: impl IntoIterator<Item = Name>) -> Fault {
        self.0.nearest.extend(names);
        self
    }

    /// Adds other people's words which the operator lets the caller read.
    #[must_use]
    pub fn with_excerpt(mut self, excerpt: Excerpt) -> Fault {
        self.0.excerpt = Some(excerpt);
        self
    }

    /// Says better than the kind does when to try again.
    #[must_use]
    pub fn retry_as(mut self, retry: Retry) -> Fault {
        self.0.retry = retry;
        self
    }

    /// Says what the request did before it failed.
    #[must_use]
    pub fn with_effect(mut self, effect: Effect) -> Fault {
        self.0.effect = effect;
        self
    }

    /// Says whose doing it is when the catalogue's answer does not fit.
    #[must_use]
    pub fn from_origin(mut self, origin: Origin) -> Fault {
        self.0.origin = origin;
        self
    }

    /// Private: the error behind it, with its chain.
    #[must_use]
    #[track_caller]
    pub fn because(mut self, cause: impl Error + Send + Sync + 'static) -> Fault {
        self.0.private.causes.push(Box::new(cause));
        self.0.private.locations.push(Location::caller());
        self
    }

    /// Private: the whole story of another fault, which this one answers for.
    #[must_use]
    #[track_caller]
    pub fn absorbing(mut self, mut other: Fault) -> Fault {
        // A stack stays one: in words it would fill the note.
        let stack = other.0.private.stack.take();
        let whole = other.operator().to_string();
        let mut private = other.0.private;
        self.0.private.notes.push(("absorbed", whole));
        self.0.private.causes.append(&mut private.causes);
        self.0.private.locations.append(&mut private.locations);
        self.0.private.captured.append(&mut private.captured);
        self.0.private.stack = self.0.private.stack.take().or(stack);
        self
    }

    /// Private: a note for the operator.
    #[must_use]
    pub fn note(mut self, name: &'static str, text: impl Into<String>) -> Fault {
        self.0.private.notes.push((name, text.into()));
        self
    }

    /// Private: where the program was, as told by whoever saw it.
    #[must_use]
    pub fn with_stack(mut self, stack: String) -> Fault {
        self.0.private.stack = Some(Stack::Told(stack));
        self
    }

    /// Private: what a child or an upstream said.
    #[must_use]
    pub fn capture(mut self, label: &'static str, bytes: impl Into<Vec<u8>>) -> Fault {
        self.0.private.captured.push(Captured { label, bytes: bytes.into() });
        self
    }

    /// The catalogue row.
    pub fn reason(&self) -> &'static Reason {
        self.0.reason
    }

    /// What the caller should do.
    pub fn kind(&self) -> Kind {
        self.0.reason.kind
    }

    /// The typed facts.
    pub fn facts(&self) -> &[(&'static str, Fact)] {
        &self.0.facts
    }

    /// One fact by name.
    pub fn get(&self, name: &str) -> Option<&Fact> {
        self.0.facts.iter().find(|(known, _)| *known == name).map(|(_, fact)| fact)
    }

    /// All that is wrong with the caller's input.
    pub fn violations(&self) -> &[Violation] {
        &self.0.violations
    }

    /// Names near the wrong one.
    pub fn near(&self) -> &[Name] {
        &self.0.nearest
    }

    /// Other people's words, for a block of their own.
    pub fn excerpt(&self) -> Option<&Excerpt> {
        self.0.excerpt.as_ref()
    }

    /// When to try again.
    pub fn retry(&self) -> Retry {
        self.0.retry
    }

    /// What the request did before it failed.
    pub fn effect(&self) -> Effect {
        self.0.effect
    }

    /// Whose doing it is.
    pub fn origin(&self) -> Origin {
        self.0.origin
    }

    /// What is wrong, with the values filled in.
    pub fn detail(&self) -> String {
        if self.0.reason.detail.is_empty() {
            return self.0.reason.title.to_owned();
        }
        fill(self.0.reason.detail, &self.0.facts)
    }

    /// What to do next, with the values and the nearest names filled in.
    pub fn hint(&self) -> String {
        let hint = self.0.advice.map_or(self.0.reason.hint, |advice| advice.0);
        let mut hint = fill(hint, &self.0.facts);
        if !self.0.nearest.is_empty() {
            let names: Vec<String> = self.0.nearest.iter().map(|n| format!("`{}`", n.as_str())).collect();
            hint.push_str(&format!("; did you mean {}?", names.join(" or ")));
        }
        hint
    }

    /// The whole story. For logs and the ledger, never for a caller.
    pub fn operator(&self) -> Operator<'_> {
        Operator::new(self, &self.0.private)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail())
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault")
            .field("reason", &self.reason().id)
            .field("facts", &self.0.facts)
            .field("violations", &self.0.violations)
            .field("retry", &self.0.retry)
            .field("effect", &self.0.effect)
            .field("origin", &self.0.origin)
            .finish_non_exhaustive()
    }
}

impl Error for Fault {}

#[cfg(test)]
mod tests {
    use super::Fault;
    use crate::reason;

    #[test]
    fn a_result_of_nothing_is_one_machine_word() {
        assert_eq!(size_of::<Result<(), Fault>>(), size_of::<usize>());
    }

    #[test]
    fn the_lazy_path_is_the_safe_path() {
        let cause = std::io::Error::other("MARK-cause");
        let fault = Fault::new(&reason::SERVER_BUG)
            .because(cause)
            .note("where", "MARK-note")
            .capture("stderr", "MARK-output");
        let lazy = format!("{fault} {fault:?} {fault:#?}");
        assert!(!lazy.contains("MARK"), "{lazy}");
        assert!(std::error::Error::source(&fault).is_none());
        let whole = fault.operator().to_string();
        for mark in ["MARK-cause", "MARK-note", "MARK-output", "failure.rs"] {
            assert!(whole.contains(mark), "{mark} missing in {whole}");
        }
    }
}
