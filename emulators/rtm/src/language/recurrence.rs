//! Recurrence: rules, the words they are given in, and the day that comes next.

mod next;
mod rule;
mod text;

pub(crate) use next::next;
pub(crate) use rule::{Frequency, Rule};
pub(crate) use text::read;

#[cfg(test)]
mod tests;
