//! Reloads the configuration file while it is served.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use failwell_fault::reason;
use failwell_gateway::ReloadReport;
use failwell_pipeline::Pipeline;
use tokio_util::sync::CancellationToken;

use super::endpoint::ServedEndpoint;
use super::serve;
use super::served_gateway::{ReloadOutcome, ServedGateway};
use super::service_manager::{self, ServiceState};
use super::start_error::plugin_complaint;
use super::watch::{Hangup, Hangups, WatchedFile};
use crate::commands::config_file::{self, ConfigFileError, counted};
use crate::commands::servers::demo::{Demo, with_demo};
use crate::complaint::Complaint;
use crate::config::{self, Config, DEFAULT_FILE, Problem};
use crate::terminal;

/// Where the settings come from: a file, or the command of the only server.
#[derive(Clone)]
struct ConfigOrigin {
    file: Option<PathBuf>,
    command: Vec<String>,
}

/// The origin of the settings, and what may change them.
pub(super) struct ConfigSource {
    origin: ConfigOrigin,
    watched: WatchedFile,
    hangups: Hangups,
}

/// The running configuration, and the parts that a reload replaces.
pub(super) struct ServedConfig {
    pub(super) source: ConfigSource,
    pub(super) config: Config,
    pub(super) served: ServedGateway,
    /// Keys of the file that command-line options or the transport override.
    pub(super) overruled: Vec<&'static str>,
    /// The HTTP endpoint. Absent on stdio.
    pub(super) endpoint: Option<ServedEndpoint>,
    /// The emulated service of `--demo`. A reload keeps it.
    pub(super) demo: Option<Arc<Demo>>,
}

impl ConfigOrigin {
    fn find(named: Option<&Path>, command: &[String]) -> ConfigOrigin {
        let file = if command.is_empty() { config::find(named) } else { None };
        ConfigOrigin { file, command: command.to_vec() }
    }

    fn settle(&self) -> Result<Config, ConfigFileError> {
        if !self.command.is_empty() {
            return Ok(Config::of_command(&self.command));
        }
        config_file::settle(self.file.as_deref())
    }
}

impl ConfigSource {
    /// Starts to watch before the settings are read, so that no change in between is missed. A command replaces the
    /// file.
    pub(super) fn of(named: Option<&Path>, command: &[String]) -> ConfigSource {
        let origin = ConfigOrigin::find(named, command);
        let watched = if command.is_empty() {
            origin.file.clone().unwrap_or_else(|| DEFAULT_FILE.into())
        } else {
            PathBuf::new()
        };
        ConfigSource { origin, watched: WatchedFile::new(watched), hangups: Hangups::new() }
    }

    /// Loads the current settings. A file that existed at the start must still exist.
    pub(super) fn settle(&self) -> Result<Config, ConfigFileError> {
        self.origin.settle()
    }

    /// The file that the settings come from, if there is one.
    pub(super) fn file(&self) -> Option<&Path> {
        self.origin.file.as_deref()
    }

    /// Tells the operator where the settings come from.
    pub(super) fn announce(&self, pipeline: &Pipeline, config: &Config) {
        let line = match (&config.file, config.command_server()) {
            (Some(file), _) => format!("configuration: {}", file.display()),
            (None, Some(only)) => format!("configuration: none, the command is served as {only}"),
            (None, None) => format!("configuration: none found; looked for {}", looked_for()),
        };
        tell(pipeline, &line, "start");
    }

    fn name(&self) -> PathBuf {
        self.origin.file.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_FILE))
    }
}

/// The usual places of the file, for a sentence.
fn looked_for() -> String {
    let places = config::usual_places();
    let whole = |place: PathBuf| std::path::absolute(&place).unwrap_or(place).display().to_string();
    places.into_iter().map(whole).collect::<Vec<_>>().join(" and ")
}

/// Prints a line for a person at the terminal. Otherwise it is an event of the journal, whose lines programs read.
fn tell(pipeline: &Pipeline, line: &str, service: &'static str) {
    match terminal::is_read() {
        true => terminal::report(&format!("{line}\n")),
        false => pipeline.journal().note_event(line, service),
    }
}

impl ServedConfig {
    /// Watches the file until `stop` is cancelled. A closed terminal cancels it.
    pub(super) async fn follow(mut self, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                hangup = self.source.hangups.next() => match hangup {
                    Hangup::Reload => self.source.watched.know().await,
                    Hangup::TerminalGone => return stop.cancel(),
                },
                () = self.source.watched.changed() => {}
            }
            service_manager::report(ServiceState::Reloading);
            self.reload().await;
            service_manager::report(ServiceState::Ready);
        }
    }

    async fn reload(&mut self) {
        let origin = self.source.origin.clone();
        let settled = tokio::task::spawn_blocking(move || origin.settle()).await;
        let Ok(settled) = settled else { return };
        let settled = settled.map(|config| with_demo(self.demo.as_deref(), config));
        let settled = settled.and_then(|config| self.changeable(config));
        match settled {
            Ok(config) => self.apply(config).await,
            Err(wrong) => self.refuse(wrong),
        }
    }

    /// Refuses settings that only a restart can change. A reload applies completely or not at all.
    fn changeable(&self, config: Config) -> Result<Config, ConfigFileError> {
        let fixed = self.config.fixed_differences(&config);
        let fixed = fixed.into_iter().filter(|key| !self.overruled.contains(key));
        let file = self.source.name();
        let problem = |key| {
            let message = format!("`{key}` cannot change while failwell runs");
            Problem::of_file(&file, message, "put it back, or start failwell again")
        };
        let problems: Vec<Problem> = fixed.map(problem).collect();
        if problems.is_empty() { Ok(config) } else { Err(ConfigFileError { file, problems }) }
    }

    async fn apply(&mut self, config: Config) {
        let credentials = self.endpoint.as_ref().map(|endpoint| endpoint.credentials(&config)).transpose();
        let credentials = match credentials {
            Ok(credentials) => credentials,
            Err(complaint) => return self.complain(complaint),
        };
        let rekeyed = self.config.keys != config.keys || self.config.jwt != config.jwt;
        match self.served.apply(&config).await {
            Err(fault) => {
                let is_plugin = *fault.reason() == reason::CONFIG_PLUGIN;
                let complaint = if is_plugin { plugin_complaint(&fault) } else { serve::unexpected(&fault) };
                self.complain(complaint);
                self.served.pipeline.note(fault, "reload");
            }
            Ok(ReloadOutcome { mut reloaded, limited, approving, pinning, shelving }) => {
                if let (Some(endpoint), Some(credentials)) = (&self.endpoint, credentials) {
                    endpoint.replace(credentials, self.served.single.clone());
                }
                let guards =
                    self.config.guards != config.guards || self.config.custom_guards != config.custom_guards;
                let summary = summary(
                    &reloaded,
                    &[
                        ("keys", rekeyed),
                        ("limits", limited),
                        ("approvals", approving),
                        ("pins", pinning),
                        ("shelf", shelving),
                    ],
                    guards,
                );
                // New roles may change the tools that a caller can see.
                reloaded.ruled |= rekeyed;
                self.served.announce(&reloaded);
                self.served.start_servers();
                self.config = config;
                let ConfigOrigin { file, command } = &self.source.origin;
                self.source.origin = ConfigOrigin::find(file.as_deref(), command);
                let read = match &self.source.origin.file {
                    Some(file) => format!("{} was read again", file.display()),
                    None => format!("there is no {DEFAULT_FILE}"),
                };
                self.tell(&format!("{read}: {summary}"));
                if guards {
                    self.served.disabled.iter().for_each(|line| self.tell(line));
                }
            }
        }
    }

    fn tell(&self, line: &str) {
        tell(&self.served.pipeline, line, "reload");
    }

    fn complain(&self, complaint: Complaint) {
        let complaint = Complaint::new(format!("{}; {UNCHANGED}", complaint.title), complaint.help);
        match terminal::is_read() {
            true => terminal::complain(&complaint),
            false => {
                let line = format!("{}; help: {}", complaint.title, complaint.help);
                self.served.pipeline.journal().note_warning(&line, "reload");
            }
        }
    }

    /// A person at the terminal reads every problem as `failwell check` prints it. The log has them as data.
    fn refuse(&self, wrong: ConfigFileError) {
        let fault = wrong.fault()();
        if terminal::is_read() {
            self.served.pipeline.note(fault, "reload");
            return self.complain(wrong.report());
        }
        let fault = fault.note("problems", wrong.rows()).note("reload", UNCHANGED);
        self.served.pipeline.note(fault, "reload");
    }
}

/// The effect of a refused reload.
const UNCHANGED: &str = "everything runs on as it was";

/// A summary such as `a added, b changed`, or `nothing changed`.
fn summary(reloaded: &ReloadReport, others: &[(&str, bool)], guards: bool) -> String {
    let parts = [("added", &reloaded.added), ("changed", &reloaded.changed), ("removed", &reloaded.removed)];
    let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
    let mut changes: Vec<String> =
        parts.map(|(what, names)| format!("{} {what}", names.join(", "))).collect();
    let others = [("rules", reloaded.ruled)].into_iter().chain(others.iter().copied());
    changes.extend(others.filter(|(_, differ)| *differ).map(|(what, _)| format!("{what} read again")));
    if guards {
        changes.push("guards changed".to_owned());
    }
    if changes.is_empty() {
        return "nothing changed".to_owned();
    }
    format!("{}; {} left alone", changes.join("; "), counted(reloaded.unchanged.len(), "server"))
}
