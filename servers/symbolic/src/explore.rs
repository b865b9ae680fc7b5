//! The interpreter and the exploration of states.

mod calls;
mod collections;
mod inputs;
mod library;
mod loops;
mod machine;
mod numeric;
mod objects;
mod run;
mod sharing;
mod state;
mod step;
mod text;

pub(crate) use inputs::InputType;
pub(crate) use machine::{BranchSide, Machine, OrTrap, Trap};
pub(crate) use run::RunEnd;
pub(crate) use sharing::label;
pub(crate) use state::{Frame, State};
pub(crate) use text::regex::{Match, Regex};
