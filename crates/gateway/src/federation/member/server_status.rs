//! The state of every server, for the operator.

use std::time::SystemTime;

use failwell_rpc::Caller;
use failwell_toolbox::List;

use crate::federation::catalogue::usable;
use crate::federation::member::Member;
use crate::federation::{Federation, Gateway};
use crate::upstream::{ServerFailure, ServerKind};

/// The state of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerStatus {
    pub name: String,
    pub kind: ServerKind,
    /// `up`, `starting`, `idle` or `down`.
    pub state: &'static str,
    /// When it last started, ended or failed. A built-in server is up since it was configured.
    pub since: SystemTime,
    /// The number of its tools, once they were listed.
    pub tools: Option<usize>,
    /// The sessions of single callers.
    pub sessions: usize,
    pub starts: u64,
    pub is_lazy: bool,
    pub last_failure: Option<ServerFailure>,
}

impl Gateway {
    /// The servers that are not hidden from the reader; all of them for the operator.
    pub fn servers(&self, reader: Option<&Caller>) -> Vec<ServerStatus> {
        self.0.members_seen_by(reader).iter().map(|member| self.0.status(member)).collect()
    }
}

impl Federation {
    fn status(&self, member: &Member) -> ServerStatus {
        let listed = self.catalogue.last(member.name(), List::Tools);
        let tools = listed.map(|entries| usable(&entries));
        let name = member.name().to_owned();
        match member {
            Member::BuiltIn(..) => ServerStatus {
                name,
                kind: ServerKind::BuiltIn,
                state: "up",
                since: self.created,
                tools,
                sessions: 0,
                starts: 1,
                is_lazy: false,
                last_failure: None,
            },
            Member::Upstream(upstream) => ServerStatus {
                name,
                kind: upstream.lifecycle().kind(),
                state: upstream.state().as_str(),
                since: upstream.lifecycle().since(),
                tools,
                sessions: upstream.sessions(),
                starts: upstream.lifecycle().starts(),
                is_lazy: member.is_lazy(),
                last_failure: upstream.lifecycle().last_failure(),
            },
        }
    }
}
