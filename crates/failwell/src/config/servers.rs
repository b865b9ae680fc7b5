//! The sections of upstreams and built-in servers.

pub(super) mod device;
pub(super) mod program;
pub(super) mod tasks;
pub(super) mod upstream;
