//! What a file says once it is read: typed, checked, secrets wrapped.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use failwell_audit::{Retention, Rotation};
use failwell_consent::PinSettings;
use failwell_fault::Secret;
use failwell_gateway::{Sharing, Trust, Wire};
use failwell_policy::{Charter, GuardSettings, Keys, Limits, Rules, Ruling};
use failwell_server::Terms;
use http::Uri;

use crate::state;

use super::{
    Builtin, CustomConfig, DeviceConfig, JwtConfig, OtlpConfig, PostgresConfig, ShelfConfig, StateConfig,
    TasksConfig,
};

/// The settings of one start.
#[derive(Debug)]
pub(crate) struct Config {
    /// The file it was read from, whole; what is kept of this gateway is kept under it.
    pub(crate) file: Option<PathBuf>,
    /// Where to listen; the command line has a default of its own.
    pub(crate) listen: Option<SocketAddr>,
    /// Where state is kept; the user's state folder when it is not set.
    pub(crate) data_dir: Option<PathBuf>,
    /// Where nodes keep what they share.
    pub(crate) state: StateConfig,
    /// Whether every caller needs a key.
    pub(crate) require_key: bool,
    /// The keys callers may present, besides the one of the environment.
    pub(crate) keys: Keys,
    /// The tokens callers may present.
    pub(crate) jwt: Option<JwtConfig>,
    /// How much callers may ask for.
    pub(crate) limits: Limits,
    /// The built-in servers to offer.
    pub(crate) servers: Vec<Builtin>,
    /// The servers behind the gateway.
    pub(crate) upstreams: Vec<UpstreamConfig>,
    /// What callers see of them.
    pub(crate) rules: Rules,
    /// What becomes of a call that needs a person's yes.
    pub(crate) approval: Terms,
    /// What is done when definitions of upstreams change.
    pub(crate) pin: PinSettings,
    /// Policies in Cedar, as text that was read once already.
    pub(crate) cedar: Option<String>,
    /// What messages may carry.
    pub(crate) guards: GuardSettings,
    /// Guards of the operator's own.
    pub(crate) customs: Vec<Arc<CustomConfig>>,
    /// Resources that are kept.
    pub(crate) shelf: ShelfConfig,
    /// The ledger.
    pub(crate) audit: AuditConfig,
    /// The tasks server.
    pub(crate) tasks: TasksConfig,
    /// The device server.
    pub(crate) device: DeviceConfig,
}

impl Config {
    /// What tells this gateway from others that keep their state in the same folder.
    pub(crate) fn scope(&self) -> String {
        self.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default()
    }

    /// The folder state is kept in: the one that is set, else the user's.
    pub(crate) fn state_folder(&self) -> PathBuf {
        self.data_dir.clone().or_else(state::folder).unwrap_or_else(|| PathBuf::from(".failwell"))
    }

    /// The folder resources are kept in.
    pub(crate) fn shelf_folder(&self) -> PathBuf {
        self.shelf.folder.clone().unwrap_or_else(|| self.state_folder().join("shelf"))
    }

    /// What callers see and may do.
    pub(crate) fn ruling(&self) -> Ruling {
        let charter = self.cedar.as_ref().and_then(|text| Charter::read(text).ok());
        Ruling::new(self.rules.clone(), charter)
    }
}

/// What is kept of each exchange, and where.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AuditConfig {
    /// Whether anything is kept at all.
    pub(crate) ledger: bool,
    pub(crate) critical: bool,
    pub(crate) bodies: bool,
    /// How many bytes of each body are kept.
    pub(crate) body_bytes: usize,
    pub(crate) jsonl: Option<PathBuf>,
    pub(crate) csv: Option<PathBuf>,
    pub(crate) text: Option<PathBuf>,
    pub(crate) otlp: Option<OtlpConfig>,
    pub(crate) postgres: Option<PostgresConfig>,
    pub(crate) retention: Retention,
    pub(crate) rotation: Rotation,
}

impl Default for AuditConfig {
    fn default() -> AuditConfig {
        AuditConfig {
            ledger: true,
            critical: false,
            bodies: false,
            body_bytes: 16 << 10,
            jsonl: None,
            csv: None,
            text: None,
            otlp: None,
            postgres: None,
            retention: Retention::default(),
            rotation: Rotation::default(),
        }
    }
}

/// Only this machine can connect, unless told otherwise.
pub(crate) const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8484);

impl Config {
    /// Which keys differ that are read at the start alone.
    pub(crate) fn fixed_differences(&self, other: &Config) -> Vec<&'static str> {
        let address = |config: &Config| config.listen.unwrap_or(DEFAULT_ADDRESS);
        let all = [
            ("listen", address(self) != address(other)),
            ("data_dir", self.data_dir != other.data_dir),
            ("state", self.state != other.state),
            ("require_key", self.require_key != other.require_key),
            ("shelf.folder", self.shelf.folder != other.shelf.folder),
            ("shelf.enabled", self.shelf.enabled != other.shelf.enabled),
            ("audit", self.audit != other.audit),
            ("tasks", self.tasks != other.tasks),
            ("device", self.device != other.device),
        ];
        all.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect()
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            file: None,
            listen: None,
            data_dir: None,
            state: StateConfig::Memory,
            require_key: false,
            keys: Keys::default(),
            jwt: None,
            limits: Limits::default(),
            servers: Builtin::USUAL.to_vec(),
            upstreams: Vec::new(),
            rules: Rules::default(),
            approval: Terms::default(),
            pin: PinSettings::default(),
            cedar: None,
            guards: GuardSettings::default(),
            customs: Vec::new(),
            shelf: ShelfConfig::default(),
            audit: AuditConfig::default(),
            tasks: TasksConfig::default(),
            device: DeviceConfig::default(),
        }
    }
}

/// One server behind the gateway.
#[derive(Debug)]
pub(crate) struct UpstreamConfig {
    pub(crate) name: String,
    pub(crate) target: Target,
    /// Who shares a session with it; `None` for what is usual where it is reached.
    pub(crate) sharing: Option<Sharing>,
    pub(crate) max_sessions: usize,
    /// How long one request may take.
    pub(crate) timeout: Duration,
    /// How long starting or connecting may take.
    pub(crate) start_timeout: Duration,
    /// How long it may hold up a list of all servers.
    pub(crate) list_wait: Duration,
    /// How long it may idle before it is stopped; `None` for ever.
    pub(crate) idle_stop: Option<Duration>,
    pub(crate) max_message_bytes: usize,
    pub(crate) restart: Restart,
    /// Whether excerpts of its error messages may be shown to callers.
    pub(crate) trusted_errors: bool,
    /// Whether clients are told how it says it is to be used.
    pub(crate) instructions: bool,
}

/// How an upstream is reached.
#[derive(Debug)]
pub(crate) enum Target {
    /// A program to start and speak to over standard input and output.
    Command {
        program: String,
        arguments: Vec<String>,
        cwd: Option<PathBuf>,
        env: BTreeMap<String, Secret<String>>,
        /// Variables of our own environment it gets as they are.
        env_pass: Vec<String>,
    },
    /// A server over HTTP.
    Url {
        url: Endpoint,
        wire: Wire,
        headers: BTreeMap<String, Secret<String>>,
        /// Whom to trust over https, when it is not whom the system trusts.
        ca: Option<Authorities>,
        auth: Option<Box<Auth>>,
    },
}

/// Certificates of a file.
#[derive(Debug)]
pub(crate) struct Authorities {
    pub(crate) path: PathBuf,
    pub(crate) trust: Trust,
}

/// OAuth 2.0 client credentials.
#[derive(Debug)]
pub(crate) struct Auth {
    pub(crate) token_url: Endpoint,
    pub(crate) client_id: String,
    pub(crate) client_secret: Secret<String>,
    pub(crate) scope: Option<String>,
    pub(crate) audience: Option<String>,
    pub(crate) resource: Option<String>,
}

/// How often an upstream may be started again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Restart {
    pub(crate) budget: u32,
    pub(crate) window: Duration,
}

/// An address to connect to. Its query may hold a key, so it is not shown.
pub(crate) struct Endpoint(pub(crate) Uri);

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.0.scheme_str().unwrap_or_default();
        let authority = self.0.authority().map_or("", |authority| authority.as_str());
        let query = if self.0.query().is_some() { "?…" } else { "" };
        write!(f, "{scheme}://{authority}{}{query}", self.0.path())
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self})")
    }
}
