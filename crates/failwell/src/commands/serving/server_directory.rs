//! The servers of the gateway for `GET /v1/servers` and `/readyz?verbose`.

use failwell_controls::{GuardSet, ServerDirectory, ServerFailureInfo, ServerInfo};
use failwell_gateway::{Gateway, ServerFailure, ServerStatus};
use failwell_journal::printable;
use failwell_render::Moment;
use failwell_rpc::Caller;

/// The gateway, and the guards that remove secrets from the output of servers.
pub(super) struct GatewayServers {
    pub(super) gateway: Gateway,
    pub(super) guard_set: GuardSet,
}

impl std::fmt::Debug for GatewayServers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GatewayServers")
    }
}

impl ServerDirectory for GatewayServers {
    fn servers(&self, reader: Option<&Caller>) -> Vec<ServerInfo> {
        self.gateway.servers(reader).into_iter().map(|status| self.info(status)).collect()
    }
}

impl GatewayServers {
    fn info(&self, status: ServerStatus) -> ServerInfo {
        let failure = |failure: ServerFailure| ServerFailureInfo {
            at: Moment::from(failure.at).to_string(),
            reason: failure.reason,
            text: failure_text(&failure, &self.guard_set),
        };
        ServerInfo {
            name: status.name,
            kind: status.kind.as_str(),
            state: status.state,
            since: Moment::from(status.since).to_string(),
            tools: status.tools,
            sessions: status.sessions,
            starts: status.starts,
            lazy: status.is_lazy,
            last_failure: status.last_failure.map(failure),
        }
    }
}

/// Says why a server failed, in one line for the operator, without secrets.
pub(super) fn failure_text(failure: &ServerFailure, guard_set: &GuardSet) -> String {
    failure.text(|text| printable(&guard_set.scrub(text)))
}
