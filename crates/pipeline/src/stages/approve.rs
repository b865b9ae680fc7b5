//! Stage `approve`: authorizes the exact arguments, and waits for human approval if the tool needs it.

use std::sync::Arc;

use failwell_fault::{Fault, reason};
use failwell_rpc::Json;
use failwell_toolbox::{Context, ToolTarget};

use crate::controls::approvals::{ApprovalGrant, ApprovalNeed};
use crate::request::call::{OtherCall, RoutedCall, ToolCall};
use crate::request::scope::RequestScope;

/// A call that may run.
pub(crate) enum ApprovedCall<'a> {
    Tool(ApprovedTool),
    Other(OtherCall<'a>),
}

pub(crate) struct ApprovedTool {
    /// The name that the caller used.
    pub(crate) name: String,
    pub(crate) tool: Arc<dyn ToolTarget>,
    pub(crate) arguments: Json,
    /// The context of its handler.
    pub(crate) cx: Context,
    /// The consumed approval; `None` for a tool that needs none.
    pub(crate) grant: Option<ApprovalGrant>,
}

impl RequestScope<'_> {
    /// Approves a tool call. The answers that a modern client brings are opened first, so that a call with a bad
    /// state consumes no approval.
    pub(crate) async fn approve<'a>(&self, call: RoutedCall<'a>) -> Result<ApprovedCall<'a>, Fault> {
        let (ToolCall { name, arguments, rounds }, tool) = match call {
            RoutedCall::Tool(call, tool) => (call, tool),
            RoutedCall::Other(call) => return Ok(ApprovedCall::Other(call)),
        };
        let cx = self.context(self.asking(&rounds, &name)?)?;
        tool.authorize(self.incoming.caller, &arguments)?;
        let grant = match tool.needs_approval(self.incoming.caller) {
            // Boxed, because this branch is rare: the future of every call stays small.
            true => Some(Box::pin(self.wait_for_approval(&*tool, &arguments, &cx)).await?),
            false => None,
        };
        Ok(ApprovedCall::Tool(ApprovedTool { name, tool, arguments, cx, grant }))
    }

    async fn wait_for_approval(
        &self,
        tool: &dyn ToolTarget,
        arguments: &Json,
        cx: &Context,
    ) -> Result<ApprovalGrant, Fault> {
        let pipeline = self.pipeline;
        let missing = || Fault::new(&reason::POLICY_UNDECIDED).note("approvals", "none are kept here");
        let approvals = pipeline.ports.controls.approvals.as_ref().ok_or_else(missing)?;
        let need = ApprovalNeed {
            reference: cx.reference(),
            caller: self.incoming.caller,
            server: tool.server().unwrap_or(pipeline.server.info().name),
            tool: tool.name(),
            arguments,
            deadline: pipeline.settings.request_deadline,
            log: self.log.verdicts(),
        };
        tokio::select! {
            biased;
            () = cx.cancelled() => Err(Fault::new(&reason::SERVER_CANCELLED)),
            grant = approvals.approve(need) => grant,
        }
    }
}
