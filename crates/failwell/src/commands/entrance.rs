//! The door of `up`: where it is, and what opens it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use failwell_fault::{Fault, Secret};
use failwell_server::{House, KeyRing, first_key};
use failwell_transport::{Credentials, Demand, Doors, Issuer, Lock, Tokens};

use super::state_file::StateFile;
use super::{ledger, serve};
use crate::complaint::Complaint;
use crate::config::{Config, ENVIRONMENT, Jwks, JwtConfig, SHORTEST_KEY, StateConfig};
use crate::terminal;

/// The door while it is served.
pub(super) struct Entrance {
    pub(super) doors: Arc<Doors>,
    pub(super) lock: Arc<Lock>,
    /// Where it is.
    pub(super) at: SocketAddr,
    /// The key of the environment.
    pub(super) key: Option<Secret<String>>,
    /// Keys that are made while it is served.
    pub(super) ring: Arc<dyn KeyRing>,
}

impl Entrance {
    /// What another configuration would open it with.
    pub(super) fn credentials(&self, config: &Config) -> Result<Credentials, Complaint> {
        credentials(config, self.key.as_ref(), &self.ring, self.at)
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
    ring: &Arc<dyn KeyRing>,
    at: SocketAddr,
) -> Result<Credentials, Complaint> {
    if key.is_some_and(|key| key.expose().len() < SHORTEST_KEY) {
        return Err(Complaint::new(
            format!("FAILWELL_KEY has fewer than {SHORTEST_KEY} characters"),
            "set it to a long random text, such as `failwell key new` shows",
        ));
    }
    let keys = key.iter().fold(config.keys.clone(), |keys, key| keys.with(ENVIRONMENT, key));
    let tokens = config.jwt.as_ref().map(tokens).transpose().map_err(|fault| serve::unexpected(&fault))?;
    let demand = if config.require_key { Demand::Always } else { Demand::WhereKnown };
    let credentials = Credentials { keys, tokens, ring: Some(ring.clone()), demand };
    if credentials.are_none() && !at.ip().is_loopback() {
        return Err(Complaint::new(
            format!("{at} can be reached from other machines, and there is no key"),
            "set FAILWELL_KEY to a long random text, ask for keys (`serve … --require-key`; with `up`, `require_key = true`), add a [[key]] (`failwell key new`) or [jwt], or listen on 127.0.0.1",
        ));
    }
    Ok(credentials)
}

/// What is shown at the very first start that asks for keys: the key of an admin, this once. It goes to standard output
/// alone, which is the terminal's, and is written down nowhere.
pub(super) async fn welcome_admin(config: &Config, ring: &Arc<dyn KeyRing>) -> Result<String, Complaint> {
    if !config.require_key {
        return Ok(String::new());
    }
    let first = first_key(&**ring).await.map_err(|fault| match config.state {
        StateConfig::Memory => StateFile::keys(&ledger::folder(config)).unwritable(&fault),
        StateConfig::Redis { .. } => serve::unexpected(&fault),
    })?;
    Ok(first.map_or_else(String::new, |key| {
        format!("\nthe key of the first admin, shown this once:\n  {}\n", key.expose())
    }))
}

/// Says so when nobody can have read the key that is shown this once: without it nobody comes in.
pub(super) fn was_shown(admin: &str, config: &Config) -> Result<(), Complaint> {
    if admin.is_empty() || !terminal::is_closed() {
        return Ok(());
    }
    let kept = match config.state {
        StateConfig::Memory => {
            format!("remove {}", StateFile::keys(&ledger::folder(config)).path().display())
        }
        StateConfig::Redis { .. } => "delete failwell:keys and failwell:keys-first in Redis".to_owned(),
    };
    Err(Complaint::new(
        "the key of the first admin could not be shown: standard output takes nothing",
        format!("{kept}, and start again where standard output is read"),
    ))
}

/// The issuer's keys are read when the first token comes, and again after a reload.
fn tokens(jwt: &JwtConfig) -> Result<Tokens, Fault> {
    let issuer = match &jwt.jwks {
        Jwks::File(path) => Issuer::file(path.clone()),
        Jwks::Url(url, trust) => Issuer::remote(url, trust.clone())?,
    };
    Ok(Tokens { rules: jwt.rules.clone(), issuer, address: jwt.resource.clone() })
}
