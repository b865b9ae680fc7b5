//! Child processes under a supervisor, from the start until their last descendant has ended.
//!
//! A [`Plan`] describes a child completely: program, arguments, folder, environment, descriptors, limits,
//! sandbox. [`Launcher::start`] runs it under a supervisor. The supervisor is this program started again with
//! a hidden argument ([`ARGUMENT`], handled by [`supervise_main`]). It is the subreaper of all descendants of
//! the child, enforces the limits and forwards signals. When the child ends, it kills and reaps all remaining
//! descendants.
//!
//! # Invariants
//!
//! * A child gets only what its plan names: no other variable, no other descriptor.
//! * When [`Child::wait`] returns, no descendant of the child is alive, even if its supervisor was killed.
//!   When a [`Child`] is dropped, or this program dies, the same cleanup runs in the background.
//! * A wait ends when the process ends, never when a pipe closes: a grandchild may hold a pipe open.
//! * Output is always drained, and stored as a head and a tail of bounded size. A child never blocks on a
//!   full pipe.
//! * A child's output and the system's error texts never enter the public half of a fault.
//! * No child can read the environment or the memory of this program ([`protect_self`]).
//! * When this program ends, no descendant of a child stays: it waits for its supervisors and kills those that do not
//!   end ([`end_all`]). When it is killed, the kernel wakes supervisors that a child has stopped.
//! * `unsafe` is in two modules, `supervisor/pre_exec.rs` and `environment_block.rs`, which state the reason.

#![cfg(unix)]

mod child;
mod containment;
mod environment;
#[cfg(target_os = "linux")]
mod environment_block;
mod fd_passing;
mod launcher;
mod orphans;
mod plan;
#[cfg(target_os = "linux")]
mod process_tree;
mod protocol;
mod sandbox;
mod self_protection;
mod signal;
mod supervisor;

pub use child::exit::{CapturedOutput, ChildExit, Exit, ExitCause, Limit, Output};
pub use child::ring::Ring;
pub use child::{Child, EventReader, InputWriter, OutputReader};
pub use containment::{Containment, containment};
pub use environment::Environment;
pub use launcher::Launcher;
pub use orphans::end_all;
pub use plan::{Caps, Input, Limits, Plan, Stdout};
pub use sandbox::{Network, Profile, Sandbox, SandboxNeed, no_exec_filter};
pub use self_protection::protect_self;
pub use signal::Signal;
pub use supervisor::{ARGUMENT, supervise_main};
