//! Starts servers before the first caller needs them: a first start may take long, and a broken one is found early.

use std::time::{Duration, Instant};

use failwell_fault::Fault;
use failwell_toolbox::{Context, List};
use tokio::task::JoinHandle;

use crate::federation::Gateway;
use crate::federation::catalogue::usable;
use crate::federation::member::Member;
use crate::upstream::ServerFailure;

/// A server that is being started.
pub struct StartingServer {
    pub name: String,
    pub outcome: JoinHandle<StartOutcome>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartOutcome {
    /// It has listed its tools.
    Up { tools: usize, took: Duration },
    /// It cannot be started, or does not list its tools.
    Failed(ServerFailure),
}

impl Gateway {
    /// Starts every server that is not lazy, and counts its tools. Calls in the meantime wait for the same start. Failures
    /// are reported to the operator, and the next caller tries again at once.
    pub fn start_servers(&self, cx: &Context) -> Vec<StartingServer> {
        let members = self.0.members();
        let wanted = members.iter().filter(|member| !member.is_lazy());
        wanted.map(|member| self.start(member.clone(), cx.clone())).collect()
    }

    fn start(&self, member: Member, cx: Context) -> StartingServer {
        let (federation, name) = (self.0.clone(), member.name().to_owned());
        if let Member::Upstream(upstream) = &member
            && !upstream.is_up()
        {
            upstream.expect_unattended_start();
        }
        let outcome = tokio::spawn(async move {
            let began = Instant::now();
            match federation.listed(&member, List::Tools, &cx).await {
                Ok(entries) => StartOutcome::Up { tools: usable(&entries), took: began.elapsed() },
                Err(fault) => StartOutcome::Failed(report(&member, fault, &cx)),
            }
        });
        StartingServer { name, outcome }
    }
}

/// Reports a failure to the operator. Failures of other parts, such as pins that cannot be read, concern the callers who
/// list.
fn report(member: &Member, fault: Fault, cx: &Context) -> ServerFailure {
    // The failure of the start knows the exit of the process; the fault for callers does not.
    let known = match member {
        Member::Upstream(upstream) if upstream.lifecycle().has_failed() => {
            upstream.lifecycle().last_failure()
        }
        Member::Upstream(_) | Member::BuiltIn(..) => None,
    };
    let failure = known.unwrap_or_else(|| ServerFailure::new(&fault));
    if fault.reason().id.starts_with("gateway/") {
        member.report_unlisted(fault, cx);
    }
    failure
}
