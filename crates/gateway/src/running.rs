//! A call on its last steps: a person's yes where one is wanted, then its server.

use failwell_fault::Fault;
use failwell_rpc::Json;
use failwell_server::{Context, ToolOutcome};
use futures_util::future::Either;

use crate::catalogue::Callee;
use crate::gateway::Inner;
use crate::member::Member;

impl Inner {
    /// Calls a tool, once a person said yes where the operator wants one.
    pub(crate) fn run<'a>(
        &'a self,
        member: &'a Member,
        tool: &'a Callee,
        arguments: Json,
        cx: Context,
    ) -> impl Future<Output = Result<ToolOutcome, Fault>> + Send + 'a {
        match self.veil.wants_approval(&cx.client().caller, member.name(), &tool.inside) {
            // Rare and large, so kept apart: what every call is made of stays small.
            true => Either::Left(Box::pin(self.run_approved(member, tool, arguments, cx))),
            false => Either::Right(member.call(tool, arguments, cx, &self.parking)),
        }
    }

    async fn run_approved(
        &self,
        member: &Member,
        tool: &Callee,
        arguments: Json,
        cx: Context,
    ) -> Result<ToolOutcome, Fault> {
        let given = cx.approval(member.name(), &tool.inside, &arguments).await?;
        let outcome = member.call(tool, arguments, cx.clone(), &self.parking).await;
        if let Err(fault) = &outcome {
            cx.give_back(&given, fault).await;
        }
        outcome
    }
}
