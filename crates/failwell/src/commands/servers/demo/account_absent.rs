//! The demonstration in a build without emulators: it cannot start.

use crate::complaint::Complaint;
use crate::config::EmulatedService;
use crate::parts::EMULATORS;

/// No demonstration exists in this build.
pub(crate) enum Demo {}

impl Demo {
    /// Returns an error that names the missing feature. It is async because the real one is.
    pub(crate) async fn start() -> Result<Demo, Complaint> {
        Err(EMULATORS.complaint("failwell up --demo"))
    }

    pub(super) fn stand_in(&self) -> EmulatedService {
        match *self {}
    }
}
