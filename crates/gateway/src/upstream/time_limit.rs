//! Time limits, and the faults for exceeding them, which name the setting.

use std::time::Duration;

use failwell_fault::{Fault, Name, reason};

use crate::upstream::settings::{Endpoint, UpstreamSettings};

#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeLimit<'a> {
    server: &'a str,
    setting: &'static str,
    limit: Duration,
}

impl UpstreamSettings {
    pub(crate) fn start_limit(&self) -> TimeLimit<'_> {
        TimeLimit { server: &self.name, setting: "start_timeout_s", limit: self.start_timeout }
    }

    pub(crate) fn answer_limit(&self) -> TimeLimit<'_> {
        TimeLimit { server: &self.name, setting: "timeout_s", limit: self.timeout }
    }

    pub(crate) fn list_limit(&self) -> TimeLimit<'_> {
        TimeLimit { server: &self.name, setting: "list_wait_s", limit: self.list_wait }
    }

    /// The handshake did not finish in time. Only a child process is known to be still starting.
    pub(crate) fn start_exceeded(&self) -> Fault {
        let limit = self.start_limit();
        let fault = match self.endpoint {
            Endpoint::Child { .. } => limit.still_starting(),
            Endpoint::Http { .. } => limit.facts(Fault::new(&reason::GATEWAY_UPSTREAM_DOWN)),
        };
        fault.note("start", "no introduction in time")
    }
}

impl TimeLimit<'_> {
    /// The upstream is connected and did not answer in time.
    pub(crate) fn exceeded(self) -> Fault {
        self.facts(Fault::new(&reason::GATEWAY_UPSTREAM_TIMEOUT))
    }

    /// The upstream is still starting.
    pub(crate) fn still_starting(self) -> Fault {
        let fault = Fault::new(&reason::GATEWAY_UPSTREAM_STARTING);
        let fault = match Name::parse(self.server) {
            Some(server) => fault.fact("server", server),
            None => fault,
        };
        self.facts(fault)
    }

    fn facts(self, fault: Fault) -> Fault {
        fault.fact("limit_s", self.limit.as_secs().max(1)).fact("setting", self.setting)
    }
}
