use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::checks::Applicability;
use crate::commands::absent_programs;
use crate::config::{Builtin, Config, DEFAULT_ADDRESS, Target};
use crate::state;

/// The parts that the configuration uses.
#[derive(Debug, Clone)]
pub(crate) struct ConfiguredParts {
    /// The served parts, if the checks are restricted to them.
    served: Option<ServedParts>,
    /// The file in use, with the number of its problems.
    pub(super) file: Option<(PathBuf, usize)>,
    /// The address to listen on.
    pub(super) listen: SocketAddr,
    /// The number of upstreams, and those whose program is absent.
    pub(super) upstreams: usize,
    pub(super) absent: Vec<String>,
    /// The configured state folder.
    pub(super) state: Option<PathBuf>,
    /// The folder of stored files. `None` if they are disabled.
    pub(super) shelf: Option<PathBuf>,
    pub(super) has_rtm_key: bool,
    pub(super) has_rtm_secret: bool,
}

/// The servers and programs that need parts of the machine.
#[derive(Debug, Clone)]
struct ServedParts {
    servers: Vec<Builtin>,
    /// The programs that start upstreams.
    programs: Vec<String>,
}

impl ConfiguredParts {
    /// Restricts the checks to the parts that this configuration uses.
    pub(crate) fn just(config: &Config) -> ConfiguredParts {
        let programs = config.upstreams.iter().filter_map(|upstream| match &upstream.target {
            Target::Command { program, .. } => Path::new(program).file_name()?.to_str().map(str::to_owned),
            Target::Url { .. } => None,
        });
        let served = ServedParts { servers: config.servers.clone(), programs: programs.collect() };
        ConfiguredParts { served: Some(served), ..ConfiguredParts::from(config) }
    }

    /// The same for a file with so many problems, whose settings are not used.
    pub(crate) fn with_invalid_file(self, file: PathBuf, problems: usize) -> ConfiguredParts {
        ConfiguredParts { file: Some((file, problems)), ..self }
    }

    /// Whether a check applies.
    pub(super) fn has_use_for(&self, part: Applicability) -> bool {
        match (&self.served, part) {
            (None, _) | (_, Applicability::All) => true,
            (Some(served), Applicability::Some(servers, programs)) => {
                served.servers.iter().any(|server| servers.contains(server))
                    || served.programs.iter().any(|program| programs.contains(&program.as_str()))
            }
        }
    }
}

impl From<&Config> for ConfiguredParts {
    fn from(config: &Config) -> ConfiguredParts {
        ConfiguredParts {
            served: None,
            file: config.file.clone().map(|file| (file, 0)),
            listen: config.listen.unwrap_or(DEFAULT_ADDRESS),
            upstreams: config.upstreams.len(),
            absent: absent_programs(config),
            state: config.data_dir.clone().or_else(state::folder),
            shelf: config.shelf.enabled.then(|| config.shelf_folder()),
            has_rtm_key: config.tasks.api_key.is_some(),
            has_rtm_secret: config.tasks.shared_secret.is_some(),
        }
    }
}
