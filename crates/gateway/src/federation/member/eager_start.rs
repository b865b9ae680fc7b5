//! Starts children before the first caller needs them: a first start may take long, and a broken one is found early.

use failwell_toolbox::{Context, List};
use tokio::task::JoinHandle;

use crate::federation::Gateway;
use crate::federation::member::Member;
use crate::upstream::{DualEraUpstream, Endpoint, SessionSharing};

/// A child that is being started.
pub struct StartingUpstream {
    pub name: String,
    pub outcome: JoinHandle<StartOutcome>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartOutcome {
    Up,
    /// It cannot be started, or does not list its tools.
    Failed,
}

impl Gateway {
    /// Starts all children that callers share. Calls in the meantime wait for the same start. Failures are reported to
    /// the operator, and the next caller tries again at once.
    pub fn start_upstreams(&self, cx: &Context) -> Vec<StartingUpstream> {
        let members = self.0.members();
        let shared =
            members.iter().filter(|member| matches!(member, Member::Upstream(one) if is_shared(one)));
        shared.map(|member| self.start(member.clone(), cx.clone())).collect()
    }

    fn start(&self, member: Member, cx: Context) -> StartingUpstream {
        let (federation, name) = (self.0.clone(), member.name().to_owned());
        if let Member::Upstream(upstream) = &member
            && !upstream.is_up()
        {
            upstream.expect_unattended_start();
        }
        let outcome = tokio::spawn(async move {
            let Err(fault) = federation.listed(&member, List::Tools, &cx).await else {
                return StartOutcome::Up;
            };
            // Other failures, such as pins that cannot be read, concern the callers who list.
            if fault.reason().id.starts_with("gateway/") {
                member.report_unlisted(fault, &cx);
            }
            StartOutcome::Failed
        });
        StartingUpstream { name, outcome }
    }
}

fn is_shared(upstream: &DualEraUpstream) -> bool {
    let settings = upstream.settings();
    matches!(settings.endpoint, Endpoint::Child { .. }) && settings.sharing != Some(SessionSharing::PerCaller)
}
