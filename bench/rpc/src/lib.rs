//! Three ways to read a message and pass it on under another id, and three messages to do it with.

pub mod contenders;
pub mod messages;
