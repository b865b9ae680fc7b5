//! The pipelines that serve a configuration, and their reload.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use failwell_controls::{ApprovalQueue, GuardSet, Settings, Telemetry, build_pipeline};
use failwell_fault::Fault;
use failwell_gateway::{
    Gateway, ReloadReport, ReloadableServer, ServerFailure, StartingServer, UpstreamSettings,
};
use failwell_pipeline::{Pipeline, PipelineSettings, keep_panics_quiet};
use failwell_policy::{GuardSettings, Guards};
use failwell_process::Launcher;
use failwell_store::blob_store::BlobStore;
use failwell_store::{ConsentFile, SqliteApprovals, ToolPins};
use failwell_toolbox::{Info, ToolServer};

use super::serve;
use super::server_directory::{GatewayServers, failure_text};
use super::server_log::log_servers;
use super::start_error::StartError;
use crate::cli::Bounds;
use crate::commands::backends::shared::SharedBackends;
use crate::commands::backends::{blob_store, custom_guards, ledger, upstreams};
use crate::complaint::Complaint;
use crate::config::{Builtin, Config};

const INFO: Info = Info {
    name: "failwell",
    title: "Failwell",
    version: env!("CARGO_PKG_VERSION"),
    instructions: "Tools of several servers; a tool is called server__tool.",
};

/// The gateway with its pipelines.
pub(super) struct ServedGateway {
    /// The pipeline of `/mcp`, with all servers.
    pub(super) pipeline: Arc<Pipeline>,
    pub(super) telemetry: Telemetry,
    /// The pipelines of `/mcp/<server>`, by server name.
    pub(super) single: BTreeMap<String, Arc<Pipeline>>,
    gateway: Gateway,
    front: ReloadableServer,
    guard_set: GuardSet,
    guards: GuardSettings,
    custom_guards: custom_guards::GuardRegistry,
    launcher: Launcher,
    settings: Settings,
    approvals: Arc<ApprovalQueue>,
    pins: Arc<ToolPins>,
    consent: Arc<ConsentFile>,
    shelf: Option<BlobStore>,
    /// A line about each guard that is not critical and does not work.
    pub(super) disabled: Vec<String>,
    /// The rate from the command line. It overrides the file's.
    typed_rate: Option<u32>,
}

/// The parts that a reload changed.
pub(super) struct ReloadOutcome {
    pub(super) reloaded: ReloadReport,
    pub(super) limited: bool,
    /// Whether the settings of approvals changed.
    pub(super) approving: bool,
    /// Whether the settings of pins changed.
    pub(super) pinning: bool,
    /// Whether the limits of stored files changed.
    pub(super) shelving: bool,
}

type BuiltInServers = Vec<(String, Arc<dyn ToolServer>)>;

/// The parts of a new configuration that can fail, built before the first of them is swapped in.
struct NextConfig {
    upstreams: Vec<UpstreamSettings>,
    built_in_servers: BuiltInServers,
    front: Arc<dyn ToolServer>,
    single: BTreeMap<String, Arc<Pipeline>>,
    /// Present if their settings changed.
    guards: Option<Guards>,
}

impl ServedGateway {
    /// Builds the pipelines for a configuration. Servers are started by
    /// [`ServedGateway::start_servers`], or when the first request needs them.
    pub(super) async fn new(
        bounds: &Bounds,
        config: &Config,
        shared: SharedBackends,
    ) -> Result<ServedGateway, StartError> {
        keep_panics_quiet();
        if config.servers.is_empty() && config.upstreams.is_empty() {
            return Err(StartError::Complaint(Complaint::new(
                "there is nothing to serve",
                "name a built-in server under `servers`, or add an [[upstream]], in the configuration",
            )));
        }
        ServedGateway::build(bounds, config, shared).await.map_err(StartError::of)
    }

    async fn build(bounds: &Bounds, config: &Config, shared: SharedBackends) -> Result<ServedGateway, Fault> {
        let guard_set = GuardSet::new(Guards::compile(config.guards.clone())?);
        let consent = shared.consent;
        let store = Arc::new(SqliteApprovals::new(&consent, &config.scope()));
        let approvals = Arc::new(ApprovalQueue::new(store, config.approval.clone()));
        let launcher = Launcher::of_this_program()?;
        let gateway = Gateway::with_state(INFO, &launcher, shared.state.clone());
        let shelf = blob_store::open(config);
        let settings = Settings {
            bounds: PipelineSettings {
                request_deadline: Duration::from_secs(bounds.request_timeout),
                state: shared.state,
                seal_key: shared.seal_key,
                ..PipelineSettings::default()
            },
            rate_limiter: serve::rate_limiter(config.limits.clone(), bounds.rate),
            guard_set: Some(guard_set.clone()),
            approvals: Some(approvals.clone()),
            stored_files: shelf.as_ref().map(|shelf| blob_store::stored_files(shelf, &gateway, config)),
            shared_rates: shared.rates,
            sessions: shared.sessions,
            keys: Some(shared.keys),
            servers: Some(Arc::new(GatewayServers {
                gateway: gateway.clone(),
                guard_set: guard_set.clone(),
            })),
        };
        let pins = ToolPins::new(&consent, &config.scope(), config.pin.clone());
        gateway.set_pins(pins.clone());
        let built_in_servers = built_in_servers(&gateway, config, shelf.as_ref())?;
        let front = ReloadableServer::new(front(&gateway, config, &built_in_servers));
        let telemetry = ledger::telemetry(config, &guard_set)?;
        telemetry.recorder().tracer().cloned().into_iter().for_each(|tracer| gateway.set_tracer(tracer));
        let pipeline = build_pipeline(Arc::new(front.clone()), settings.clone(), telemetry.clone())?;
        match config.command_server() {
            Some(only) => gateway.announce_single_to(only, pipeline.hub()),
            None => gateway.announce_to(pipeline.hub()),
        }
        log_servers(&gateway, &pipeline);
        let (single, guards, typed_rate) = (BTreeMap::new(), config.guards.clone(), bounds.rate);
        let custom_guards = custom_guards::GuardRegistry::default();
        let mut served = ServedGateway {
            pipeline,
            telemetry,
            single,
            gateway,
            front,
            guard_set,
            guards,
            custom_guards,
            launcher,
            settings,
            approvals,
            pins,
            consent,
            shelf,
            disabled: Vec::new(),
            typed_rate,
        };
        served.apply(config).await?;
        Ok(served)
    }

    /// Applies another configuration, completely or not at all.
    pub(super) async fn apply(&mut self, config: &Config) -> Result<ReloadOutcome, Fault> {
        let custom_guards = match self.custom_guards.differs(&config.custom_guards) {
            true => Some(self.custom_guards.prepare(&config.custom_guards, &self.launcher).await?),
            false => None,
        };
        let NextConfig { upstreams, built_in_servers, front, single, guards } = self.prepare(config)?;
        for (name, pipeline) in &single {
            if !self.single.contains_key(name) {
                self.gateway.announce_single_to(name, pipeline.hub());
            }
        }
        let ruled = self.gateway.set_policy(config.access_policy());
        let limited =
            self.settings.rate_limiter.replace(serve::limits(config.limits.clone(), self.typed_rate));
        let approving = self.approvals.replace(config.approval.clone());
        let pinning = self.pins.replace(config.pin.clone());
        let settings = &config.shelf.settings;
        let all_files = &config.shelf.all_files;
        let shared =
            self.settings.stored_files.as_ref().is_some_and(|files| files.share_with(all_files.clone()));
        let shelving = self.shelf.as_ref().is_some_and(|shelf| shelf.set(settings.clone())) || shared;
        if pinning {
            self.gateway.recheck_pins();
        }
        let reloaded = ReloadReport { ruled, ..self.gateway.reload(upstreams, built_in_servers) };
        self.front.set(front);
        if let Some(guards) = guards {
            self.guard_set.set(guards);
            self.guards = config.guards.clone();
        }
        if let Some(mut custom_guards) = custom_guards {
            self.disabled = self.report_disabled(std::mem::take(&mut custom_guards.disabled));
            self.guard_set.set_custom_guards(self.custom_guards.activate(custom_guards));
        }
        self.single = single;
        Ok(ReloadOutcome { reloaded, limited, approving, pinning, shelving })
    }

    /// Writes to the log which guards do not work. Returns a line about each for the terminal.
    fn report_disabled(&self, disabled: Vec<(String, Fault)>) -> Vec<String> {
        let line = |(name, fault): (String, Fault)| {
            self.pipeline.note(fault, "guard");
            format!("guard {name} is disabled: it does not work, and messages pass without its verdict")
        };
        disabled.into_iter().map(line).collect()
    }

    /// Notifies clients of changed lists.
    pub(super) fn announce(&self, reloaded: &ReloadReport) {
        self.gateway.announce(reloaded);
    }

    fn prepare(&self, config: &Config) -> Result<NextConfig, Fault> {
        let built_in_servers = built_in_servers(&self.gateway, config, self.shelf.as_ref())?;
        let upstreams = upstreams::all(config);
        let names = upstreams
            .iter()
            .map(|upstream| &upstream.name)
            .chain(built_in_servers.iter().map(|(name, _)| name));
        let single = names.map(|name| Ok((name.clone(), self.alone(name)?))).collect::<Result<_, Fault>>()?;
        let front = front(&self.gateway, config, &built_in_servers);
        let other = (self.guards != config.guards).then(|| config.guards.clone());
        let guards = other.map(Guards::compile).transpose()?;
        Ok(NextConfig { upstreams, built_in_servers, front, single, guards })
    }

    /// The pipeline of one server. An existing one keeps its sessions.
    fn alone(&self, name: &str) -> Result<Arc<Pipeline>, Fault> {
        match self.single.get(name) {
            Some(pipeline) => Ok(pipeline.clone()),
            None => {
                let mut settings = self.settings.clone();
                settings.bounds.pipeline = name.to_owned();
                build_pipeline(self.gateway.single(name), settings, self.telemetry.clone())
            }
        }
    }

    /// Starts the servers in the background, so that the first caller does not wait for them.
    pub(super) fn start_servers(&self) -> Vec<StartingServer> {
        self.gateway.start_servers(&self.pipeline.own_context())
    }

    /// Says why a server failed, in one line for the operator, without secrets.
    pub(super) fn failure_text(&self) -> impl Fn(&ServerFailure) -> String + use<> {
        let guard_set = self.guard_set.clone();
        move |failure| failure_text(failure, &guard_set)
    }

    /// The names of the servers that start at the first need.
    pub(super) fn lazy_servers(&self) -> Vec<String> {
        let all = self.gateway.servers(None).into_iter();
        all.filter(|server| server.is_lazy).map(|server| server.name).collect()
    }

    /// A closure that stops the upstreams, writes the telemetry out, and closes every file of the state folder.
    pub(super) fn end(&self) -> impl FnOnce() + use<> {
        let (gateway, telemetry) = (self.gateway.clone(), self.telemetry.clone());
        let (consent, shelf, keys) = (self.consent.clone(), self.shelf.clone(), self.settings.keys.clone());
        move || {
            gateway.stop();
            telemetry.close();
            consent.close();
            shelf.iter().for_each(BlobStore::close);
            keys.iter().for_each(|keys| keys.close());
        }
    }
}

/// A single built-in server keeps its tool names, and so does the server of a command. Several servers share one list with prefixed names.
fn front(
    gateway: &Gateway,
    config: &Config,
    built_in_servers: &[(String, Arc<dyn ToolServer>)],
) -> Arc<dyn ToolServer> {
    if let Some(only) = config.command_server() {
        return gateway.single(only);
    }
    match (built_in_servers, config.upstreams.is_empty()) {
        ([(name, _)], true) if !config.access_policy().is_clear() || !config.limits.tools.is_empty() => {
            gateway.single(name)
        }
        ([(_, only)], true) => only.clone(),
        _ => Arc::new(gateway.clone()),
    }
}

/// The configured built-in servers. Running ones are reused.
fn built_in_servers(
    gateway: &Gateway,
    config: &Config,
    shelf: Option<&BlobStore>,
) -> Result<BuiltInServers, Fault> {
    let one = |server: &Builtin| match gateway.built_in(server.name()) {
        Some(running) => Ok((server.name().to_owned(), running)),
        None => Ok((server.name().to_owned(), serve::built_in_server(*server, config, shelf)?)),
    };
    config.servers.iter().map(one).collect()
}
