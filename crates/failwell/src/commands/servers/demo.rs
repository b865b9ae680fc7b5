//! The demonstration: the tasks server with an emulated service, so that no account is needed.

#[cfg(feature = "emulators")]
mod account;
#[cfg(not(feature = "emulators"))]
#[path = "demo/account_absent.rs"]
mod account;

pub(in crate::commands) use account::Demo;

use crate::config::{Builtin, Config, TasksConfig};

/// Example calls for the first screen: add, find, complete, undo.
pub(in crate::commands) const FIRST_MINUTE: [(&str, &str); 4] = [
    ("rtm_createTask", r#"{"name":"Buy milk ^tomorrow !1 #errand"}"#),
    ("rtm_findTasks", r#"{"filter":"tag:errand"}"#),
    ("rtm_completeTask", r#"{"taskId":"Buy milk"}"#),
    ("rtm_undo", r#"{}"#),
];

/// The line about the demo on the first screen.
pub(in crate::commands) const NOTE: &str =
    "tasks uses an emulated account of Remember The Milk; it is gone when this stops";

/// The name of the `doctor` check that does not apply to a demonstration.
pub(in crate::commands) const NOT_NEEDED: &str = "rtm key";

/// Adds the demonstration, if any, to a configuration: the tasks server uses the emulated account.
pub(in crate::commands) fn with_demo(demo: Option<&Demo>, mut config: Config) -> Config {
    let Some(demo) = demo else { return config };
    if !config.servers.contains(&Builtin::Tasks) {
        config.servers.push(Builtin::Tasks);
    }
    config.tasks = TasksConfig { stand_in: Some(demo.stand_in()), ..config.tasks };
    config
}
