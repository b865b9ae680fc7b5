//! The workshop: child processes, from start to last trace.
//!
//! A [`Plan`] says everything about a child: program, arguments, folder, environment, descriptors, limits, sandbox.
//! [`Launcher::start`] runs it under a supervisor, which is this very program started once more with a hidden
//! argument ([`ARGUMENT`], served by [`supervise_main`]). The supervisor is the subreaper of everything the child
//! starts, enforces the limits, passes signals on, and when the child ends takes down and reaps whatever is left.
//!
//! # Invariants
//!
//! * A child gets what its plan names and nothing else: no other variable, no other descriptor.
//! * When [`Child::wait`] returns, nothing the child started is alive, however often it forked; not even when its
//!   supervisor was killed. When a [`Child`] is dropped, or this program dies, the same happens without anybody waiting
//!   for it.
//! * A wait ends when the process does, never when a pipe does: a grandchild may hold a pipe for ever.
//! * Output is always drained, and kept as a head and a tail of fixed size. A child that writes never blocks on us.
//! * What a child says, and what the system says about it, stays out of the public half of a fault.
//! * `unsafe` is in two modules, `supervisor/between.rs` and `start.rs`, which say why.

#![cfg(unix)]

mod child;
mod containment;
mod driver;
mod ended;
mod environment;
#[cfg(target_os = "linux")]
mod family;
mod launcher;
mod letters;
mod orphans;
mod passing;
mod plan;
mod ring;
mod sandbox;
mod signal;
#[cfg(target_os = "linux")]
mod start;
mod supervisor;

pub use child::{Child, EventReader, InputWriter, OutputReader};
pub use containment::{Containment, containment};
pub use ended::{Captured, Ended, Exit, How, Limit, Output};
pub use environment::Environment;
pub use launcher::Launcher;
pub use plan::{Caps, Input, Limits, Plan, Stdout};
pub use ring::Ring;
pub use sandbox::{Need, Network, Profile, Sandbox, no_exec_filter};
pub use signal::Signal;
#[cfg(target_os = "linux")]
pub use start::forget_start;
pub use supervisor::{ARGUMENT, supervise_main};
