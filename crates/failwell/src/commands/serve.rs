//! What `up` and `stdio` have in common.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use failwell_audit::Journal;
use failwell_fault::{Fault, Secret};
use failwell_gateway::{Gateway, Reach, Restart, UpstreamSettings};
use failwell_policy::Rate;
use failwell_process::Launcher;
use failwell_server::{House, Info, Room, Settings, Toolbox, keep_panics_quiet};
use tokio_util::sync::CancellationToken;

use crate::cli::Bounds;
use crate::complaint::Complaint;
use crate::config::{Builtin, Config, Target, UpstreamConfig};

/// What is served, and what must be ended with it.
pub(super) struct Served {
    /// Everything at once.
    pub(super) house: Arc<House>,
    /// Every server alone, by name.
    pub(super) single: Vec<(String, Arc<House>)>,
    gateway: Option<Gateway>,
}

impl Served {
    /// The names of all servers.
    pub(super) fn names(&self) -> Vec<&str> {
        self.single.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Ends the servers behind us, and writes down what is left to write.
    pub(super) fn end(&self) {
        if let Some(gateway) = &self.gateway {
            gateway.stop();
        }
        self.house.journal().flush();
    }
}

/// One built-in server is served as it is; several servers are served together, under prefixed names.
pub(super) fn served(bounds: &Bounds, config: &Config) -> Result<Served, Complaint> {
    keep_panics_quiet();
    let built = match (config.servers.as_slice(), config.upstreams.is_empty()) {
        ([only], true) => {
            room(*only).and_then(|room| house(room, bounds, &Journal::to_stderr())).map(|house| Served {
                single: vec![(only.name().to_owned(), house.clone())],
                house,
                gateway: None,
            })
        }
        ([], true) => {
            return Err(Complaint::new(
                "there is nothing to serve",
                "name a built-in server under `servers`, or add an [[upstream]], in the configuration",
            ));
        }
        (built_in, _) => federated(bounds, built_in, &config.upstreams),
    };
    built.map_err(|fault| unexpected(&fault))
}

fn federated(bounds: &Bounds, built_in: &[Builtin], upstreams: &[UpstreamConfig]) -> Result<Served, Fault> {
    let rooms = built_in.iter().map(|server| Ok((server.name().to_owned(), room(*server)?)));
    let rooms = rooms.collect::<Result<Vec<_>, Fault>>()?;
    let info = Info {
        name: "failwell",
        title: "Failwell",
        version: env!("CARGO_PKG_VERSION"),
        instructions: "Tools of several servers; a tool is called server__tool.",
    };
    let settings = upstreams.iter().map(upstream).collect();
    let gateway = Gateway::new(info, settings, rooms, &Launcher::of_this_program()?);
    let journal = Journal::to_stderr();
    let main = house(Arc::new(gateway.clone()), bounds, &journal)?;
    gateway.announce_to(main.hub());
    let mut single = Vec::new();
    for name in gateway.names() {
        if let Some(room) = gateway.single(&name) {
            let alone = house(room, bounds, &journal)?;
            gateway.announce_single_to(&name, alone.hub());
            single.push((name, alone));
        }
    }
    Ok(Served { house: main, single, gateway: Some(gateway) })
}

fn room(server: Builtin) -> Result<Arc<dyn Room>, Fault> {
    match server {
        Builtin::Lobby => Ok(Arc::new(failwell_lobby::lobby()?)),
        Builtin::Pytest => {
            let here = std::env::current_dir().unwrap_or_else(|_| ".".into());
            let settings = failwell_pytest::Settings::of(here, Launcher::of_this_program()?);
            Ok(Arc::new(failwell_pytest::pytest(settings)?))
        }
    }
}

fn house(room: Arc<dyn Room>, bounds: &Bounds, journal: &Journal) -> Result<Arc<House>, Fault> {
    let settings = Settings {
        request_deadline: Duration::from_secs(bounds.request_timeout),
        rate: rate(bounds.rate),
        ..Settings::default()
    };
    House::new(room, settings, journal.clone())
}

/// A house around one tool server.
pub(super) fn build(room: Result<Toolbox, Fault>, settings: Settings) -> Result<Arc<House>, Complaint> {
    keep_panics_quiet();
    let built = room.and_then(|room| House::new(Arc::new(room), settings, Journal::to_stderr()));
    built.map_err(|fault| unexpected(&fault))
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
            folder: cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_else(|| "/".into()),
            environment: pairs(env),
            inherited: env_pass.clone(),
        },
        Target::Url { url, headers } => Reach::Http { url: url.0.to_string(), headers: pairs(headers) },
    };
    UpstreamSettings {
        name: config.name.clone(),
        reach,
        timeout: config.timeout,
        start_timeout: config.start_timeout,
        idle_stop: config.idle_stop,
        largest_message: config.max_message_bytes,
        restart: Restart { budget: config.restart.budget, window: config.restart.window },
        first_era: None,
        trusted_errors: config.trusted_errors,
    }
}

/// So many requests a second, and twice as many at once.
pub(super) fn rate(per_second: Option<u32>) -> Option<Rate> {
    per_second.map(|rate| Rate { per_second: f64::from(rate), burst: f64::from(rate) * 2.0 })
}

/// A fault of our own at start: the person at the terminal is the operator, so they get the whole story.
pub(super) fn unexpected(fault: &Fault) -> Complaint {
    Complaint::new(fault.operator().to_string().trim_end(), fault.hint())
}

/// Set by the first Ctrl-C or SIGTERM.
pub(super) fn stop_on_signal() -> CancellationToken {
    let stop = CancellationToken::new();
    let told = stop.clone();
    tokio::spawn(async move {
        signalled().await;
        told.cancel();
    });
    stop
}

#[cfg(unix)]
async fn signalled() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminated) = signal(SignalKind::terminate()) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated.recv() => {}
    }
}

#[cfg(not(unix))]
async fn signalled() {
    let _ = tokio::signal::ctrl_c().await;
}
