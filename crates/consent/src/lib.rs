//! What a person has to say yes to, kept on disk: calls that wait for it and what was answered, and definitions of tools
//! as they were when they were first seen or last approved.
//!
//! [`Kept`] implements `server::Approvals` in one SQLite file, which the gateway and the command line open at the same
//! time. [`Pins`] compares what upstreams say of their tools with what is known; [`PinBook`] is the operator's side of it.
//!
//! # Invariants
//!
//! * One yes is used by one call, whichever process and thread asks at the same time: every change is one transaction
//!   that holds the file from its first look on.
//! * A change is on disk before anybody acts on it.
//! * The file is its owner's alone, and bounded: questions, their size, and what is remembered of old ones.
//! * What cannot be read or written is no yes. Pins for which no file could ever be made last as long as the program.
//! * Text for people shows what would hide: control, direction-changing and invisible characters by their numbers.
//! * Arguments come in with secrets taken out; what an answer is bound to is a hash of the real ones.

mod approvals;
mod compare;
mod pin_rows;
mod pins;
mod readable;
mod rows;
mod store;
mod visible;

pub use approvals::Kept;
pub use compare::{Compared, compare};
pub use pin_rows::{Held, Pin};
pub use pins::{Listing, Looked, NewTools, PinAction, PinBook, PinSettings, Pins, changes};
pub use readable::readable;
pub use store::Store;
pub use visible::visible;
