//! Stage `route`: resolves the name of a call, once. Every later stage reads the target.

use std::sync::Arc;

use failwell_fault::{Fault, OrFault, reason};
use failwell_rpc::{Json, TargetName};

use crate::pipeline::Pipeline;
use crate::request::call::Call;
use crate::request::extension::ExtensionRoute;
use crate::request::incoming_request::{IncomingMessage, IncomingRequest, RequestEra};
use crate::request::scope::RequestScope;
use failwell_toolbox::{CompletionTarget, Lookup, PromptTarget, ResourceTarget, ToolTarget};

#[derive(Clone)]
pub(crate) enum Target {
    Tool(Arc<dyn ToolTarget>),
    Prompt(Arc<dyn PromptTarget>),
    Resource(Arc<dyn ResourceTarget>),
    Completion(Arc<dyn CompletionTarget>),
    /// A tool that was not found, or a task, whose result is a tool's.
    SomeTool,
    /// The call concerns no tool, prompt or resource, or its target was not found.
    Nothing,
}

/// A target with its server, for limits, guards, records and spans.
pub(crate) struct RoutedCall {
    pub(crate) target: Target,
    /// The server that the prefix of a name denotes, if the name has no target.
    named_server: Option<Box<str>>,
}

impl RoutedCall {
    /// The server behind this one; `None` if there is only this one, or if it is unknown.
    pub(crate) fn server(&self) -> Option<&str> {
        self.target.server().or(self.named_server.as_deref())
    }
}

/// A lookup that may still be pending.
pub(crate) enum RouteLookup {
    Tool(Lookup<dyn ToolTarget>),
    Prompt(Lookup<dyn PromptTarget>),
    Resource(Lookup<dyn ResourceTarget>),
    Completion(Lookup<dyn CompletionTarget>),
    Known(RoutedCall),
}

impl Target {
    fn server(&self) -> Option<&str> {
        match self {
            Target::Tool(tool) => tool.server(),
            Target::Prompt(prompt) => prompt.server(),
            Target::Resource(resource) => resource.server(),
            Target::Completion(completion) => completion.server(),
            Target::SomeTool | Target::Nothing => None,
        }
    }
}

impl From<Target> for RoutedCall {
    fn from(target: Target) -> RoutedCall {
        RoutedCall { target, named_server: None }
    }
}

impl Pipeline {
    /// Looks up the name of a call, without waiting.
    pub(crate) fn look_up(&self, call: &Call<'_>, incoming: &IncomingRequest<'_>) -> RouteLookup {
        let caller = incoming.caller;
        let known = |target, named_server| RouteLookup::Known(RoutedCall { target, named_server });
        match call {
            Call::Tool(call) => RouteLookup::Tool(self.server.find_tool(&call.name, caller)),
            Call::Read(call) => match &incoming.message {
                IncomingMessage::Mcp(..) => {
                    RouteLookup::Resource(self.server.find_resource(&call.uri, caller))
                }
                _ => RouteLookup::Resource(self.server.find_plain_resource(&call.uri, caller)),
            },
            Call::Watch(uri) => RouteLookup::Resource(self.server.find_resource(uri, caller)),
            // Unsubscribing never fails, even if the resource is gone.
            Call::Unwatch(uri) => match self.server.find_resource(uri, caller) {
                Lookup::Refused { server, .. } => known(Target::Nothing, server),
                found => RouteLookup::Resource(found),
            },
            Call::Prompt(call) => RouteLookup::Prompt(self.server.find_prompt(&call.name, caller)),
            Call::Complete(wanted) => {
                RouteLookup::Completion(self.server.find_completion(&wanted.of, caller))
            }
            Call::TaskGet(id) | Call::TaskUpdate(id, _) | Call::TaskCancel(id) => {
                known(Target::SomeTool, self.ports.tasks.server_of(id, caller).map(String::into_boxed_str))
            }
            Call::Extension(call) => match call.route() {
                ExtensionRoute::Resource(uri) => {
                    RouteLookup::Resource(self.server.find_plain_resource(uri, caller))
                }
                ExtensionRoute::Server(server) => known(Target::Nothing, Some(server.into())),
                ExtensionRoute::Nothing => known(Target::Nothing, None),
            },
            _ => known(Target::Nothing, None),
        }
    }

    /// Returns the target. Waits for a server's list if the lookup is pending.
    pub(crate) async fn route(
        self: &Arc<Self>,
        lookup: RouteLookup,
        scope: &RequestScope<'_>,
    ) -> Result<Target, Fault> {
        match lookup {
            RouteLookup::Tool(lookup) => self.resolve(lookup, Target::Tool, Target::SomeTool, scope).await,
            RouteLookup::Prompt(lookup) => self.resolve(lookup, Target::Prompt, Target::Nothing, scope).await,
            RouteLookup::Resource(lookup) => {
                self.resolve(lookup, Target::Resource, Target::Nothing, scope).await
            }
            RouteLookup::Completion(lookup) => {
                self.resolve(lookup, Target::Completion, Target::Nothing, scope).await
            }
            RouteLookup::Known(routed) => {
                let target = routed.target.clone();
                scope.log.set_route(routed);
                Ok(target)
            }
        }
    }

    async fn resolve<T: ?Sized + Send + Sync + 'static>(
        self: &Arc<Self>,
        lookup: Lookup<T>,
        target: fn(Arc<T>) -> Target,
        otherwise: Target,
        scope: &RequestScope<'_>,
    ) -> Result<Target, Fault> {
        let (found, server) = match lookup {
            Lookup::Found(found) => (Ok(found), None),
            Lookup::Refused { fault, server } => (Err(fault), server),
            // Boxed, because this branch is rare: the future of every call stays small.
            Lookup::Pending { find, server } => {
                let find = async {
                    let cx = scope.routing_context()?;
                    self.supervise(find(cx.clone()), &cx).await?.finished()
                };
                (Box::pin(find).await, server)
            }
        };
        match found {
            Ok(found) => {
                let target = target(found);
                scope.log.set_route(target.clone().into());
                Ok(target)
            }
            Err(fault) => {
                scope.log.set_route(RoutedCall { target: otherwise, named_server: server });
                Err(fault)
            }
        }
    }

    /// The server and tool of a call, for custom guards with a filter. The names are the servers' own, so
    /// that a tool has one name for guards under every alias.
    pub(crate) fn subjects<'a>(&'a self, routed: Option<&'a RoutedCall>) -> (TargetName<'a>, TargetName<'a>) {
        let own = self.server.info().name;
        let named = routed.and_then(RoutedCall::server).map(TargetName::Named);
        let otherwise =
            if self.server.is_federation() { TargetName::Unknown } else { TargetName::Named(own) };
        match routed.map(|routed| &routed.target) {
            Some(Target::Tool(tool)) => {
                (named.unwrap_or(TargetName::Named(own)), TargetName::Named(tool.name()))
            }
            Some(Target::SomeTool) => (named.unwrap_or(TargetName::Unknown), TargetName::Unknown),
            _ => (named.unwrap_or(otherwise), TargetName::Nothing),
        }
    }
}

/// Checks that the repeated parameters of a tool agree with its arguments.
pub(crate) fn check_headers(
    message: &IncomingMessage<'_>,
    tool: &dyn ToolTarget,
    arguments: &Json,
) -> Result<(), Fault> {
    match (message, tool.header_params()) {
        (_, []) => Ok(()),
        (IncomingMessage::Mcp(_, RequestEra::Modern(Some(headers))), params) => {
            headers.check_params(params, &arguments.raw().to_tree().or_fault(&reason::SERVER_BUG)?)
        }
        _ => Ok(()),
    }
}
