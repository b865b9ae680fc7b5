//! The operator's controls around the pipeline: rate limits, content guards, approvals, records, API keys and
//! stored files.
//!
//! [`build_pipeline`] makes a pipeline with these controls. The pipeline itself knows only their traits.
//!
//! # Invariants
//!
//! * Every message passes the content guards before the work, and before it leaves.
//! * Every doubt about an approval counts as no approval.
//! * Every table and queue is bounded.
//! * Absent on purpose: sockets, code numbers, HTTP statuses.

mod approval_queue;
mod approval_view;
mod build;
mod custom_guards;
mod guards;
mod rate_limiter;
mod rest;
mod scan_pool;
mod server_directory;
mod services;
mod telemetry;

pub use approval_queue::ApprovalQueue;
pub use build::{Settings, build_pipeline};
pub use custom_guards::{ConfiguredGuard, CustomGuards};
pub use guards::GuardSet;
pub use rate_limiter::{RateLimiter, SharedRateDecision, SharedRates};
pub use rest::admin::AdminCall;
pub use rest::approval_calls::ApprovalCall;
pub use rest::memory_sessions::MemorySessions;
pub use rest::rest_session::{Item, RestSession, RestSessions, SessionTerms};
pub use rest::stored_file_calls::{FileContents, Span, StoredFileCall, Upload, UploadTarget};
pub use rest::stored_files::{SHELF_SERVER, StoredFiles, VisibilityCheck};
pub use server_directory::{ServerDirectory, ServerFailureInfo, ServerInfo};
pub use services::OperatorServices;
pub use telemetry::Telemetry;
pub use telemetry::operations::{OperationEvent, OperationFilter, OperationListener, Operations};
