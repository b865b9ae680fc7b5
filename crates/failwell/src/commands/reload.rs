//! Keeping up with the configuration file while it is served.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use failwell_gateway::Reloaded;
use tokio_util::sync::CancellationToken;

use super::configured::{self, Misconfigured, counted};
use super::demo::{Demo, with_demo};
use super::entrance::Entrance;
use super::serve;
use super::served::{Became, Served};
use super::watch::{Hangup, Hangups, Watched};
use crate::complaint::Complaint;
use crate::config::{self, Config, DEFAULT_FILE, Problem};
use crate::terminal;

/// The file a start was made from.
pub(super) struct Origin {
    named: Option<PathBuf>,
    watched: Watched,
    hangups: Hangups,
}

/// What is served, and what has to follow when that changes.
pub(super) struct Running {
    pub(super) origin: Origin,
    pub(super) config: Config,
    pub(super) served: Served,
    /// Keys of the file that do not count here.
    pub(super) overruled: Vec<&'static str>,
    /// Where callers come in, if it is not standard input.
    pub(super) entrance: Option<Entrance>,
    /// What stands in for a service, whatever the file says.
    pub(super) demo: Option<Arc<Demo>>,
}

impl Origin {
    /// Looks where the settings come from, before they are read: a change meanwhile is not missed.
    pub(super) fn of(named: Option<&Path>) -> Origin {
        let found = config::find(named);
        let watched = Watched::new(found.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_FILE)));
        Origin { named: found, watched, hangups: Hangups::new() }
    }

    /// The settings as they are now. A file that was there once has to be there.
    pub(super) fn settle(&self) -> Result<Config, Misconfigured> {
        configured::settle(self.named.as_deref())
    }

    /// Whether there is a file that says what to serve.
    pub(super) fn is_file(&self) -> bool {
        self.named.is_some()
    }

    fn name(&self) -> PathBuf {
        self.named.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_FILE))
    }
}

impl Running {
    /// Follows the file until `stop` is set. A terminal that goes away sets it.
    pub(super) async fn follow(mut self, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                hangup = self.origin.hangups.next() => match hangup {
                    Hangup::Reload => self.origin.watched.know().await,
                    Hangup::TerminalGone => return stop.cancel(),
                },
                () = self.origin.watched.changed() => {}
            }
            self.reload().await;
        }
    }

    async fn reload(&mut self) {
        let named = self.origin.named.clone();
        let settled = tokio::task::spawn_blocking(move || configured::settle(named.as_deref())).await;
        let Ok(settled) = settled else { return };
        let settled = settled.map(|config| with_demo(self.demo.as_deref(), config));
        let settled = settled.and_then(|config| self.changeable(config));
        match settled {
            Ok(config) => self.apply(config),
            Err(wrong) => self.refuse(wrong),
        }
    }

    /// Refuses what only a start can change: half a reload is worse than none.
    fn changeable(&self, config: Config) -> Result<Config, Misconfigured> {
        let fixed = self.config.fixed_differences(&config);
        let fixed = fixed.into_iter().filter(|key| !self.overruled.contains(key));
        let file = self.origin.name();
        let problem = |key| {
            let message = format!("`{key}` cannot change while failwell runs");
            Problem::of_file(&file, message, "put it back, or start failwell again")
        };
        let problems: Vec<Problem> = fixed.map(problem).collect();
        if problems.is_empty() { Ok(config) } else { Err(Misconfigured { file, problems }) }
    }

    fn apply(&mut self, config: Config) {
        let credentials = self.entrance.as_ref().map(|entrance| entrance.credentials(&config)).transpose();
        let credentials = match credentials {
            Ok(credentials) => credentials,
            Err(complaint) => return terminal::complain(&unchanged(complaint)),
        };
        let rekeyed = self.config.keys != config.keys || self.config.jwt != config.jwt;
        match self.served.become_another(&config) {
            Err(fault) => {
                terminal::complain(&unchanged(serve::unexpected(&fault)));
                self.served.house.note(fault, "reload");
            }
            Ok(Became { mut reloaded, limited, approving, pinning, shelving }) => {
                if let (Some(entrance), Some(credentials)) = (&self.entrance, credentials) {
                    entrance.replace(credentials, self.served.single.clone());
                }
                let guards = self.config.guards != config.guards || self.config.customs != config.customs;
                let told = told(
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
                // Who has other roles may see other things.
                reloaded.ruled |= rekeyed;
                self.served.announce(&reloaded);
                self.config = config;
                self.origin.named = config::find(self.origin.named.as_deref());
                let read = match &self.origin.named {
                    Some(file) => format!("{} was read again", file.display()),
                    None => format!("there is no {DEFAULT_FILE}"),
                };
                terminal::report(&format!("{read}: {told}\n"));
            }
        }
    }

    fn refuse(&self, wrong: Misconfigured) {
        self.served.house.note(wrong.fault()(), "reload");
        terminal::complain(&unchanged(wrong.report()));
    }
}

fn unchanged(complaint: Complaint) -> Complaint {
    Complaint::new(format!("{}; everything runs on as it was", complaint.title), complaint.help)
}

/// `a added, b changed`, or that nothing was.
fn told(reloaded: &Reloaded, others: &[(&str, bool)], guards: bool) -> String {
    let parts = [("added", &reloaded.added), ("changed", &reloaded.changed), ("removed", &reloaded.removed)];
    let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
    let mut told: Vec<String> = parts.map(|(what, names)| format!("{} {what}", names.join(", "))).collect();
    let others = [("rules", reloaded.ruled)].into_iter().chain(others.iter().copied());
    told.extend(others.filter(|(_, differ)| *differ).map(|(what, _)| format!("{what} read again")));
    if guards {
        told.push("guards changed".to_owned());
    }
    if told.is_empty() {
        return "nothing changed".to_owned();
    }
    format!("{}; {} left alone", told.join("; "), counted(reloaded.kept.len(), "server"))
}
