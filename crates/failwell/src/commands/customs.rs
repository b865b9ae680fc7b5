//! Guards of the operator's own, while they run.

use std::sync::Arc;

use failwell_plugins::Kept;
use failwell_policy::guard::custom::Judge;
use failwell_process::Launcher;
use failwell_server::{Custom, Customs};

use crate::config::{CustomConfig, Runs};

/// The guards that run, with what they were made from.
#[derive(Default)]
pub(super) struct Running(Vec<(Arc<CustomConfig>, Custom)>);

impl Running {
    /// Whether the file says something else now.
    pub(super) fn differs(&self, wanted: &[Arc<CustomConfig>]) -> bool {
        self.0.len() != wanted.len() || self.0.iter().zip(wanted).any(|((known, _), wanted)| known != wanted)
    }

    /// Runs what the file says. Programs and modules that are the same go on.
    pub(super) fn become_these(&mut self, wanted: &[Arc<CustomConfig>], launcher: &Launcher) -> Customs {
        let before = std::mem::take(&mut self.0);
        let custom = |config: &Arc<CustomConfig>| {
            let same = before
                .iter()
                .find(|(known, _)| known.rule.name == config.rule.name && known.runs == config.runs);
            match same {
                Some((_, running)) => running.ruled(config.rule.clone()),
                None => Custom::new(config.rule.clone(), judge(&config.runs, launcher)),
            }
        };
        self.0 = wanted.iter().map(|config| (config.clone(), custom(config))).collect();
        self.0.iter().map(|(_, custom)| custom.clone()).collect()
    }
}

fn judge(runs: &Runs, launcher: &Launcher) -> Arc<dyn Judge> {
    match runs {
        Runs::Module { module, .. } => module.clone(),
        Runs::Child(settings) => Arc::new(Kept::start(settings.clone(), launcher.clone())),
    }
}
