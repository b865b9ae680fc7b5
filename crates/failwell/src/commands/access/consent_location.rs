//! Where commands find approvals and pins: in a state folder, or in the state that nodes share.

use std::sync::Arc;

use failwell_store::ConsentFile;

use crate::cli::LedgerLocation;
use crate::commands::backends::{ledger, shared};
use crate::commands::config_file::{self, ConfigFileError};
use crate::commands::serving::serve;
use crate::commands::state_file::StateFile;
use crate::complaint::Complaint;
use crate::config::{Config, StateConfig};

pub(super) struct ConsentLocation {
    pub(super) consent: Arc<ConsentFile>,
    pub(super) file: StateFile,
    /// The gateway of the configuration; `None` for all gateways of a folder.
    pub(super) scope: Option<String>,
    is_shared: bool,
}

impl ConsentLocation {
    pub(super) fn at(place: &LedgerLocation) -> Result<ConsentLocation, Complaint> {
        if let Some(folder) = &place.data_dir {
            let consent = ConsentFile::in_folder(folder);
            return Ok(ConsentLocation {
                consent,
                file: StateFile::consent(folder),
                scope: None,
                is_shared: false,
            });
        }
        let config = config_file::settle_place(place.config.as_deref()).map_err(ConfigFileError::report)?;
        let scope = config.file.as_ref().map(|_| config.scope());
        let consent = shared::consent(&config).map_err(|fault| serve::unexpected(&fault))?;
        let file = StateFile::consent(&ledger::folder(&config));
        Ok(ConsentLocation { consent, file, scope, is_shared: is_shared(&config) })
    }

    /// Whether there is anything to read. A missing or unreadable folder is an error.
    pub(super) fn is_there(&self) -> Result<bool, Complaint> {
        if self.is_shared { Ok(true) } else { self.file.is_there() }
    }
}

fn is_shared(config: &Config) -> bool {
    matches!(config.state, StateConfig::Redis { .. })
}
