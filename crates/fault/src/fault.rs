use std::error::Error;
use std::fmt;
use std::panic::Location;

use crate::fact::fill;
use crate::operator::{PrivateDetails, Stack};
use crate::{
    Advice, CapturedOutput, Effect, Excerpt, Fact, Kind, Name, Operator, Origin, Reason, Retry, Violation,
};

/// One failure: a public half for the caller, and a private half for the operator behind [`Fault::operator`].
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
    private: PrivateDetails,
}

impl Fault {
    /// Creates a fault. The location of the caller is recorded.
    #[track_caller]
    pub fn new(reason: &'static Reason) -> Fault {
        let private = PrivateDetails {
            locations: vec![Location::caller()],
            stack: if matches!(reason.kind, Kind::Bug | Kind::Broken) { Stack::capture() } else { None },
            ..PrivateDetails::default()
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

    /// Adds a public fact. It replaces an earlier fact of the same name.
    #[must_use]
    pub fn fact(mut self, name: &'static str, fact: impl Into<Fact>) -> Fault {
        self.0.facts.retain(|(known, _)| *known != name);
        self.0.facts.push((name, fact.into()));
        self
    }

    /// Replaces the hint of the reason, if that would mislead the caller.
    #[must_use]
    pub fn advise(mut self, advice: &'static Advice) -> Fault {
        self.0.advice = Some(advice);
        self
    }

    /// Adds a violation in the caller's input.
    #[must_use]
    pub fn violation(mut self, violation: Violation) -> Fault {
        self.0.violations.push(violation);
        self
    }

    /// Adds the names that are most similar to a wrong one.
    #[must_use]
    pub fn nearest(mut self, names: impl IntoIterator<Item = Name>) -> Fault {
        self.0.nearest.extend(names);
        self
    }

    /// Adds foreign text that the operator's policy allows the caller to read.
    #[must_use]
    pub fn with_excerpt(mut self, excerpt: Excerpt) -> Fault {
        self.0.excerpt = Some(excerpt);
        self
    }

    /// Overrides the retry advice of the kind.
    #[must_use]
    pub fn retry_as(mut self, retry: Retry) -> Fault {
        self.0.retry = retry;
        self
    }

    /// Sets the effect of the failed request.
    #[must_use]
    pub fn with_effect(mut self, effect: Effect) -> Fault {
        self.0.effect = effect;
        self
    }

    /// Overrides the origin of the catalogue row.
    #[must_use]
    pub fn from_origin(mut self, origin: Origin) -> Fault {
        self.0.origin = origin;
        self
    }

    /// Private: adds the underlying error with its chain.
    #[must_use]
    #[track_caller]
    pub fn because(mut self, cause: impl Error + Send + Sync + 'static) -> Fault {
        self.0.private.causes.push(Box::new(cause));
        self.0.private.locations.push(Location::caller());
        self
    }

    /// Private: absorbs another fault that this one replaces. Its causes, locations and output move to this
    /// fault. Its detail, facts and notes become one note, so no part appears twice.
    #[must_use]
    pub fn absorbing(mut self, other: Fault) -> Fault {
        let story = other.operator().without_evidence();
        let mut absorbed = other.0.private;
        let private = &mut self.0.private;
        private.add_absorbed(story);
        private.causes.append(&mut absorbed.causes);
        private.locations.append(&mut absorbed.locations);
        private.captured.append(&mut absorbed.captured);
        private.stack = private.stack.take().or(absorbed.stack);
        self
    }

    /// Private: adds a note for the operator.
    #[must_use]
    pub fn note(mut self, name: &'static str, text: impl Into<String>) -> Fault {
        self.0.private.notes.push((name, text.into()));
        self
    }

    /// Private: sets a stack that was captured elsewhere, for example in the panic hook.
    #[must_use]
    pub fn with_stack(mut self, stack: String) -> Fault {
        self.0.private.stack = Some(Stack::Text(stack));
        self
    }

    /// Private: adds output of a child or an upstream.
    #[must_use]
    pub fn capture(mut self, label: &'static str, bytes: impl Into<Vec<u8>>) -> Fault {
        self.0.private.captured.push(CapturedOutput { label, bytes: bytes.into() });
        self
    }

    /// The row of the catalogue.
    pub fn reason(&self) -> &'static Reason {
        self.0.reason
    }

    /// The kind of the reason.
    pub fn kind(&self) -> Kind {
        self.0.reason.kind
    }

    pub fn facts(&self) -> &[(&'static str, Fact)] {
        &self.0.facts
    }

    /// Finds a fact by name.
    pub fn get(&self, name: &str) -> Option<&Fact> {
        self.0.facts.iter().find(|(known, _)| *known == name).map(|(_, fact)| fact)
    }

    /// All violations in the caller's input.
    pub fn violations(&self) -> &[Violation] {
        &self.0.violations
    }

    /// The most similar names.
    pub fn near(&self) -> &[Name] {
        &self.0.nearest
    }

    /// Foreign text. Renderers put it into a separate block.
    pub fn excerpt(&self) -> Option<&Excerpt> {
        self.0.excerpt.as_ref()
    }

    pub fn retry(&self) -> Retry {
        self.0.retry
    }

    /// The effect of the failed request.
    pub fn effect(&self) -> Effect {
        self.0.effect
    }

    pub fn origin(&self) -> Origin {
        self.0.origin
    }

    /// The detail of the reason with its facts.
    pub fn detail(&self) -> String {
        if self.0.reason.detail.is_empty() {
            return self.0.reason.title.to_owned();
        }
        fill(self.0.reason.detail, &self.0.facts)
    }

    /// The hint with its facts and the most similar names.
    pub fn hint(&self) -> String {
        let hint = self.0.advice.map_or(self.0.reason.hint, |advice| advice.0);
        let mut hint = fill(hint, &self.0.facts);
        if !self.0.nearest.is_empty() {
            let names: Vec<String> = self.0.nearest.iter().map(|n| format!("`{}`", n.as_str())).collect();
            hint.push_str(&format!("; did you mean {}?", names.join(" or ")));
        }
        hint
    }

    /// The private half. For logs and the ledger, never for a caller.
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
        for mark in ["MARK-cause", "MARK-note", "MARK-output", "fault.rs"] {
            assert!(whole.contains(mark), "{mark} missing in {whole}");
        }
    }

    #[test]
    fn an_absorbed_fault_is_reported_once() {
        let first = Fault::new(&reason::GATEWAY_UPSTREAM_ERROR)
            .fact("upstream_code", 17u64)
            .because(std::io::Error::other("MARK-cause"))
            .note("where", "MARK-note")
            .capture("upstream error", "MARK-output");
        let second = Fault::new(&reason::MCP_UNKNOWN_RESOURCE).note("second", "MARK-second").absorbing(first);
        let third = Fault::new(&reason::SERVER_BUG).absorbing(second);
        let beside = Fault::new(&reason::RPC_NOT_JSON).note("beside", "MARK-beside");
        let whole = third.absorbing(beside);
        assert_eq!(whole.operator().notes().len(), 1);
        assert_eq!(whole.operator().locations().len(), 5);
        let whole = whole.operator().to_string();
        for once in [
            "MARK-cause",
            "MARK-note",
            "MARK-output",
            "MARK-second",
            "MARK-beside",
            "gateway/UPSTREAM_ERROR",
            "mcp/UNKNOWN_RESOURCE",
            "rpc/NOT_JSON",
            "upstream_code = 17",
        ] {
            assert_eq!(whole.matches(once).count(), 1, "{once} in {whole}");
        }
    }
}
