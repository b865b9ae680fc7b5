//! Custom guards and their running instances.

use std::sync::Arc;

use failwell_controls::{ConfiguredGuard, CustomGuards};
use failwell_plugins::GuardProcess;
use failwell_policy::guard::custom::CustomGuard;
use failwell_process::Launcher;

use crate::config::{CustomConfig, Runs};

/// The running guards, each with the configuration it was made from.
#[derive(Default)]
pub(super) struct GuardRegistry(Vec<(Arc<CustomConfig>, ConfiguredGuard)>);

impl GuardRegistry {
    /// Whether the configuration has changed.
    pub(super) fn differs(&self, wanted: &[Arc<CustomConfig>]) -> bool {
        self.0.len() != wanted.len() || self.0.iter().zip(wanted).any(|((known, _), wanted)| known != wanted)
    }

    /// Applies the configuration. A guard with the same name and the same program or module keeps running.
    pub(super) fn become_these(&mut self, wanted: &[Arc<CustomConfig>], launcher: &Launcher) -> CustomGuards {
        let before = std::mem::take(&mut self.0);
        let custom = |config: &Arc<CustomConfig>| {
            let same = before
                .iter()
                .find(|(known, _)| known.rule.name == config.rule.name && known.runs == config.runs);
            match same {
                Some((_, running)) => running.ruled(config.rule.clone()),
                None => ConfiguredGuard::new(config.rule.clone(), judge(&config.runs, launcher)),
            }
        };
        self.0 = wanted.iter().map(|config| (config.clone(), custom(config))).collect();
        self.0.iter().map(|(_, custom)| custom.clone()).collect()
    }
}

fn judge(runs: &Runs, launcher: &Launcher) -> Arc<dyn CustomGuard> {
    match runs {
        Runs::Module { module, .. } => module.clone(),
        Runs::Child(settings) => Arc::new(GuardProcess::start(settings.clone(), launcher.clone())),
    }
}
