//! The targets that calls resolve to: tools, prompts, resources and completions of members.

use std::collections::BTreeMap;
use std::sync::Arc;

use failwell_fault::{Fault, reason};
use failwell_rpc::Caller;
use failwell_rpc::Json;
use failwell_toolbox::{
    Completion, CompletionTarget, Context, HeaderParam, List, Members, PromptTarget, ResourceTarget,
    ToolOutcome, ToolTarget, Work, unknown_resource,
};

use crate::federation::Federation;
use crate::federation::catalogue::Entry;
use crate::federation::member::Member;
use crate::federation::names::uris;

/// Which names a client uses for a member's items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameScope {
    /// Prefixed with the member's name.
    Federated,
    /// The member's own names.
    Single,
}

pub(crate) struct UpstreamTool {
    gateway: Arc<Federation>,
    member: Member,
    entry: Arc<Entry>,
    scope: NameScope,
}

impl UpstreamTool {
    pub(crate) fn new(
        gateway: Arc<Federation>,
        member: Member,
        entry: Arc<Entry>,
        scope: NameScope,
    ) -> Result<Arc<UpstreamTool>, Fault> {
        entry.check_quarantine()?;
        Ok(Arc::new(UpstreamTool { gateway, member, entry, scope }))
    }
}

impl ToolTarget for UpstreamTool {
    fn server(&self) -> Option<&str> {
        Some(self.member.name())
    }

    fn name(&self) -> &str {
        &self.entry.inside
    }

    fn header_params(&self) -> &[HeaderParam] {
        &self.entry.header_params
    }

    fn needs_approval(&self, caller: &Caller) -> bool {
        self.gateway.visibility.wants_approval(caller, self.member.name(), &self.entry.inside)
    }

    fn authorize(&self, caller: &Caller, arguments: &Json) -> Result<(), Fault> {
        let (server, tool) = (self.member.name(), &self.entry.inside);
        self.gateway.visibility.authorize(caller, server, List::Tools, tool, Some(arguments))
    }

    fn call(self: Arc<Self>, arguments: Json, cx: Context) -> Work<ToolOutcome> {
        Box::pin(async move {
            let outcome = self.member.call(&self.entry, arguments, cx, &self.gateway.pending_calls).await?;
            Ok(match self.scope {
                NameScope::Federated => {
                    outcome.map_relayed(|members| uris::in_content(self.member.name(), members))
                }
                NameScope::Single => outcome,
            })
        })
    }
}

pub(crate) struct UpstreamPrompt {
    gateway: Arc<Federation>,
    member: Member,
    entry: Arc<Entry>,
}

impl UpstreamPrompt {
    /// Rejects a prompt that is quarantined or that this caller may not use.
    pub(crate) fn new(
        gateway: Arc<Federation>,
        member: Member,
        entry: Arc<Entry>,
        caller: &Caller,
    ) -> Result<Arc<UpstreamPrompt>, Fault> {
        entry.check_quarantine()?;
        gateway.visibility.authorize(caller, member.name(), List::Prompts, &entry.inside, None)?;
        Ok(Arc::new(UpstreamPrompt { gateway, member, entry }))
    }
}

impl PromptTarget for UpstreamPrompt {
    fn server(&self) -> Option<&str> {
        Some(self.member.name())
    }

    fn fill(self: Arc<Self>, arguments: BTreeMap<String, String>, cx: Context) -> Work<Members> {
        Box::pin(async move {
            self.member.prompt(&self.entry.inside, arguments, cx, &self.gateway.pending_calls).await
        })
    }
}

pub(crate) struct UpstreamResource {
    pub(crate) gateway: Arc<Federation>,
    pub(crate) member: Member,
    /// Its URI at the member.
    pub(crate) inside: String,
    /// Its prefixed URI; `None` at `/mcp/<server>`.
    pub(crate) outside: Option<String>,
    /// Its URI as the caller wrote it.
    pub(crate) asked: String,
}

impl ResourceTarget for UpstreamResource {
    fn server(&self) -> Option<&str> {
        Some(self.member.name())
    }

    fn uri(&self) -> Option<&str> {
        Some(self.outside.as_deref().unwrap_or(&self.inside))
    }

    fn read(self: Arc<Self>, cx: Context) -> Work<Members> {
        Box::pin(async move {
            let read = self.member.read(&self.inside, cx, &self.gateway.pending_calls).await;
            // The fault names the URI that the caller used.
            let read = read.map_err(|fault| {
                let unknown = *fault.reason() == reason::MCP_UNKNOWN_RESOURCE;
                if unknown { unknown_resource(&self.asked).absorbing(fault) } else { fault }
            });
            match self.outside {
                Some(_) => Ok(uris::in_contents(self.member.name(), read?)),
                None => read,
            }
        })
    }

    fn watch(self: Arc<Self>, cx: Context) -> Work<()> {
        Box::pin(async move {
            let cx = match &self.outside {
                Some(outside) => cx.with_alias(&self.inside, outside),
                None => cx,
            };
            self.member.watch(&self.inside, cx).await
        })
    }

    fn unwatch(&self, cx: Context) {
        self.member.unwatch(&self.inside, cx);
    }
}

pub(crate) struct UpstreamCompletion {
    pub(crate) member: Member,
    /// The name or URI at the member.
    pub(crate) of: String,
}

impl CompletionTarget for UpstreamCompletion {
    fn server(&self) -> Option<&str> {
        Some(self.member.name())
    }

    fn complete(self: Arc<Self>, wanted: Completion, cx: Context) -> Work<Members> {
        Box::pin(async move { self.member.complete(Completion { of: self.of.clone(), ..wanted }, cx).await })
    }
}
