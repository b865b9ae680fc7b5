//! Builds a pipeline with all controls.

use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, Secret};
use failwell_pipeline::{
    Alone, Approvals, Controls, EventFilter, Pipeline, PipelineSettings, SharedState, ToolFailures,
};
use failwell_rpc::Era;
use failwell_store::KeyStore;
use failwell_toolbox::ToolServer;

use crate::approval_queue::{ApprovalQueue, GuardedApprovals};
use crate::guards::{GuardRunner, GuardSet};
use crate::rate_limiter::{NodeLimits, RateLimiter, SharedRates};
use crate::rest::memory_sessions::MemorySessions;
use crate::rest::rest_session::RestSessions;
use crate::rest::stored_files::StoredFiles;
use crate::rest::with_stored_files::WithStoredFiles;
use crate::services::OperatorServices;
use crate::telemetry::Telemetry;

#[derive(Debug, Clone)]
pub struct Settings {
    pub request_deadline: Duration,
    pub task_deadline: Duration,
    /// The maximum number of requests in flight.
    pub most_in_flight: usize,
    /// The maximum number of open subscriptions.
    pub most_listeners: usize,
    /// The maximum size of a response, in bytes.
    pub largest_answer: usize,
    pub tool_failures: ToolFailures,
    /// The only supported era; `None` for both.
    pub only: Option<Era>,
    /// The name of the pipeline on its node; empty for the main pipeline.
    pub pipeline: String,
    /// Rate and concurrency limits.
    pub rate_limiter: Arc<RateLimiter>,
    /// Counters shared with other nodes; none by default.
    pub shared_rates: Option<Arc<dyn SharedRates>>,
    /// Content guards; the standard ones by default.
    pub gate: Option<GuardSet>,
    /// The queue of calls that need approval; none by default.
    pub approvals: Option<Arc<ApprovalQueue>>,
    /// REST sessions; in memory by default.
    pub sessions: Arc<dyn RestSessions>,
    /// API keys that are created at run time; none by default.
    pub keys: Option<Arc<dyn KeyStore>>,
    /// Stored files; none by default.
    pub shelf: Option<StoredFiles>,
    pub state: Arc<dyn SharedState>,
    /// The key that all nodes seal with; a new key by default.
    pub seal_key: Option<Secret<[u8; 32]>>,
}

impl Default for Settings {
    fn default() -> Settings {
        let bounds = PipelineSettings::default();
        Settings {
            request_deadline: bounds.request_deadline,
            task_deadline: bounds.task_deadline,
            most_in_flight: bounds.most_in_flight,
            most_listeners: bounds.most_listeners,
            largest_answer: bounds.largest_answer,
            tool_failures: bounds.tool_failures,
            only: bounds.only,
            pipeline: bounds.pipeline,
            rate_limiter: Arc::default(),
            shared_rates: None,
            gate: None,
            approvals: None,
            sessions: Arc::new(MemorySessions::default()),
            keys: None,
            shelf: None,
            state: Arc::new(Alone),
            seal_key: None,
        }
    }
}

/// Creates a pipeline in front of this tool server, with these controls.
pub fn build_pipeline(
    server: Arc<dyn ToolServer>,
    settings: Settings,
    telemetry: impl Into<Telemetry>,
) -> Result<Arc<Pipeline>, Fault> {
    let telemetry = telemetry.into();
    let guard_set = settings.gate.clone().map_or_else(GuardSet::standard, Ok)?;
    let recorder = telemetry.recorder().clone().redacting(guard_set.redactor());
    let journal = recorder.journal().clone();
    let guards = Arc::new(GuardRunner::new(guard_set.clone(), journal, server.info().name));
    let (files, largest_answer) = (settings.shelf.clone(), settings.largest_answer);
    let server = match files.clone() {
        Some(files) => Arc::new(WithStoredFiles { server, files, largest_answer }) as _,
        None => server,
    };
    let services = OperatorServices {
        telemetry: telemetry.clone(),
        sessions: settings.sessions.clone(),
        keys: settings.keys.clone(),
        approvals: settings.approvals.clone(),
        files: files.clone(),
        guards: guards.clone(),
    };
    let (limiter, found) = (settings.rate_limiter.clone(), guards.clone());
    let controls = Controls {
        limits: Arc::new(NodeLimits { limiter: limiter.clone(), shared: settings.shared_rates.clone() }),
        guards,
        approvals: settings.approvals.clone().map(|queue| {
            Arc::new(GuardedApprovals { queue, guards: guard_set.clone() }) as Arc<dyn Approvals>
        }),
        event_filter: files
            .clone()
            .map(|files| -> EventFilter { Arc::new(move |caller, event| files.shows_event(caller, event)) }),
        metrics: Some(Arc::new(move |out| {
            telemetry.write_metrics(out, limiter.buckets(), found.counts());
            guard_set.customs().write_numbers(out);
        })),
        service: Some(Arc::new(services)),
    };
    let pipeline = Pipeline::new(server, settings.bounds(), controls, recorder)?;
    if let Some(files) = files {
        files.announce_to(&pipeline);
    }
    Ok(pipeline)
}

impl Settings {
    fn bounds(self) -> PipelineSettings {
        PipelineSettings {
            request_deadline: self.request_deadline,
            task_deadline: self.task_deadline,
            most_in_flight: self.most_in_flight,
            most_listeners: self.most_listeners,
            largest_answer: self.largest_answer,
            tool_failures: self.tool_failures,
            only: self.only,
            pipeline: self.pipeline,
            state: self.state,
            seal_key: self.seal_key,
        }
    }
}
