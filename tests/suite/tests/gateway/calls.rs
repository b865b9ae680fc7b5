//! Calls and notifications: what is forwarded, and what ends them.

mod life;
mod notices;
mod passing;
mod tasks;
