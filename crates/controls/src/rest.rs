//! REST calls beyond tools: sessions, keys, operations, approvals and stored files.

pub(crate) mod admin;
pub(crate) mod approval_calls;
pub(crate) mod memory_sessions;
pub(crate) mod rest_session;
pub(crate) mod stored_file_calls;
pub(crate) mod stored_files;
pub(crate) mod with_stored_files;
