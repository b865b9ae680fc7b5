//! Stored files.

mod forms;
mod resources;
mod shelf;
