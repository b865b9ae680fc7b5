//! The key board: keys that were made while the program runs, on disk.
//!
//! [`FileRing`] implements `server::KeyRing` in one SQLite file of the state folder, which several programs may open.
//!
//! # Invariants
//!
//! * No key is kept, only its SHA-256. Keys have 256 random bits, so that there is nothing a slow hash would protect;
//!   a fast one lets every request look its key up.
//! * A key that was taken back opens nothing from the next request on, whichever program took it back.
//! * A change is on disk before anybody is told of it. What cannot be read opens nothing.
//! * The file is its owner's alone, and bounded. The last key of an admin that does not expire stays.

mod file;
mod rows;

pub use file::FileRing;
