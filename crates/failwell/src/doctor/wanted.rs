use std::path::PathBuf;

use crate::config::Config;
use crate::state;

/// What the configuration says of what is looked for.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// The folder for state, where one is set.
    pub(super) state: Option<PathBuf>,
    /// The folder resources are kept in; `None` when none are.
    pub(super) shelf: Option<PathBuf>,
    pub(super) has_rtm_key: bool,
    pub(super) has_rtm_secret: bool,
}

impl From<&Config> for Wanted {
    fn from(config: &Config) -> Wanted {
        Wanted {
            state: config.data_dir.clone().or_else(state::folder),
            shelf: config.shelf.enabled.then(|| config.shelf_folder()),
            has_rtm_key: config.tasks.api_key.is_some(),
            has_rtm_secret: config.tasks.shared_secret.is_some(),
        }
    }
}
