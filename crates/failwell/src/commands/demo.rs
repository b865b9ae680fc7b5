//! A demonstration: the tasks server before an emulated service, so that nobody needs an account.

use failwell_emulator_rtm::{Emulator, Options, Permission, Seed};
use failwell_fault::Secret;

use crate::complaint::Complaint;
use crate::config::{Builtin, Config, StandIn, TasksConfig};

/// What to try first: add, find, complete, and take back.
pub(super) const FIRST_MINUTE: [(&str, &str); 4] = [
    ("rtm_createTask", r#"{"name":"Buy milk ^tomorrow !1 #errand"}"#),
    ("rtm_findTasks", r#"{"filter":"tag:errand"}"#),
    ("rtm_completeTask", r#"{"taskId":"Buy milk"}"#),
    ("rtm_undo", r#"{}"#),
];

/// What `doctor` looks for and a demonstration does without.
pub(super) const NOT_NEEDED: &str = "rtm key";

/// An emulated account, and a login to it. It is gone when this is dropped.
pub(super) struct Demo {
    emulator: Emulator,
    token: String,
}

impl Demo {
    /// Starts it on loopback, with a small account somebody could have.
    pub(super) async fn start() -> Result<Demo, Complaint> {
        let options = Options { seed: Seed::demo(), control: false, ..Options::default() };
        let emulator = Emulator::start(options).await.map_err(|error| {
            Complaint::new(
                format!("the demonstration cannot start: {error}"),
                "check the limits of this user",
            )
        })?;
        let token = emulator.control().token(Permission::Delete);
        Ok(Demo { emulator, token })
    }

    fn stand_in(&self) -> StandIn {
        StandIn {
            base_url: self.emulator.base_url(),
            api_key: Secret::new(self.emulator.api_key().to_owned()),
            shared_secret: Secret::new(self.emulator.secret().to_owned()),
            token: Secret::new(self.token.clone()),
        }
    }
}

/// A configuration with the demonstration in it, if there is one: the tasks server is served, from the emulated account.
pub(super) fn with_demo(demo: Option<&Demo>, mut config: Config) -> Config {
    let Some(demo) = demo else { return config };
    if !config.servers.contains(&Builtin::Tasks) {
        config.servers.push(Builtin::Tasks);
    }
    config.tasks = TasksConfig { stand_in: Some(demo.stand_in()), ..config.tasks };
    config
}
