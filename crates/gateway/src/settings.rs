use std::path::PathBuf;
use std::time::Duration;

use failwell_fault::Secret;
use failwell_rpc::Era;
use failwell_transport::Trust;

/// One server behind the gateway. Equal settings are the same server: a reload leaves it alone.
#[derive(Debug, Clone, PartialEq)]
pub struct UpstreamSettings {
    /// The name its tools are prefixed with.
    pub name: String,
    /// How to reach it.
    pub reach: Reach,
    /// How long one request may take.
    pub timeout: Duration,
    /// How long it may take to start and introduce itself.
    pub start_timeout: Duration,
    /// How long it may hold up a list of all servers, once it is up.
    pub list_wait: Duration,
    /// How long it may be idle before it is stopped; `None` for ever.
    pub idle_stop: Option<Duration>,
    /// The most bytes of one message.
    pub largest_message: usize,
    /// How many times within which window it is started again.
    pub restart: Restart,
    /// Which era to speak to it first, and as long as it understands; `None` for that of each client.
    pub first_era: Option<Era>,
    /// Whether callers may read its error messages, scrubbed and fenced.
    pub trusted_errors: bool,
    /// Whether clients are told how it says it is to be used.
    pub instructions: bool,
    /// Who may vouch for it over https, and for whoever hands out its tokens.
    pub trust: Trust,
    /// How messages go to it over HTTP.
    pub wire: Wire,
    /// Who shares a connection with whom; `None` for what is usual where it is reached.
    pub sharing: Option<Sharing>,
    /// The most sessions that callers have with it at once.
    pub most_sessions: usize,
    /// Where to get the token it wants to see, if it wants one.
    pub credentials: Option<ClientCredentials>,
}

/// Who shares a connection to an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Everybody, as is usual for children and for servers without sessions.
    Shared,
    /// Nobody: every caller has a session of its own, as is usual for servers over HTTP that have sessions.
    PerCaller,
}

/// How messages go to a server over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// As it turns out: streamable HTTP, or HTTP+SSE where nobody answers to that.
    Found,
    /// Streamable HTTP.
    Streamable,
    /// HTTP+SSE, the transport of 2024-11-05.
    Events,
}

/// OAuth 2.0 client credentials: what is shown to the token endpoint, and what is asked for there.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientCredentials {
    /// Where tokens are handed out.
    pub token_url: String,
    /// Who we are there.
    pub client_id: String,
    /// What proves it.
    pub client_secret: Secret<String>,
    /// What the token should allow.
    pub scope: Option<String>,
    /// Whom the token is for, as some endpoints want it …
    pub audience: Option<String>,
    /// … and as RFC 8707 has it.
    pub resource: Option<String>,
}

/// How to reach an upstream.
#[derive(Debug, Clone, PartialEq)]
pub enum Reach {
    /// Start it, and speak over its standard input and output.
    Child {
        /// The program.
        program: PathBuf,
        /// Its arguments.
        arguments: Vec<String>,
        /// The folder it runs in.
        folder: PathBuf,
        /// Variables it gets.
        environment: Vec<(String, Secret<String>)>,
        /// Variables it inherits.
        inherited: Vec<String>,
    },
    /// Speak streamable HTTP to it.
    Http {
        /// Where.
        url: String,
        /// Sent with every request.
        headers: Vec<(String, Secret<String>)>,
    },
}

/// The budget of restarts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Restart {
    /// How many …
    pub budget: u32,
    /// … within this time.
    pub window: Duration,
}

impl UpstreamSettings {
    /// An upstream with the usual bounds.
    pub fn new(name: impl Into<String>, reach: Reach) -> UpstreamSettings {
        UpstreamSettings {
            name: name.into(),
            reach,
            timeout: Duration::from_secs(60),
            start_timeout: Duration::from_secs(30),
            list_wait: Duration::from_secs(2),
            idle_stop: None,
            largest_message: 16 * 1024 * 1024,
            restart: Restart { budget: 5, window: Duration::from_secs(60) },
            first_era: None,
            trusted_errors: false,
            instructions: true,
            trust: Trust::System,
            wire: Wire::Found,
            sharing: None,
            most_sessions: 100,
            credentials: None,
        }
    }
}
