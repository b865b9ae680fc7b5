//! Stage `limit`: rates and concurrency of the caller before its call is routed, and of the tool after.
//!
//! The caller's own limit applies before routing, because routing may ask upstreams for their lists.

use failwell_fault::{Fault, reason};
use failwell_rpc::Caller;

use crate::controls::limits::{Admission, Permit};
use crate::pipeline::Pipeline;
use failwell_toolbox::ToolTarget;

impl Pipeline {
    /// Refuses requests during shutdown, while no record can be written, and beyond the caller's limits.
    pub(crate) async fn limit_caller(&self, caller: &Caller) -> Result<Permit, Fault> {
        if self.closing().is_cancelled() {
            return Err(Fault::new(&reason::SERVER_SHUTDOWN));
        }
        self.ports.recorder.admit()?;
        self.ports.controls.limits.admit(caller).decide().await
    }

    /// Refuses calls beyond the limits of this tool. They are configured under the server's own name of the
    /// tool.
    pub(crate) async fn limit_tool(&self, caller: &Caller, tool: &dyn ToolTarget) -> Result<Permit, Fault> {
        if !self.ports.controls.limits.limits_tools() {
            return Ok(Permit::default());
        }
        let server = tool.server().unwrap_or(self.server.info().name);
        let tool = format!("{server}__{}", tool.name());
        // Boxed, because this branch is rare: the future of every call stays small.
        Box::pin(self.ports.controls.limits.admit_tool(caller, &tool).decide()).await
    }
}

impl Admission<'_> {
    async fn decide(self) -> Result<Permit, Fault> {
        match self {
            Admission::Now(decision) => decision,
            Admission::Pending(decision) => decision.await,
        }
    }
}
