//! The examiner: drives any MCP server through every failure and reports which rules it keeps.
//!
//! [`examine()`] finds out which revisions a server speaks, then makes every check of the catalogue in the newest
//! session revision and in the modern one, and asks the server after each whether it still lives. A server that
//! died or hangs is a finding; it is started again and the examination goes on. The [`Report`] holds a verdict for
//! each check with the bytes sent, the bytes that came back, and the clause behind it.
//!
//! # Score
//!
//! Each check that applies stakes points: a MUST 3, a SHOULD 1, a leak 5. *Held* wins them all, *broken* none, and
//! *short* (the demand held, a recommendation inside it did not) all but 1, or half of a SHOULD. Checks that do not apply stake nothing.
//! A check after which the server no longer answers is broken and stakes as a MUST at least. The score is the
//! points won of the points at stake, in hundredths, rounded down: 100 means everything held.
//!
//! # Invariants
//!
//! * No other Failwell crate is used: an examiner must not share the parser of the examined.
//! * A tool is called with valid arguments only when it looks harmless or was named by the person.
//! * Every wait has a deadline, every buffer a cap, every child its own process group that dies with it.
//! * Bytes from the server reach a terminal only through `printable`.
//! * Nothing the server does is an error of the examination; it is a finding.

mod checks;
mod connection;
mod examine;
mod failure;
mod report;
mod revision;
mod target;

pub use checks::leak::{Category, Leak};
pub use checks::verdict::{Level, Verdict};
pub use examine::{Progress, examine};
pub use failure::ProbeError;
pub use report::{CheckReport, Detail, Report, VerdictCounts};
pub use revision::Revision;
pub use target::{Options, Target, Transport};
