//! The shelf: resources on disk, named by what is in them: `resource://{type}/{sha256}{ext}`.
//!
//! [`Shelf::put`] keeps bytes that are there, [`Shelf::begin`] takes them piece by piece, [`Shelf::fetch`] gives them out.
//! What belongs to them (sizes, times, metadata) is in a SQLite file beside them.
//!
//! # Invariants
//!
//! * A file under its name is whole, whatever ended the program: bytes are written elsewhere in the same folder, forced to
//!   the disk, and renamed. What was being written when a program died is removed by the next one that looks.
//! * A row and its file come and go within one transaction that holds the index, so that several programs can use one folder.
//! * Only [`Kind`], [`Extension`] and a hash become part of a path. There is no way in for any other text.
//! * What has expired is not there, before and after the sweeper removes it.
//! * Sizes, numbers, metadata and what is being brought at once are bounded; the folder is its owner's alone.
//! * Absent on purpose: callers, policy, the wire.

mod address;
mod changes;
mod deposit;
mod fetch;
mod file_name;
mod folder;
mod index;
mod kept;
mod media;
mod quota;
mod rows;
mod settings;
mod shelf;
mod sweep;
mod trouble;

pub use address::{Address, Extension, Kind, SCHEME};
pub use changes::Change;
pub use deposit::Deposit;
pub use fetch::Fetched;
pub use file_name::FileName;
pub use kept::{Kept, New, Page, Wanted};
pub use media::{extension_of, is_text, media_type};
pub use settings::{LARGEST_METADATA, ShelfSettings};
pub use shelf::Shelf;
