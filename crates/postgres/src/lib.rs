//! The archive: the ledgers of several nodes side by side in one PostgreSQL database.
//!
//! Every node keeps its own ledger and its own chain. What is in it is copied here by number ([`Archive`]), under the
//! node's name, and goes on after an outage or a new start from where it was left. [`Stacks`] is the reading side.
//!
//! # Invariants
//!
//! * A record is copied byte for byte with its number and its hash, so that each node's chain can be checked here.
//! * Copying twice changes nothing: a record is known by node and number. One that is there already with another hash
//!   stops the copying, and is told.
//! * A record is only told to be here once the transaction is committed.
//! * Every attempt has a deadline, every batch a bound, and rests between failures grow.
//! * A server's words go to the operator alone.

mod archive;
mod connect;
mod settings;
mod stacks;
mod table;
mod tls;
mod why;

pub use archive::{Archive, Ends};
pub use settings::{Address, PostgresSettings, Wrong};
pub use stacks::{Found, Stacks};
