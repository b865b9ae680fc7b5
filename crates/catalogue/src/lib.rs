//! The reasons of the whole program, in one place for all who list them: the binary, the generated manual and the tests.
//!
//! # Invariants
//!
//! * A built-in server's reasons are here, or they are neither counted nor explained.
//! * The order is that of `docs/errors.md`.

use failwell_fault::{ReasonRegistry, RegistryError};

/// The core catalogue and the reasons of every built-in server.
pub fn registry() -> Result<ReasonRegistry, RegistryError> {
    let servers = [
        failwell_demo::REASONS,
        failwell_pytest::REASONS,
        failwell_symbolic::REASONS,
        failwell_tasks::REASONS,
        failwell_device::REASONS,
    ];
    servers.into_iter().try_fold(ReasonRegistry::core(), |registry, reasons| registry.with(reasons))
}
