//! Commands that examine the configuration, the machine, the running program and other servers.

pub(super) mod check;
pub(super) mod check_python;
pub(super) mod doctor;
#[cfg(feature = "probe")]
pub(super) mod probe;
pub(super) mod status;
