//! Clients that are slow, too many or too loud.

mod busy;
mod slow;
mod storm;
