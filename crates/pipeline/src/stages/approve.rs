//! Stage `approve`: authorizes the exact arguments, and waits for human approval if the tool needs it.

use failwell_fault::{Fault, reason};
use failwell_rpc::Json;
use failwell_toolbox::{Context, ToolTarget};

use crate::controls::approvals::{ApprovalGrant, ApprovalNeed};
use crate::pipeline::Pipeline;
use crate::request::scope::ExchangeLog;

impl Pipeline {
    /// Returns the consumed approval of this call; `None` for a tool that needs none.
    pub(crate) async fn approve(
        &self,
        tool: &dyn ToolTarget,
        arguments: &Json,
        cx: &Context,
        log: &ExchangeLog,
    ) -> Result<Option<ApprovalGrant>, Fault> {
        let caller = &cx.client().caller;
        tool.authorize(caller, arguments)?;
        if !tool.needs_approval(caller) {
            return Ok(None);
        }
        let missing = || Fault::new(&reason::POLICY_UNDECIDED).note("approvals", "none are kept here");
        let approvals = self.ports.controls.approvals.as_ref().ok_or_else(missing)?;
        let need = ApprovalNeed {
            reference: cx.reference(),
            caller,
            server: tool.server().unwrap_or(self.server.info().name),
            tool: tool.name(),
            arguments,
            deadline: self.settings.request_deadline,
            log: log.verdicts(),
        };
        // Boxed, because this branch is rare: the future of every call stays small.
        let grant = Box::pin(async {
            tokio::select! {
                biased;
                () = cx.cancelled() => Err(Fault::new(&reason::SERVER_CANCELLED)),
                grant = approvals.approve(need) => grant,
            }
        });
        grant.await.map(Some)
    }
}
