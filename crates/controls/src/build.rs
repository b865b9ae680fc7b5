//! Builds a pipeline with all controls.

use std::sync::Arc;

use failwell_fault::Fault;
use failwell_pipeline::{Approvals, Controls, EventFilter, Pipeline, PipelineSettings, UnreadyPart};
use failwell_rpc::Caller;
use failwell_store::KeyStore;
use failwell_toolbox::ToolServer;

use crate::approval_queue::{ApprovalQueue, GuardedApprovals};
use crate::guards::{GuardRunner, GuardSet};
use crate::rate_limiter::{NodeLimits, RateLimiter, SharedRates};
use crate::rest::memory_sessions::MemorySessions;
use crate::rest::rest_session::RestSessions;
use crate::rest::stored_files::StoredFiles;
use crate::rest::with_stored_files::WithStoredFiles;
use crate::server_directory::{OneServer, ServerDirectory};
use crate::services::OperatorServices;
use crate::telemetry::Telemetry;

#[derive(Debug, Clone)]
pub struct Settings {
    /// Deadlines, bounds and shared state of the pipeline.
    pub bounds: PipelineSettings,
    /// Rate and concurrency limits.
    pub rate_limiter: Arc<RateLimiter>,
    /// Counters shared with other nodes; none by default.
    pub shared_rates: Option<Arc<dyn SharedRates>>,
    /// Content guards; the standard ones by default.
    pub guard_set: Option<GuardSet>,
    /// The queue of calls that need approval; none by default.
    pub approvals: Option<Arc<ApprovalQueue>>,
    /// REST sessions; in memory by default.
    pub sessions: Arc<dyn RestSessions>,
    /// API keys that are created at run time; none by default.
    pub keys: Option<Arc<dyn KeyStore>>,
    /// Stored files; none by default.
    pub stored_files: Option<StoredFiles>,
    /// The servers behind the pipeline; by default the one that it serves.
    pub servers: Option<Arc<dyn ServerDirectory>>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            bounds: PipelineSettings::default(),
            rate_limiter: Arc::default(),
            shared_rates: None,
            guard_set: None,
            approvals: None,
            sessions: Arc::new(MemorySessions::default()),
            keys: None,
            stored_files: None,
            servers: None,
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
    let guard_set = settings.guard_set.clone().map_or_else(GuardSet::standard, Ok)?;
    let recorder = telemetry.recorder().clone().redacting(guard_set.redactor());
    let journal = recorder.journal().clone();
    let guards = Arc::new(GuardRunner::new(guard_set.clone(), journal, server.info().name));
    let (files, largest_answer) = (settings.stored_files.clone(), settings.bounds.largest_answer);
    let server = match files.clone() {
        Some(files) => Arc::new(WithStoredFiles { server, files, largest_answer }) as _,
        None => server,
    };
    let own = || Arc::new(OneServer::new(server.info().name)) as Arc<dyn ServerDirectory>;
    let servers = settings.servers.clone().unwrap_or_else(own);
    let (readiness, directory) = (telemetry.clone(), servers.clone());
    let services = OperatorServices {
        telemetry: telemetry.clone(),
        sessions: settings.sessions.clone(),
        keys: settings.keys.clone(),
        approvals: settings.approvals.clone(),
        files: files.clone(),
        guards: guards.clone(),
        servers,
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
            guard_set.custom_guards().write_numbers(out);
        })),
        readiness: Some(Arc::new(move |reader| not_ready(&readiness, &*directory, reader))),
        service: Some(Arc::new(services)),
    };
    let pipeline = Pipeline::new(server, settings.bounds, controls, recorder)?;
    if let Some(files) = files {
        files.announce_to(&pipeline);
    }
    Ok(pipeline)
}

/// The parts that do not work, in the order in which an operator looks at them.
fn not_ready(
    telemetry: &Telemetry,
    servers: &dyn ServerDirectory,
    reader: Option<&Caller>,
) -> Vec<UnreadyPart> {
    let ledger = telemetry.ledger().filter(|ledger| !ledger.health().works);
    let ledger = ledger.map(|_| UnreadyPart { part: "ledger", name: None, state: "down" });
    let servers = servers.servers(reader).into_iter();
    let servers = servers.filter(|server| matches!(server.state, "down" | "starting"));
    let servers =
        servers.map(|server| UnreadyPart { part: "server", name: Some(server.name), state: server.state });
    ledger.into_iter().chain(servers).collect()
}
