//! The HTTP endpoint of `up`: its address and its credentials.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use failwell_fault::{Fault, Secret};
use failwell_pipeline::Pipeline;
use failwell_rest::{AuthRequirement, Authenticator, Credentials, Issuer, Tokens};
use failwell_store::{KeyStore, create_first_key};
use failwell_transport::Mounts;

use super::serve;
use crate::commands::backends::ledger;
use crate::commands::state_file::StateFile;
use crate::complaint::Complaint;
use crate::config::{Config, ENVIRONMENT, Jwks, JwtConfig, SHORTEST_KEY, StateConfig};
use crate::terminal;

/// The endpoint while it is served.
pub(super) struct ServedEndpoint {
    pub(super) mounts: Arc<Mounts>,
    pub(super) authenticator: Arc<Authenticator>,
    /// The address it listens on.
    pub(super) at: SocketAddr,
    /// The key from `FAILWELL_KEY`.
    pub(super) key: Option<Secret<String>>,
    /// Keys created while it is served.
    pub(super) key_store: Arc<dyn KeyStore>,
}

impl ServedEndpoint {
    /// The credentials that another configuration would accept.
    pub(super) fn credentials(&self, config: &Config) -> Result<Credentials, Complaint> {
        credentials(config, self.key.as_ref(), &self.key_store, self.at)
    }

    /// Replaces the accepted credentials and the pipelines of single servers.
    pub(super) fn replace(&self, credentials: Credentials, pipelines: BTreeMap<String, Arc<Pipeline>>) {
        self.authenticator.replace(credentials);
        self.mounts.replace(pipelines);
    }
}

/// The key from `FAILWELL_KEY`, if it is set and not empty.
pub(in crate::commands) fn the_key() -> Option<Secret<String>> {
    std::env::var("FAILWELL_KEY").ok().filter(|key| !key.is_empty()).map(Secret::new)
}

/// The accepted credentials. Without any, only a loopback address is served.
pub(super) fn credentials(
    config: &Config,
    key: Option<&Secret<String>>,
    key_store: &Arc<dyn KeyStore>,
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
    let demand = if config.require_key { AuthRequirement::Always } else { AuthRequirement::WhenConfigured };
    let credentials = Credentials { keys, tokens, key_store: Some(key_store.clone()), demand };
    if credentials.are_none() && !at.ip().is_loopback() {
        return Err(Complaint::new(
            format!("{at} can be reached from other machines, and there is no key"),
            "set FAILWELL_KEY to a long random text, ask for keys (`serve … --require-key`; with `up`, `require_key = true`), add a [[key]] (`failwell key new`) or [jwt], or listen on 127.0.0.1",
        ));
    }
    Ok(credentials)
}

/// The key of the first admin.
pub(super) enum AdminKey {
    /// None was created now.
    None,
    /// A terminal shows it once.
    Shown(Secret<String>),
    /// Elsewhere standard output is a log that is kept, so the key is in a file that only its owner can read.
    InFile(PathBuf),
}

/// Creates the admin key at the first start with `require_key`.
pub(super) async fn create_admin_key(
    config: &Config,
    key_store: &Arc<dyn KeyStore>,
) -> Result<AdminKey, Complaint> {
    if !config.require_key {
        return Ok(AdminKey::None);
    }
    let first = create_first_key(&**key_store).await.map_err(|fault| match config.state {
        StateConfig::Memory => StateFile::keys(&ledger::folder(config)).unwritable(&fault),
        StateConfig::Redis { .. } => serve::unexpected(&fault),
    })?;
    match first {
        None => Ok(AdminKey::None),
        Some(key) if terminal::is_interactive() => Ok(AdminKey::Shown(key)),
        Some(key) => {
            let file = ledger::folder(config).join(ADMIN_KEY);
            write_key(&file, key.expose()).map_err(|error| {
                Complaint::new(
                    format!("the key of the first admin cannot be written to {}: {error}", file.display()),
                    format!("{}, and start again at a terminal", forget_key(config)),
                )
            })?;
            Ok(AdminKey::InFile(file))
        }
    }
}

/// The file of the first admin's key, in the state folder.
const ADMIN_KEY: &str = "admin-key";

/// Writes a new file that only its owner can read.
fn write_key(file: &Path, key: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut folders = std::fs::DirBuilder::new();
    folders.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
    file.parent().map_or(Ok(()), |folder| folders.create(folder))?;
    let _ = std::fs::remove_file(file);
    let mut file = options.open(file)?;
    file.write_all(format!("{key}\n").as_bytes())?;
    file.sync_all()
}

/// How to make the next start create another key.
fn forget_key(config: &Config) -> String {
    match config.state {
        StateConfig::Memory => {
            format!("remove {}", StateFile::keys(&ledger::folder(config)).path().display())
        }
        StateConfig::Redis { .. } => "delete failwell:keys and failwell:keys-first in Redis".to_owned(),
    }
}

/// Fails if standard output was closed, so that the admin key cannot have been read. Without it no key can be
/// created.
pub(super) fn was_shown(admin: &AdminKey, config: &Config) -> Result<(), Complaint> {
    if matches!(admin, AdminKey::None) || !terminal::is_closed() {
        return Ok(());
    }
    Err(Complaint::new(
        "the key of the first admin could not be shown: standard output is closed",
        format!("{}, and start again with standard output open", forget_key(config)),
    ))
}

/// The issuer's keys are fetched when the first token arrives, and again after a reload.
fn tokens(jwt: &JwtConfig) -> Result<Tokens, Fault> {
    let issuer = match &jwt.jwks {
        Jwks::File(path) => Issuer::file(path.clone()),
        Jwks::Url(url, trust) => Issuer::remote(url, trust.clone())?,
    };
    Ok(Tokens { rules: jwt.rules.clone(), issuer, address: jwt.resource.clone() })
}
