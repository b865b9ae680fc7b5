//! The typed and checked settings of a file. Secrets are wrapped in [`Secret`].

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use failwell_audit::{Retention, Rotation};
use failwell_fault::Secret;
use failwell_gateway::{HttpTransport, SessionSharing, ToolErrors, Trust};
use failwell_policy::{AccessPolicy, AccessRules, CedarPolicies, GuardSettings, Keys, Limits};
use failwell_store::ApprovalTerms;
use failwell_store::PinSettings;
use http::Uri;

use crate::state;

use super::keys::{
    BODY_MB, BODY_MB_PER_CALLER, CONNECTIONS, CONNECTIONS_PER_ADDRESS, Number, SESSIONS_PER_CALLER,
};
use super::{
    Builtin, CustomConfig, DeviceConfig, JwtConfig, OtlpConfig, PostgresConfig, ShelfConfig, StateConfig,
    TasksConfig,
};

/// The settings of one start.
#[derive(Debug)]
pub(crate) struct Config {
    /// The absolute path of the file. It separates this gateway's approvals and pins from those of others.
    pub(crate) file: Option<PathBuf>,
    /// The address to listen on. The command line has its own default.
    pub(crate) listen: Option<SocketAddr>,
    /// The state folder. By default the user's.
    pub(crate) data_dir: Option<PathBuf>,
    /// The store of state that several nodes share.
    pub(crate) state: StateConfig,
    pub(crate) require_key: bool,
    /// API keys, in addition to `FAILWELL_KEY`.
    pub(crate) keys: Keys,
    /// Tokens of an OAuth issuer.
    pub(crate) jwt: Option<JwtConfig>,
    pub(crate) limits: Limits,
    pub(crate) listener: ListenerLimits,
    pub(crate) servers: Vec<Builtin>,
    pub(crate) upstreams: Vec<UpstreamConfig>,
    /// Access rules for tools, prompts and resources.
    pub(crate) rules: AccessRules,
    /// Settings of human approval.
    pub(crate) approval: ApprovalTerms,
    /// Actions for changed definitions of upstreams.
    pub(crate) pin: PinSettings,
    /// Cedar policies. The text has been parsed once without errors.
    pub(crate) cedar: Option<String>,
    pub(crate) guards: GuardSettings,
    pub(crate) custom_guards: Vec<Arc<CustomConfig>>,
    /// Stored files.
    pub(crate) shelf: ShelfConfig,
    pub(crate) audit: AuditConfig,
    pub(crate) tasks: TasksConfig,
    pub(crate) device: DeviceConfig,
}

impl Config {
    /// Distinguishes this gateway from others that use the same state folder.
    pub(crate) fn scope(&self) -> String {
        if matches!(self.state, StateConfig::Redis { .. }) {
            // Nodes share approvals and pins, wherever their files are.
            return String::new();
        }
        self.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default()
    }

    /// The folder of the file, in which programs start and relative paths begin; otherwise the current folder.
    pub(crate) fn folder(&self) -> PathBuf {
        let of_file = self.file.as_deref().and_then(Path::parent).map(Path::to_owned);
        of_file.or_else(|| std::env::current_dir().ok()).unwrap_or_else(|| PathBuf::from("/"))
    }

    /// The configured state folder, otherwise the user's.
    pub(crate) fn state_folder(&self) -> PathBuf {
        self.data_dir.clone().or_else(state::folder).unwrap_or_else(|| PathBuf::from(".failwell"))
    }

    /// The folder of stored files.
    pub(crate) fn shelf_folder(&self) -> PathBuf {
        self.shelf.folder.clone().unwrap_or_else(|| self.state_folder().join("shelf"))
    }

    /// The access rules combined with the Cedar policies.
    pub(crate) fn access_policy(&self) -> AccessPolicy {
        let policies = self.cedar.as_ref().and_then(|text| CedarPolicies::parse(text).ok());
        AccessPolicy::new(self.rules.clone(), policies)
    }
}

/// Limits of the HTTP listener.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListenerLimits {
    pub(crate) connections: usize,
    pub(crate) connections_per_address: usize,
    pub(crate) sessions_per_caller: usize,
    pub(crate) body_mb: usize,
    pub(crate) body_mb_per_caller: usize,
}

impl ListenerLimits {
    /// The limits with the value of each key.
    pub(super) fn from_keys(mut value: impl FnMut(&'static Number) -> u64) -> ListenerLimits {
        let mut number = |key| usize::try_from(value(key)).unwrap_or(usize::MAX);
        ListenerLimits {
            connections: number(&CONNECTIONS),
            connections_per_address: number(&CONNECTIONS_PER_ADDRESS),
            sessions_per_caller: number(&SESSIONS_PER_CALLER),
            body_mb: number(&BODY_MB),
            body_mb_per_caller: number(&BODY_MB_PER_CALLER),
        }
    }
}

impl Default for ListenerLimits {
    fn default() -> ListenerLimits {
        ListenerLimits::from_keys(|key| key.default)
    }
}

/// The ledger and its exporters.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AuditConfig {
    pub(crate) ledger: bool,
    pub(crate) critical: bool,
    pub(crate) bodies: bool,
    /// Maximum number of recorded bytes per body.
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

/// Loopback, so that by default only this machine can connect.
pub(crate) const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8484);

impl Config {
    /// The changed keys that only a restart applies.
    pub(crate) fn fixed_differences(&self, other: &Config) -> Vec<&'static str> {
        let address = |config: &Config| config.listen.unwrap_or(DEFAULT_ADDRESS);
        let all = [
            ("listen", address(self) != address(other)),
            ("data_dir", self.data_dir != other.data_dir),
            ("state", self.state != other.state),
            ("require_key", self.require_key != other.require_key),
            ("limits.connections", self.listener.connections != other.listener.connections),
            (
                "limits.connections_per_address",
                self.listener.connections_per_address != other.listener.connections_per_address,
            ),
            (
                "limits.sessions_per_caller",
                self.listener.sessions_per_caller != other.listener.sessions_per_caller,
            ),
            ("limits.body_mb", self.listener.body_mb != other.listener.body_mb),
            (
                "limits.body_mb_per_caller",
                self.listener.body_mb_per_caller != other.listener.body_mb_per_caller,
            ),
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
            listener: ListenerLimits::default(),
            keys: Keys::default(),
            jwt: None,
            limits: Limits::default(),
            servers: Builtin::USUAL.to_vec(),
            upstreams: Vec::new(),
            rules: AccessRules::default(),
            approval: ApprovalTerms::default(),
            pin: PinSettings::default(),
            cedar: None,
            guards: GuardSettings::default(),
            custom_guards: Vec::new(),
            shelf: ShelfConfig::default(),
            audit: AuditConfig::default(),
            tasks: TasksConfig::default(),
            device: DeviceConfig::default(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct UpstreamConfig {
    pub(crate) name: String,
    pub(crate) target: Target,
    /// Whether callers share a session. `None` selects the default of the transport.
    pub(crate) sharing: Option<SessionSharing>,
    pub(crate) max_sessions: usize,
    /// Timeout of one request.
    pub(crate) timeout: Duration,
    /// Timeout of starting or connecting.
    pub(crate) start_timeout: Duration,
    /// Maximum delay that it may cause in a common list.
    pub(crate) list_wait: Duration,
    /// Whether it starts at the first need, not with `up`.
    pub(crate) lazy: bool,
    /// Idle time after which it is stopped. `None` means never.
    pub(crate) idle_stop: Option<Duration>,
    pub(crate) max_message_bytes: usize,
    pub(crate) restart: Restart,
    /// Whether callers may see excerpts of its error messages.
    pub(crate) trusted_errors: bool,
    /// The form of results with `isError` for callers.
    pub(crate) errors: ToolErrors,
    /// Whether its instructions are passed to clients.
    pub(crate) instructions: bool,
}

/// The transport of an upstream.
#[derive(Debug)]
pub(crate) enum Target {
    /// A program that is started and speaks over stdio.
    Command {
        program: String,
        arguments: Vec<String>,
        cwd: Option<PathBuf>,
        env: BTreeMap<String, Secret<String>>,
        /// Environment variables that are passed on unchanged.
        env_pass: Vec<String>,
    },
    /// A server reached over HTTP.
    Url {
        url: Endpoint,
        wire: HttpTransport,
        headers: BTreeMap<String, Secret<String>>,
        /// Certificate authorities that replace the system's.
        ca: Option<Authorities>,
        auth: Option<Box<Auth>>,
    },
}

/// Certificate authorities of a PEM file.
#[derive(Debug)]
pub(crate) struct Authorities {
    pub(crate) path: PathBuf,
    pub(crate) trust: Trust,
}

#[derive(Debug)]
pub(crate) struct Auth {
    pub(crate) token_url: Endpoint,
    pub(crate) client_id: String,
    pub(crate) client_secret: Secret<String>,
    pub(crate) scope: Option<String>,
    pub(crate) audience: Option<String>,
    pub(crate) resource: Option<String>,
}

/// The restart budget of an upstream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Restart {
    pub(crate) budget: u32,
    pub(crate) window: Duration,
}

/// A URL. `Display` leaves out the query, which may contain a key.
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
