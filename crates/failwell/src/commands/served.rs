//! What a configuration is served as, and how it becomes another one while it runs.

use std::collections::BTreeMap;
use std::path::absolute;
use std::sync::Arc;
use std::time::Duration;

use failwell_consent::{Kept, Pins, Store};
use failwell_fault::{Fault, Secret};
use failwell_gateway::{
    ClientCredentials, Front, Gateway, Reach, Reloaded, Restart, Trust, UpstreamSettings,
};
use failwell_policy::{GuardSettings, Guards};
use failwell_process::Launcher;
use failwell_server::{ApprovalDesk, Gate, House, Info, Room, Settings, keep_panics_quiet};
use failwell_shelf::Shelf;

use super::shared::Shared;
use super::{customs, kept, ledger, serve};
use crate::cli::Bounds;
use crate::complaint::Complaint;
use crate::config::{Auth, Builtin, Config, Target, UpstreamConfig};

const INFO: Info = Info {
    name: "failwell",
    title: "Failwell",
    version: env!("CARGO_PKG_VERSION"),
    instructions: "Tools of several servers; a tool is called server__tool.",
};

/// What is served.
pub(super) struct Served {
    /// Everything at once.
    pub(super) house: Arc<House>,
    /// Every server alone, by name.
    pub(super) single: BTreeMap<String, Arc<House>>,
    gateway: Gateway,
    front: Front,
    gate: Gate,
    guards: GuardSettings,
    customs: customs::Running,
    launcher: Launcher,
    settings: Settings,
    approvals: Arc<ApprovalDesk>,
    pins: Arc<Pins>,
    shelf: Option<Shelf>,
    /// The rate that was typed, which goes before that of the file.
    typed_rate: Option<u32>,
}

/// What became another.
pub(super) struct Became {
    pub(super) reloaded: Reloaded,
    /// Whether the limits are others.
    pub(super) limited: bool,
    /// Whether other terms hold for what needs a yes.
    pub(super) approving: bool,
    /// Whether something else is done with changed definitions.
    pub(super) pinning: bool,
    /// Whether other bounds hold for what is kept.
    pub(super) shelving: bool,
}

/// Built-in servers by name.
type Rooms = Vec<(String, Arc<dyn Room>)>;

/// Another configuration, built as far as it can be without anybody noticing.
struct Prepared {
    upstreams: Vec<UpstreamSettings>,
    rooms: Rooms,
    front: Arc<dyn Room>,
    single: BTreeMap<String, Arc<House>>,
    /// Other guards, if they are set otherwise.
    guards: Option<Guards>,
}

impl Served {
    /// Serves what a configuration says. No server behind the gateway is started before it is needed.
    pub(super) fn new(bounds: &Bounds, config: &Config, shared: Shared) -> Result<Served, Complaint> {
        keep_panics_quiet();
        if config.servers.is_empty() && config.upstreams.is_empty() {
            return Err(Complaint::new(
                "there is nothing to serve",
                "name a built-in server under `servers`, or add an [[upstream]], in the configuration",
            ));
        }
        Served::build(bounds, config, shared).map_err(|fault| serve::unexpected(&fault))
    }

    fn build(bounds: &Bounds, config: &Config, shared: Shared) -> Result<Served, Fault> {
        let gate = Gate::new(Guards::compile(config.guards.clone())?);
        let consent = Store::in_folder(&ledger::folder(config));
        let kept = Arc::new(Kept::of(&consent, &config.scope()));
        let approvals = Arc::new(ApprovalDesk::new(kept, config.approval.clone()));
        let launcher = Launcher::of_this_program()?;
        let gateway = Gateway::sharing(INFO, &launcher, shared.state.clone());
        let shelf = kept::shelf(config);
        let settings = Settings {
            request_deadline: Duration::from_secs(bounds.request_timeout),
            turnstile: serve::turnstile(config.limits.clone(), bounds.rate),
            gate: Some(gate.clone()),
            approvals: Some(approvals.clone()),
            shelf: shelf.as_ref().map(|shelf| kept::desk(shelf, &gateway)),
            state: shared.state,
            seal_key: shared.seal_key,
            sessions: shared.sessions,
            keys: Some(shared.keys),
            ..Settings::default()
        };
        let pins = Pins::of(&consent, &config.scope(), config.pin.clone());
        gateway.pin(pins.clone());
        let rooms = rooms(&gateway, config, shelf.as_ref())?;
        let front = Front::new(front(&gateway, config, &rooms));
        let books = ledger::books(config, &gate)?;
        let house = House::new(Arc::new(front.clone()), settings.clone(), books)?;
        gateway.announce_to(house.hub());
        let (single, guards, typed_rate) = (BTreeMap::new(), config.guards.clone(), bounds.rate);
        let customs = customs::Running::default();
        let mut served = Served {
            house,
            single,
            gateway,
            front,
            gate,
            guards,
            customs,
            launcher,
            settings,
            approvals,
            pins,
            shelf,
            typed_rate,
        };
        served.become_another(config)?;
        Ok(served)
    }

    /// Serves what another configuration says, from now on: all of it, or nothing when that cannot be.
    pub(super) fn become_another(&mut self, config: &Config) -> Result<Became, Fault> {
        let Prepared { upstreams, rooms, front, single, guards } = self.prepare(config)?;
        for (name, house) in &single {
            if !self.single.contains_key(name) {
                self.gateway.announce_single_to(name, house.hub());
            }
        }
        let ruled = self.gateway.rule(config.ruling());
        let limited = self.settings.turnstile.replace(serve::limits(config.limits.clone(), self.typed_rate));
        let approving = self.approvals.replace(config.approval.clone());
        let pinning = self.pins.replace(config.pin.clone());
        let settings = &config.shelf.settings;
        let shelving = self.shelf.as_ref().is_some_and(|shelf| shelf.set(settings.clone()));
        if pinning {
            self.gateway.look_again();
        }
        let reloaded = Reloaded { ruled, ..self.gateway.reload(upstreams, rooms) };
        self.front.set(front);
        if let Some(guards) = guards {
            self.gate.set(guards);
            self.guards = config.guards.clone();
        }
        if self.customs.differs(&config.customs) {
            self.gate.set_customs(self.customs.become_these(&config.customs, &self.launcher));
        }
        self.single = single;
        Ok(Became { reloaded, limited, approving, pinning, shelving })
    }

    /// Tells clients what became another.
    pub(super) fn announce(&self, reloaded: &Reloaded) {
        self.gateway.announce(reloaded);
    }

    fn prepare(&self, config: &Config) -> Result<Prepared, Fault> {
        let rooms = rooms(&self.gateway, config, self.shelf.as_ref())?;
        let upstreams: Vec<UpstreamSettings> = config.upstreams.iter().map(upstream).collect();
        let names = upstreams.iter().map(|upstream| &upstream.name).chain(rooms.iter().map(|(name, _)| name));
        let single = names.map(|name| Ok((name.clone(), self.alone(name)?))).collect::<Result<_, Fault>>()?;
        let front = front(&self.gateway, config, &rooms);
        let other = (self.guards != config.guards).then(|| config.guards.clone());
        let guards = other.map(Guards::compile).transpose()?;
        Ok(Prepared { upstreams, rooms, front, single, guards })
    }

    /// The house of one server: the one it has, with its sessions, or a new one.
    fn alone(&self, name: &str) -> Result<Arc<House>, Fault> {
        match self.single.get(name) {
            Some(house) => Ok(house.clone()),
            None => {
                let settings = Settings { house: name.to_owned(), ..self.settings.clone() };
                House::new(self.gateway.single(name), settings, self.house.books().clone())
            }
        }
    }

    /// What ends the servers behind us, and writes down what is left to write.
    pub(super) fn end(&self) -> impl FnOnce() + use<> {
        let (gateway, house) = (self.gateway.clone(), self.house.clone());
        move || {
            gateway.stop();
            house.books().flush();
        }
    }
}

/// One built-in server is served under its own names; several servers are served together, under prefixed names.
fn front(gateway: &Gateway, config: &Config, rooms: &[(String, Arc<dyn Room>)]) -> Arc<dyn Room> {
    match (rooms, config.upstreams.is_empty()) {
        ([(name, _)], true) if !config.ruling().is_clear() || !config.limits.tools.is_empty() => {
            gateway.single(name)
        }
        ([(_, only)], true) => only.clone(),
        _ => Arc::new(gateway.clone()),
    }
}

/// The built-in servers; those that run stay.
fn rooms(gateway: &Gateway, config: &Config, shelf: Option<&Shelf>) -> Result<Rooms, Fault> {
    let one = |server: &Builtin| match gateway.built_in(server.name()) {
        Some(room) => Ok((server.name().to_owned(), room)),
        None => Ok((server.name().to_owned(), serve::room(*server, config, shelf)?)),
    };
    config.servers.iter().map(one).collect()
}

/// An upstream of the file as the gateway wants it.
fn upstream(config: &UpstreamConfig) -> UpstreamSettings {
    let pairs = |all: &BTreeMap<String, Secret<String>>| {
        all.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let reach = match &config.target {
        Target::Command { program, arguments, cwd, env, env_pass } => Reach::Child {
            program: program.into(),
            arguments: arguments.clone(),
            folder: cwd
                .as_ref()
                .and_then(|cwd| absolute(cwd).ok())
                .or_else(|| std::env::current_dir().ok())
                .unwrap_or_else(|| "/".into()),
            environment: pairs(env),
            inherited: env_pass.clone(),
        },
        Target::Url { url, headers, .. } => Reach::Http { url: url.0.to_string(), headers: pairs(headers) },
    };
    let usual = UpstreamSettings::new(&config.name, reach);
    let usual = match &config.target {
        Target::Url { wire, ca, auth, .. } => UpstreamSettings {
            wire: *wire,
            trust: ca.as_ref().map_or_else(Trust::default, |ca| ca.trust.clone()),
            credentials: auth.as_deref().map(credentials),
            ..usual
        },
        Target::Command { .. } => usual,
    };
    UpstreamSettings {
        sharing: config.sharing,
        most_sessions: config.max_sessions,
        timeout: config.timeout,
        start_timeout: config.start_timeout,
        list_wait: config.list_wait,
        idle_stop: config.idle_stop,
        largest_message: config.max_message_bytes,
        restart: Restart { budget: config.restart.budget, window: config.restart.window },
        first_era: None,
        trusted_errors: config.trusted_errors,
        instructions: config.instructions,
        ..usual
    }
}

fn credentials(auth: &Auth) -> ClientCredentials {
    ClientCredentials {
        token_url: auth.token_url.0.to_string(),
        client_id: auth.client_id.clone(),
        client_secret: auth.client_secret.clone(),
        scope: auth.scope.clone(),
        audience: auth.audience.clone(),
        resource: auth.resource.clone(),
    }
}
