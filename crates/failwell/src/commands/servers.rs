//! Built-in servers and emulators: their settings, and the demonstration.

pub(super) mod demo;
pub(super) mod device;
#[cfg(feature = "emulators")]
pub(super) mod emulate;
pub(super) mod tasks;
