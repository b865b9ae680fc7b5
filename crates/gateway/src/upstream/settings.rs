use std::path::PathBuf;
use std::time::Duration;

use failwell_connect::Trust;
use failwell_fault::Secret;
use failwell_rpc::Era;

use crate::relay::tool_errors::ToolErrors;

/// The settings of one upstream. A reload keeps an upstream whose settings are equal.
#[derive(Debug, Clone, PartialEq)]
pub struct UpstreamSettings {
    /// The prefix of its tools.
    pub name: String,
    pub endpoint: Endpoint,
    /// The timeout of one request.
    pub timeout: Duration,
    /// The timeout of start and handshake.
    pub start_timeout: Duration,
    /// How long a combined list waits for it.
    pub list_wait: Duration,
    /// Whether it starts at the first need, not with the gateway.
    pub lazy: bool,
    /// Idle time before it is stopped; `None` for never.
    pub idle_stop: Option<Duration>,
    /// The maximum size of one message, in bytes.
    pub largest_message: usize,
    pub restart: RestartBudget,
    /// The era to try first; `None` for the era of each client.
    pub first_era: Option<Era>,
    /// Whether callers may read its error messages, redacted and fenced.
    pub trusted_errors: bool,
    /// The form of results with `isError` for callers.
    pub tool_errors: ToolErrors,
    /// Whether clients get its instructions.
    pub instructions: bool,
    /// The certificate authorities for its URL and its token endpoint.
    pub trust: Trust,
    pub transport: HttpTransport,
    /// `None` for the default of the transport.
    pub sharing: Option<SessionSharing>,
    /// The maximum number of concurrent per-caller sessions.
    pub most_sessions: usize,
    pub credentials: Option<ClientCredentials>,
}

/// Whether callers share a session with an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionSharing {
    /// One session for all callers: the default for children and for servers without sessions.
    Shared,
    /// One session per caller: the default for HTTP servers with sessions.
    PerCaller,
}

/// The MCP transport of an HTTP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpTransport {
    /// Streamable HTTP, or HTTP+SSE if the server does not support it.
    Detect,
    Streamable,
    /// The transport of revision 2024-11-05.
    Sse,
}

/// OAuth 2.0 client credentials.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientCredentials {
    pub token_url: String,
    pub client_id: String,
    pub client_secret: Secret<String>,
    pub scope: Option<String>,
    /// The `audience` parameter of some authorization servers.
    pub audience: Option<String>,
    /// The `resource` parameter of RFC 8707.
    pub resource: Option<String>,
}

/// Where an upstream is.
#[derive(Debug, Clone, PartialEq)]
pub enum Endpoint {
    /// A child process, over stdio.
    Child {
        program: PathBuf,
        arguments: Vec<String>,
        /// The working directory.
        folder: PathBuf,
        /// Variables to set.
        environment: Vec<(String, Secret<String>)>,
        /// Names of variables to inherit.
        inherited: Vec<String>,
    },
    /// An HTTP server.
    Http { url: String, headers: Vec<(String, Secret<String>)> },
}

/// The number of restarts allowed within a time window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RestartBudget {
    pub budget: u32,
    pub window: Duration,
}

impl UpstreamSettings {
    /// Settings with default limits.
    pub fn new(name: impl Into<String>, endpoint: Endpoint) -> UpstreamSettings {
        UpstreamSettings {
            name: name.into(),
            endpoint,
            timeout: Duration::from_secs(60),
            start_timeout: Duration::from_secs(30),
            list_wait: Duration::from_secs(2),
            lazy: false,
            idle_stop: None,
            largest_message: 16 * 1024 * 1024,
            restart: RestartBudget { budget: 5, window: Duration::from_secs(60) },
            first_era: None,
            trusted_errors: false,
            tool_errors: ToolErrors::default(),
            instructions: true,
            trust: Trust::System,
            transport: HttpTransport::Detect,
            sharing: None,
            most_sessions: 100,
            credentials: None,
        }
    }
}
