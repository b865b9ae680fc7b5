//! The interpreter and the exploration of states.

mod aggregate;
mod arithmetic;
mod attributes;
mod builtins;
mod calls;
mod classes;
mod compare;
mod construct;
mod containers;
mod division;
mod format;
mod induction;
mod inputs;
mod invariants;
mod iterate;
mod machine;
mod methods;
mod modules;
mod numbers;
mod opentext;
mod patterns;
mod run;
mod setorder;
mod spec;
mod state;
mod step;
mod strings;
mod subscripts;
mod types;
mod unicode;

pub(crate) use inputs::InputType;
pub(crate) use machine::{Machine, R, Side, Trap};
pub(crate) use run::Ran;
pub(crate) use state::{Frame, State};
