//! Custom guards and their running instances.

use std::sync::Arc;

use failwell_controls::{ConfiguredGuard, CustomGuards};
use failwell_fault::{Fault, reason};
use failwell_plugins::GuardProcess;
use failwell_policy::guard::custom::CustomRule;
use failwell_process::Launcher;
use futures_util::future::join_all;

use crate::config::{CustomConfig, Runs};

/// The running guards, each with the configuration it was made from.
#[derive(Default)]
pub(in crate::commands) struct GuardRegistry(Vec<(Arc<CustomConfig>, ConfiguredGuard)>);

impl GuardRegistry {
    /// Whether the configuration has changed.
    pub(in crate::commands) fn differs(&self, wanted: &[Arc<CustomConfig>]) -> bool {
        self.0.len() != wanted.len() || self.0.iter().zip(wanted).any(|((known, _), wanted)| known != wanted)
    }

    /// Starts the guards of a configuration and waits for the first verdict of each program. A guard with the same
    /// name and the same program or module keeps running. Fails if a critical guard does not work.
    pub(in crate::commands) async fn prepare(
        &self,
        wanted: &[Arc<CustomConfig>],
        launcher: &Launcher,
    ) -> Result<PreparedGuards, Fault> {
        let started = join_all(wanted.iter().map(|config| self.one(config, launcher))).await;
        let mut prepared = PreparedGuards::default();
        for (config, (guard, problem)) in wanted.iter().zip(started) {
            match problem {
                Some(problem) if config.rule.critical => return Err(problem),
                Some(problem) => prepared.disabled.push((config.rule.name.clone(), problem)),
                None => {}
            }
            prepared.guards.push((config.clone(), guard));
        }
        Ok(prepared)
    }

    /// The guard of a configuration, and why it does not work.
    async fn one(&self, config: &CustomConfig, launcher: &Launcher) -> (ConfiguredGuard, Option<Fault>) {
        let rule = &config.rule;
        let same = |(known, _): &&(Arc<CustomConfig>, ConfiguredGuard)| {
            known.rule.name == rule.name && known.runs == config.runs
        };
        if let Some((_, running)) = self.0.iter().find(same) {
            return (running.ruled(rule.clone()), None);
        }
        match &config.runs {
            Runs::Module { module, .. } => (ConfiguredGuard::new(rule.clone(), module.clone()), None),
            Runs::Child(settings) => {
                let child = Arc::new(GuardProcess::start(settings.clone(), launcher.clone()));
                let problem = child.ready(rule).await.err().map(|fault| does_not_work(rule, fault));
                (ConfiguredGuard::new(rule.clone(), child), problem)
            }
        }
    }

    /// Applies what was prepared.
    pub(in crate::commands) fn activate(&mut self, prepared: PreparedGuards) -> CustomGuards {
        self.0 = prepared.guards;
        self.0.iter().map(|(_, custom)| custom.clone()).collect()
    }
}

/// Guards that were started, before they replace the running ones.
#[derive(Default)]
pub(in crate::commands) struct PreparedGuards {
    guards: Vec<(Arc<CustomConfig>, ConfiguredGuard)>,
    /// Guards that are not critical and do not work, by name, with the cause.
    pub(in crate::commands) disabled: Vec<(String, Fault)>,
}

fn does_not_work(rule: &CustomRule, fault: Fault) -> Fault {
    let plugin = Fault::new(&reason::CONFIG_PLUGIN).note("guard", rule.name.clone());
    let plugin = match rule.critical {
        true => plugin,
        false => {
            plugin.note("disabled", "it is not critical: messages pass without its verdict until it works")
        }
    };
    plugin.absorbing(fault)
}
