//! The servers behind a pipeline, as operators see them.

use std::fmt;
use std::time::SystemTime;

use failwell_render::Moment;
use failwell_rpc::Caller;
use serde::Serialize;

/// The servers of a program.
pub trait ServerDirectory: fmt::Debug + Send + Sync {
    /// The servers that are not hidden from the reader; all of them for `None`.
    fn servers(&self, reader: Option<&Caller>) -> Vec<ServerInfo>;
}

/// One server of `GET /v1/servers`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerInfo {
    pub name: String,
    /// `built-in`, `program` or `http`.
    pub kind: &'static str,
    /// `up`, `starting`, `idle` or `down`.
    pub state: &'static str,
    /// When it last started, ended or failed, as RFC 3339.
    pub since: String,
    /// The number of its tools, once they were listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<usize>,
    /// The sessions of single callers.
    pub sessions: usize,
    pub starts: u64,
    /// Whether it starts at the first need.
    pub lazy: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<ServerFailureInfo>,
}

/// The last failure of a server, without secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerFailureInfo {
    /// The time, as RFC 3339.
    pub at: String,
    pub reason: &'static str,
    /// One line, such as `exit 1: API_KEY is required`.
    pub text: String,
}

/// The directory of a pipeline with one server of its own.
#[derive(Debug)]
pub(crate) struct OneServer {
    name: &'static str,
    since: SystemTime,
}

impl OneServer {
    pub(crate) fn new(name: &'static str) -> OneServer {
        OneServer { name, since: SystemTime::now() }
    }
}

impl ServerDirectory for OneServer {
    fn servers(&self, _: Option<&Caller>) -> Vec<ServerInfo> {
        vec![ServerInfo {
            name: self.name.to_owned(),
            kind: "built-in",
            state: "up",
            since: Moment::from(self.since).to_string(),
            tools: None,
            sessions: 0,
            starts: 1,
            lazy: false,
            last_failure: None,
        }]
    }
}
