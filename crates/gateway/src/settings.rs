use std::path::PathBuf;
use std::time::Duration;

use failwell_fault::Secret;
use failwell_rpc::Era;

/// One server behind the gateway.
#[derive(Debug, Clone)]
pub struct UpstreamSettings {
    /// The name its tools are prefixed with.
    pub name: String,
    /// How to reach it.
    pub reach: Reach,
    /// How long one request may take.
    pub timeout: Duration,
    /// How long it may take to start and introduce itself.
    pub start_timeout: Duration,
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
}

/// How to reach an upstream.
#[derive(Debug, Clone)]
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
#[derive(Debug, Clone, Copy)]
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
            idle_stop: None,
            largest_message: 16 * 1024 * 1024,
            restart: Restart { budget: 5, window: Duration::from_secs(60) },
            first_era: None,
            trusted_errors: false,
        }
    }
}
