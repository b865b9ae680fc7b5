//! The emulated phone: its app, its screen, and the gestures on it.

pub(crate) mod app;
pub(crate) mod device;
pub(crate) mod gesture;
pub(crate) mod screen;
pub(crate) mod screenshot;
