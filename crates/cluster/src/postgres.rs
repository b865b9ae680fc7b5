//! The archive: copies of the ledgers of several nodes in one PostgreSQL database.
//!
//! Each node has its own ledger and hash chain. [`LedgerReplicator`] copies its records under the node's id.
//! After an outage or a restart it continues from the last copied record. [`ArchiveReader`] reads the
//! archive.
//!
//! # Invariants
//!
//! * A record is copied byte for byte with its sequence number and hash, so that each node's chain can be
//!   verified here.
//! * Copying is idempotent: node and sequence number identify a record. If a record exists with another hash,
//!   copying stops and the journal reports it.
//! * A record is confirmed only after its transaction is committed.
//! * Every attempt has a deadline, every batch has a bound, and failures increase the back-off.
//! * Error texts of the database go to the operator only.

mod archive;
mod connect;
mod errors;
mod reader;
mod settings;
mod table;
mod tls;

pub use archive::{LedgerReplicator, ReplicatorParts};
pub use reader::{ArchiveReader, NodeRecord};
pub use settings::{AddressError, PostgresAddress, PostgresSettings};
