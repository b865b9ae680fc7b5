//! Calls and notifications: what is forwarded, and what ends them.

mod lifecycle;
mod notices;
mod passthrough;
mod tasks;
