//! The state of one node on disk: API keys, approvals, pinned tool definitions and stored files.
//!
//! [`ApprovalStore`] and [`KeyStore`] are the traits that the pipeline calls. This crate implements them in
//! SQLite. [`ToolPins`] compares the tools that an upstream lists with the approved definitions.
//! [`blob_store`] stores files. All SQLite files are opened by [`sqlite`].
//!
//! # Invariants
//!
//! * An approval is used by exactly one call, even if several processes claim it at the same time. Each
//!   change is one transaction that takes the write lock before its first read.
//! * A change is on disk before the caller gets a response. A store that cannot be read grants no approval
//!   and accepts no key.
//! * An API key is stored only as its SHA-256. Keys have 256 random bits, so a slow hash would add no
//!   protection, and a fast one allows a lookup per request. A revoked key is refused from the next request
//!   on, in every process.
//! * The last admin key without an expiry cannot be revoked.
//! * Only the owner can read the files and folders. Every table is bounded.
//! * Arguments of approvals are stored with secrets redacted. An approval is bound to a hash of the real
//!   arguments.
//! * Definitions printed for a person escape control, bidirectional and invisible characters.

use failwell_fault::Fault;

mod approvals;
pub mod blob_store;
mod clock;
mod consent_file;
mod keys;
mod pins;
mod shared_image;
pub mod sqlite;
mod text;

pub use approvals::{
    Approval, ApprovalOutcome, ApprovalRequest, ApprovalStore, ApprovalTerms, ApproverAnswer, DecideResult,
    Decision, SqliteApprovals,
};
pub use consent_file::ConsentFile;
pub use keys::{
    AddKeyResult, ApiKey, KeyRequest, KeyStore, RevokeKeyResult, SqliteKeys, create_first_key, generate_key,
    looks_like_key,
};
pub use pins::{
    DiffLine, ListedItems, NewTools, PinAction, PinAdmin, PinCheck, PinRecord, PinSettings, QuarantinedItem,
    ToolPins, describe_change, diff,
};
pub use shared_image::{SharedImage, VersionedImage};
pub use text::{readable, visible};

/// The result of a store operation. It is boxed because the stores are trait objects.
pub type StoreFuture<T> = std::pin::Pin<Box<dyn Future<Output = Result<T, Fault>> + Send>>;
