use std::fmt;
use std::sync::Arc;

use failwell_fault::{Fault, Violation, reason};

type Violations = dyn Fn(&str) -> Vec<Violation> + Send + Sync;

/// What arguments must satisfy: a function from their JSON text to what is wrong with them. The validator itself
/// comes from whoever has one, so that this room needs none.
#[derive(Clone)]
pub struct ArgumentCheck(Arc<Violations>);

impl ArgumentCheck {
    /// A check.
    pub fn new(violations: impl Fn(&str) -> Vec<Violation> + Send + Sync + 'static) -> ArgumentCheck {
        ArgumentCheck(Arc::new(violations))
    }

    /// Everything that is wrong with arguments.
    pub fn violations(&self, arguments: &str) -> Vec<Violation> {
        (self.0)(arguments)
    }

    /// Refuses arguments that are not as they must be, with everything that is wrong.
    pub fn check(&self, arguments: &str) -> Result<(), Fault> {
        let found = self.violations(arguments);
        if found.is_empty() {
            return Ok(());
        }
        Err(found.into_iter().fold(Fault::new(&reason::POLICY_ARGUMENTS), Fault::violation))
    }
}

impl fmt::Debug for ArgumentCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ArgumentCheck")
    }
}
