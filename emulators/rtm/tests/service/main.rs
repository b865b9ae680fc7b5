//! The emulator over its own sockets.

mod login;
mod support;
