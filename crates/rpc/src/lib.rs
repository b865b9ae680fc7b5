//! The letter: one strict scan of the bytes, the message they carry, its id, its protocol era, and where the
//! reply goes.
//!
//! Read in this order: [`scan`] (is it JSON we accept, and where are its parts), [`raw`] (values borrowed from
//! scanned text), [`message`] (request, notification or response), [`era`], [`reply_to`].
//!
//! # Invariants
//!
//! * Bytes are checked once. Everything after the scan borrows from them; nothing re-parses to pass a message on.
//! * The scan never recurses and never allocates in proportion to an ordinary message.
//! * Two readers of an accepted message cannot disagree about it: no duplicate keys (compared decoded), no lone
//!   surrogates, no numbers that overflow a double.
//! * An id is its exact text. It is echoed byte for byte, whatever a double would make of it.
//! * Absent on purpose: JSON-RPC code numbers and HTTP statuses (they live in the renderer), and any I/O.

pub mod era;
pub mod id;
pub mod message;
pub mod raw;
pub mod reply_to;
pub mod scan;
pub mod write;

pub use era::{Era, Revision, meta};
pub use id::Id;
pub use message::{About, Incoming, Letter, Message, Misread, Notification, Request, Response, read};
pub use raw::{Fields, Json, Kind, Object, Raw};
pub use reply_to::{Asked, Face, ReplyTo, RestStyle, Wants};
pub use scan::{Defect, Limits};
pub use write::{json_string, on_one_line, push_json_string};
