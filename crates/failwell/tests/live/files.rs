//! Stored files.

mod forms;
mod resources;
mod stored_files;
