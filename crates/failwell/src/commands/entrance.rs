//! The door of `up`: where it is, and what opens it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use failwell_fault::Secret;
use failwell_server::House;
use failwell_transport::{Credentials, Doors, Lock};

use crate::complaint::Complaint;
use crate::config::{Config, ENVIRONMENT};

/// The door while it is served.
pub(super) struct Entrance {
    pub(super) doors: Arc<Doors>,
    pub(super) lock: Arc<Lock>,
    /// Where it is.
    pub(super) at: SocketAddr,
    /// The key of the environment.
    pub(super) key: Option<Secret<String>>,
}

impl Entrance {
    /// What another configuration would open it with.
    pub(super) fn credentials(&self, config: &Config) -> Result<Credentials, Complaint> {
        credentials(config, self.key.as_ref(), self.at)
    }

    /// From now on these open it, and lead to these houses.
    pub(super) fn replace(&self, credentials: Credentials, houses: BTreeMap<String, Arc<House>>) {
        self.lock.replace(credentials);
        self.doors.replace(houses);
    }
}

/// The key of the environment, if there is one.
pub(super) fn the_key() -> Option<Secret<String>> {
    std::env::var("FAILWELL_KEY").ok().filter(|key| !key.is_empty()).map(Secret::new)
}

/// What callers may present; without anything only this machine is served.
pub(super) fn credentials(
    config: &Config,
    key: Option<&Secret<String>>,
    at: SocketAddr,
) -> Result<Credentials, Complaint> {
    let keys = key.iter().fold(config.keys.clone(), |keys, key| keys.with(ENVIRONMENT, key));
    let credentials = Credentials { keys };
    if credentials.are_none() && !at.ip().is_loopback() {
        return Err(Complaint::new(
            format!("{at} can be reached from other machines, and there is no key"),
            "set FAILWELL_KEY to a long random text, add a [[key]] (`failwell key new`), or listen on 127.0.0.1",
        ));
    }
    Ok(credentials)
}
