//! The targets that calls resolve to: tools, prompts, resources and completions of members.

mod resource;

use std::collections::BTreeMap;
use std::sync::Arc;

use failwell_fault::Fault;
use failwell_rpc::Caller;
use failwell_rpc::Json;
use failwell_toolbox::{
    Capability, Completion, CompletionTarget, Context, HeaderParam, List, Lookup, Members, PromptTarget,
    ToolOutcome, ToolServer, ToolTarget, Work,
};

pub(crate) use self::resource::{MemberResource, ResourceUris};

use crate::federation::Federation;
use crate::federation::catalogue::{Entry, TaskSupport};
use crate::federation::member::Member;
use crate::federation::names::uris;
use crate::relay::{PendingCalls, call_upstream, check_shape};
use crate::upstream::{DualEraUpstream, RequestParams, UpstreamRequest};

/// Which names a client uses for a member's items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameScope {
    /// Prefixed with the member's name.
    Federated,
    /// The member's own names.
    Single,
}

/// A member as the target of one call: an upstream, which gets the name, or what a built-in server found under it.
pub(crate) enum MemberTarget<T: ?Sized> {
    Upstream(Arc<DualEraUpstream>),
    BuiltIn(Arc<str>, Arc<T>),
}

impl<T: ?Sized> MemberTarget<T> {
    fn member_name(&self) -> &str {
        match self {
            MemberTarget::Upstream(upstream) => upstream.name(),
            MemberTarget::BuiltIn(name, _) => name,
        }
    }
}

impl Member {
    /// Looks a name up at a built-in server. An upstream looks it up when it is called.
    fn look_up<T, U>(
        self,
        find: impl FnOnce(&dyn ToolServer) -> Lookup<T>,
        target: impl FnOnce(MemberTarget<T>) -> Arc<U> + Send + 'static,
    ) -> Lookup<U>
    where
        T: ?Sized + Send + Sync + 'static,
        U: ?Sized + Send + Sync + 'static,
    {
        match self {
            Member::Upstream(upstream) => Lookup::Found(target(MemberTarget::Upstream(upstream))),
            Member::BuiltIn(name, server) => {
                find(&*server).map(move |found| target(MemberTarget::BuiltIn(name, found)))
            }
        }
    }

    /// Refuses a name of this member.
    pub(crate) fn refuse<T: ?Sized>(&self, fault: Fault) -> Lookup<T> {
        Lookup::Refused { fault, server: Some(self.name().into()) }
    }
}

pub(crate) struct MemberTool {
    gateway: Arc<Federation>,
    target: MemberTarget<dyn ToolTarget>,
    entry: Arc<Entry>,
    scope: NameScope,
}

impl MemberTool {
    pub(crate) fn look_up(
        gateway: Arc<Federation>,
        member: Member,
        entry: Arc<Entry>,
        scope: NameScope,
        caller: &Caller,
    ) -> Lookup<dyn ToolTarget> {
        if let Err(fault) = entry.check_quarantine() {
            return member.refuse(fault);
        }
        let known = entry.clone();
        member.look_up(
            |server| server.find_tool(&known.inside, caller),
            move |target| Arc::new(MemberTool { gateway, target, entry, scope }) as _,
        )
    }
}

impl ToolTarget for MemberTool {
    fn server(&self) -> Option<&str> {
        Some(self.target.member_name())
    }

    fn name(&self) -> &str {
        &self.entry.inside
    }

    fn header_params(&self) -> &[HeaderParam] {
        &self.entry.header_params
    }

    fn needs_approval(&self, caller: &Caller) -> bool {
        self.gateway.visibility.wants_approval(caller, self.target.member_name(), &self.entry.inside)
    }

    fn authorize(&self, caller: &Caller, arguments: &Json) -> Result<(), Fault> {
        let (server, tool) = (self.target.member_name(), &self.entry.inside);
        self.gateway.visibility.authorize(caller, server, List::Tools, tool, Some(arguments))
    }

    fn call(self: Arc<Self>, arguments: Json, cx: Context) -> Work<ToolOutcome> {
        Box::pin(async move {
            let pending_calls = &self.gateway.pending_calls;
            let outcome = match &self.target {
                MemberTarget::BuiltIn(_, tool) => tool.clone().call(arguments, cx).await?,
                MemberTarget::Upstream(upstream) => {
                    call_tool(upstream, &self.entry, arguments, &cx, pending_calls).await?
                }
            };
            Ok(match self.scope {
                NameScope::Federated => {
                    outcome.map_relayed(|members| uris::in_content(self.target.member_name(), members))
                }
                NameScope::Single => outcome,
            })
        })
    }
}

async fn call_tool(
    upstream: &DualEraUpstream,
    tool: &Entry,
    arguments: Json,
    cx: &Context,
    pending_calls: &Arc<PendingCalls>,
) -> Result<ToolOutcome, Fault> {
    let params =
        RequestParams::forwarded().with_text("name", &tool.inside).with("arguments", arguments.clone());
    let mut params = match tool.tasks {
        TaskSupport::Required => params.into_task(),
        TaskSupport::Optional if cx.client().can(Capability::Tasks) => params.into_task(),
        TaskSupport::Optional | TaskSupport::Forbidden => params,
    };
    let upstream = upstream.for_client(cx);
    let result = call_upstream(upstream, "tools/call", &mut params, cx, pending_calls).await?;
    Ok(upstream.settings.tool_errors.outcome(result, &arguments))
}

pub(crate) struct MemberPrompt {
    gateway: Arc<Federation>,
    target: MemberTarget<dyn PromptTarget>,
    entry: Arc<Entry>,
}

impl MemberPrompt {
    /// Rejects a prompt that is quarantined or that this caller may not use.
    pub(crate) fn look_up(
        gateway: Arc<Federation>,
        member: Member,
        entry: Arc<Entry>,
        caller: &Caller,
    ) -> Lookup<dyn PromptTarget> {
        if let Err(fault) = gateway.admit(&member, List::Prompts, &entry, caller) {
            return member.refuse(fault);
        }
        let known = entry.clone();
        member.look_up(
            |server| server.find_prompt(&known.inside, caller),
            move |target| Arc::new(MemberPrompt { gateway, target, entry }) as _,
        )
    }
}

impl PromptTarget for MemberPrompt {
    fn server(&self) -> Option<&str> {
        Some(self.target.member_name())
    }

    fn fill(self: Arc<Self>, arguments: BTreeMap<String, String>, cx: Context) -> Work<Members> {
        let upstream = match &self.target {
            MemberTarget::BuiltIn(_, prompt) => return prompt.clone().fill(arguments, cx),
            MemberTarget::Upstream(upstream) => upstream.clone(),
        };
        Box::pin(async move {
            // The arguments are among the caller's members, which are forwarded as they were written.
            let mut params = RequestParams::forwarded().with_text("name", &self.entry.inside);
            let (upstream, pending) = (upstream.for_client(&cx), &self.gateway.pending_calls);
            Ok(call_upstream(upstream, "prompts/get", &mut params, &cx, pending).await?.members)
        })
    }
}

pub(crate) struct MemberCompletion {
    target: MemberTarget<dyn CompletionTarget>,
    /// The name or URI at the member.
    of: String,
}

impl MemberCompletion {
    /// Rejects a prompt or template that is quarantined or that this caller may not use.
    pub(crate) fn look_up(
        gateway: &Federation,
        member: Member,
        list: List,
        entry: &Entry,
        caller: &Caller,
    ) -> Lookup<dyn CompletionTarget> {
        match gateway.admit(&member, list, entry, caller) {
            Ok(()) => MemberCompletion::of(member, entry.inside.clone(), caller),
            Err(fault) => member.refuse(fault),
        }
    }

    pub(crate) fn of(member: Member, of: String, caller: &Caller) -> Lookup<dyn CompletionTarget> {
        let known = of.clone();
        member.look_up(
            |server| server.find_completion(&known, caller),
            move |target| Arc::new(MemberCompletion { target, of }) as _,
        )
    }
}

impl CompletionTarget for MemberCompletion {
    fn server(&self) -> Option<&str> {
        Some(self.target.member_name())
    }

    fn complete(self: Arc<Self>, wanted: Completion, cx: Context) -> Work<Members> {
        let wanted = Completion { of: self.of.clone(), ..wanted };
        let upstream = match &self.target {
            MemberTarget::BuiltIn(_, completion) => return completion.clone().complete(wanted, cx),
            MemberTarget::Upstream(upstream) => upstream.clone(),
        };
        Box::pin(async move {
            let params = RequestParams::forwarded().renamed_ref(&wanted.of, &cx);
            let ask = UpstreamRequest::new("completion/complete", &params);
            let result = upstream.for_client(&cx).request(&cx, &ask).await?;
            Ok(check_shape("completion/complete", result)?.members)
        })
    }
}

impl Federation {
    /// Rejects an item that is quarantined or that this caller may not use.
    fn admit(&self, member: &Member, list: List, entry: &Entry, caller: &Caller) -> Result<(), Fault> {
        entry.check_quarantine()?;
        self.visibility.authorize(caller, member.name(), list, &entry.inside, None)
    }
}
