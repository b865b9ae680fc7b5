use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::Reason;
use crate::catalogue;

/// The reasons of one program: the core catalogue, and the rows of each built-in tool server.
///
/// Metrics, `failwell explain`, the OpenAPI document and the manual use it. The program builds it once and
/// passes it to them; a clone is cheap.
#[derive(Debug, Clone)]
pub struct ReasonRegistry(Arc<[&'static Reason]>);

/// The reason why a list of rows is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegistryError {
    Duplicate(&'static str),
    /// The id does not have the form `area/NAME`.
    Malformed(&'static str),
}

impl ReasonRegistry {
    pub fn core() -> ReasonRegistry {
        ReasonRegistry(catalogue::CORE.iter().copied().flatten().copied().collect())
    }

    /// Adds rows. A reason is identified by its id, so a second row with the same id is refused.
    pub fn with(&self, reasons: &[&'static Reason]) -> Result<ReasonRegistry, RegistryError> {
        let mut rows = self.0.to_vec();
        for reason in reasons {
            if !is_well_formed(reason.id) {
                return Err(RegistryError::Malformed(reason.id));
            }
            if rows.contains(reason) {
                return Err(RegistryError::Duplicate(reason.id));
            }
            rows.push(reason);
        }
        Ok(ReasonRegistry(rows.into()))
    }

    /// All reasons, area by area.
    pub fn iter(&self) -> impl Iterator<Item = &'static Reason> + '_ {
        self.0.iter().copied()
    }

    /// Finds a reason by its id, in any case.
    pub fn find(&self, id: &str) -> Option<&'static Reason> {
        self.iter().find(|reason| reason.id.eq_ignore_ascii_case(id))
    }
}

/// Ids appear in URLs, metric labels and file names, so they have one spelling and need no escaping.
fn is_well_formed(id: &str) -> bool {
    let Some((area, name)) = id.split_once('/') else { return false };
    let fits = |text: &str, allowed: fn(char) -> bool| !text.is_empty() && text.chars().all(allowed);
    fits(area, |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && fits(name, |c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegistryError::Duplicate(id) => write!(f, "the reason {id} is registered twice"),
            RegistryError::Malformed(id) => {
                write!(f, "the reason `{id}` is not of the form area/NAME (a-z, then A-Z, digits and _)")
            }
        }
    }
}

impl Error for RegistryError {}
