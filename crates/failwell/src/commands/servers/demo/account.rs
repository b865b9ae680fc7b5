//! The emulated account of the demonstration.

use failwell_emulator_rtm::{Emulator, Options, Permission, Seed};
use failwell_fault::Secret;

use crate::complaint::Complaint;
use crate::config::EmulatedService;

/// An emulator and a login to it. Dropping it ends the emulator.
pub(crate) struct Demo {
    emulator: Emulator,
    token: String,
}

impl Demo {
    /// Starts the emulator on loopback with a small example account.
    pub(crate) async fn start() -> Result<Demo, Complaint> {
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

    pub(super) fn stand_in(&self) -> EmulatedService {
        EmulatedService {
            base_url: self.emulator.base_url(),
            api_key: Secret::new(self.emulator.api_key().to_owned()),
            shared_secret: Secret::new(self.emulator.secret().to_owned()),
            token: Secret::new(self.token.clone()),
        }
    }
}
