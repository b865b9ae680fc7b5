//! The REST services beyond tools. They belong to a pipeline, and their calls pass through it.

use std::sync::Arc;

use failwell_pipeline::{Call, ContentGuards, Pipeline};
use failwell_store::KeyStore;

use crate::approval_queue::ApprovalQueue;
use crate::rest::admin::{AdminCall, AdminRequest};
use crate::rest::approval_calls::{ApprovalCall, ApprovalsRequest};
use crate::rest::rest_session::RestSessions;
use crate::rest::stored_file_calls::{StoredFileCall, StoredFilesRequest};
use crate::rest::stored_files::StoredFiles;
use crate::server_directory::ServerDirectory;
use crate::telemetry::Telemetry;

/// The services of one pipeline. Clones share them.
#[derive(Clone)]
pub struct OperatorServices {
    pub(crate) telemetry: Telemetry,
    pub(crate) sessions: Arc<dyn RestSessions>,
    pub(crate) keys: Option<Arc<dyn KeyStore>>,
    pub(crate) approvals: Option<Arc<ApprovalQueue>>,
    pub(crate) files: Option<StoredFiles>,
    pub(crate) guards: Arc<dyn ContentGuards>,
    pub(crate) servers: Arc<dyn ServerDirectory>,
}

impl OperatorServices {
    /// Returns the services of a pipeline; `None` for one without controls.
    pub fn of(pipeline: &Pipeline) -> Option<&OperatorServices> {
        pipeline.service()
    }

    pub fn telemetry(&self) -> &Telemetry {
        &self.telemetry
    }

    /// Creates a call about the program itself.
    pub fn admin(&self, call: AdminCall) -> Call<'static> {
        Call::Extension(Box::new(AdminRequest { call, services: self.clone() }))
    }

    /// Creates a call about approvals.
    pub fn approvals(&self, call: ApprovalCall) -> Call<'static> {
        Call::Extension(Box::new(ApprovalsRequest { call, queue: self.approvals.clone() }))
    }

    /// Creates a call about stored files.
    pub fn stored_files(&self, call: StoredFileCall) -> Call<'static> {
        let (files, guards) = (self.files.clone(), self.guards.clone());
        Call::Extension(Box::new(StoredFilesRequest { call, files, guards }))
    }
}
