use std::fmt;
use std::sync::Arc;

use failwell_fault::{Fault, Retry, Violation, reason};

type Violations = dyn Fn(&str) -> Vec<Violation> + Send + Sync;

/// A check on arguments: a function from their JSON text to violations. The validator is injected, so that
/// this crate does not depend on one.
#[derive(Clone)]
pub struct ArgumentCheck(Arc<Violations>);

impl ArgumentCheck {
    pub fn new(violations: impl Fn(&str) -> Vec<Violation> + Send + Sync + 'static) -> ArgumentCheck {
        ArgumentCheck(Arc::new(violations))
    }

    pub fn violations(&self, arguments: &str) -> Vec<Violation> {
        (self.0)(arguments)
    }

    /// Refuses invalid arguments; the fault lists all violations.
    pub fn check(&self, arguments: &str) -> Result<(), Fault> {
        let found = self.violations(arguments);
        if found.is_empty() {
            return Ok(());
        }
        // Other arguments may be allowed, unlike another attempt with these.
        let fault = Fault::new(&reason::POLICY_ARGUMENTS).retry_as(Retry::AfterChange);
        Err(found.into_iter().fold(fault, Fault::violation))
    }
}

impl fmt::Debug for ArgumentCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ArgumentCheck")
    }
}
