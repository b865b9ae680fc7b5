//! The emulator over its own sockets.

mod checks;
mod control;
mod family;
mod faults;
mod lists;
mod login;
mod others;
mod repeat;
mod shapes;
mod support;
mod sync;
mod tasks;
mod undo;
