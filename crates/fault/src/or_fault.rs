use std::error::Error;

use crate::{Fault, Reason};

/// Classifies a foreign error once, where it arrives.
pub trait OrFault<T> {
    /// Returns a fault with this reason. The error becomes its private cause.
    #[track_caller]
    fn or_fault(self, reason: &'static Reason) -> Result<T, Fault>;
}

impl<T, E: Error + Send + Sync + 'static> OrFault<T> for Result<T, E> {
    #[track_caller]
    fn or_fault(self, reason: &'static Reason) -> Result<T, Fault> {
        match self {
            Ok(value) => Ok(value),
            // Not `map_err`: a closure would lose the caller's location.
            Err(error) => Err(Fault::new(reason).because(error)),
        }
    }
}

impl<T> OrFault<T> for Option<T> {
    #[track_caller]
    fn or_fault(self, reason: &'static Reason) -> Result<T, Fault> {
        match self {
            Some(value) => Ok(value),
            None => Err(Fault::new(reason)),
        }
    }
}
