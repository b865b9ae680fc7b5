//! The door of `up`: where it is, and what opens it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use failwell_fault::{Fault, Secret};
use failwell_server::House;
use failwell_transport::{Credentials, Doors, Issuer, Lock, Tokens};

use super::serve;
use crate::complaint::Complaint;
use crate::config::{Config, ENVIRONMENT, Jwks, JwtConfig};

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
    let tokens = config.jwt.as_ref().map(tokens).transpose().map_err(|fault| serve::unexpected(&fault))?;
    let credentials = Credentials { keys, tokens };
    if credentials.are_none() && !at.ip().is_loopback() {
        return Err(Complaint::new(
            format!("{at} can be reached from other machines, and there is no key"),
            "set FAILWELL_KEY to a long random text, add a [[key]] (`failwell key new`) or [jwt], or listen on 127.0.0.1",
        ));
    }
    Ok(credentials)
}

/// The issuer's keys are read when the first token comes, and again after a reload.
fn tokens(jwt: &JwtConfig) -> Result<Tokens, Fault> {
    let issuer = match &jwt.jwks {
        Jwks::File(path) => Issuer::file(path.clone()),
        Jwks::Url(url, trust) => Issuer::remote(url, trust.clone())?,
    };
    Ok(Tokens { rules: jwt.rules.clone(), issuer, address: jwt.resource.clone() })
}
