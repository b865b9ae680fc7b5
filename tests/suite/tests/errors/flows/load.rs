//! Clients that are slow, too many, or that send too much.

mod busy;
mod slow;
mod storm;
