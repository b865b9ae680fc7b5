use std::path::{Path, PathBuf};

use super::checks::Of;
use crate::config::{Builtin, Config, Target};
use crate::state;

/// What the configuration says of what is looked for.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// What is served, where only that counts.
    served: Option<Served>,
    /// The folder for state, where one is set.
    pub(super) state: Option<PathBuf>,
    /// The folder resources are kept in; `None` when none are.
    pub(super) shelf: Option<PathBuf>,
    pub(super) has_rtm_key: bool,
    pub(super) has_rtm_secret: bool,
}

/// What has a use for parts of the machine.
#[derive(Debug, Clone)]
struct Served {
    servers: Vec<Builtin>,
    /// What servers behind the gateway are started with.
    programs: Vec<String>,
}

impl Wanted {
    /// Nothing but what this configuration has a use for.
    pub(crate) fn just(config: &Config) -> Wanted {
        let programs = config.upstreams.iter().filter_map(|upstream| match &upstream.target {
            Target::Command { program, .. } => Path::new(program).file_name()?.to_str().map(str::to_owned),
            Target::Url { .. } => None,
        });
        let served = Served { servers: config.servers.clone(), programs: programs.collect() };
        Wanted { served: Some(served), ..Wanted::from(config) }
    }

    /// Whether somebody has a use for this.
    pub(super) fn has_use_for(&self, part: Of) -> bool {
        match (&self.served, part) {
            (None, _) | (_, Of::All) => true,
            (Some(served), Of::Some(servers, programs)) => {
                served.servers.iter().any(|server| servers.contains(server))
                    || served.programs.iter().any(|program| programs.contains(&program.as_str()))
            }
        }
    }
}

impl From<&Config> for Wanted {
    fn from(config: &Config) -> Wanted {
        Wanted {
            served: None,
            state: config.data_dir.clone().or_else(state::folder),
            shelf: config.shelf.enabled.then(|| config.shelf_folder()),
            has_rtm_key: config.tasks.api_key.is_some(),
            has_rtm_secret: config.tasks.shared_secret.is_some(),
        }
    }
}
