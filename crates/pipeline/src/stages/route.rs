//! Stage `route`: resolves the name of a call, once. Every later stage reads the target.

use std::sync::Arc;

use failwell_fault::{Fault, OrFault, reason};
use failwell_rpc::{Json, TargetName};

use crate::pipeline::Pipeline;
use crate::request::call::{Call, OtherCall, RoutedCall, ServerCall};
use crate::request::extension::ExtensionRoute;
use crate::request::incoming_request::{IncomingMessage, RequestEra};
use crate::request::scope::RequestScope;
use failwell_toolbox::{CompletionTarget, Lookup, PromptTarget, ResourceTarget, ToolTarget};

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

/// The target of a call with its server, for guards, records and spans.
pub(crate) struct Route {
    pub(crate) target: Target,
    /// The server that the prefix of a name denotes, if the name has no target.
    named_server: Option<Box<str>>,
}

impl Route {
    /// The server behind this one; `None` if there is only this one, or if it is unknown.
    pub(crate) fn server(&self) -> Option<&str> {
        self.target.server().or(self.named_server.as_deref())
    }
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

impl From<Target> for Route {
    fn from(target: Target) -> Route {
        Route { target, named_server: None }
    }
}

impl RequestScope<'_> {
    /// Gives a call its target. Waits for a server's list if it is not known.
    pub(crate) async fn route<'a>(&self, call: Call<'a>) -> Result<RoutedCall<'a>, Fault> {
        let (server, caller) = (&self.pipeline.server, self.incoming.caller);
        Ok(RoutedCall::Other(match call {
            Call::Tool(call) => {
                let tool = server.find_tool(&call.name, caller);
                let tool = self.resolve(tool, Target::Tool, Target::SomeTool).await?;
                check_headers(&self.incoming.message, &*tool, &call.arguments)?;
                return Ok(RoutedCall::Tool(call, tool));
            }
            Call::Read(call) => {
                let resource = match &self.incoming.message {
                    IncomingMessage::Mcp(..) => server.find_resource(&call.uri, caller),
                    _ => server.find_plain_resource(&call.uri, caller),
                };
                OtherCall::Read(call, self.resource(resource).await?)
            }
            Call::Prompt(call) => {
                let prompt = server.find_prompt(&call.name, caller);
                OtherCall::Prompt(call, self.resolve(prompt, Target::Prompt, Target::Nothing).await?)
            }
            Call::Complete(wanted) => {
                let target = server.find_completion(&wanted.of, caller);
                OtherCall::Complete(wanted, self.resolve(target, Target::Completion, Target::Nothing).await?)
            }
            Call::Watch(uri) => {
                let resource = server.find_resource(&uri, caller);
                OtherCall::Watch(uri, self.resource(resource).await?)
            }
            Call::Unwatch(uri) => match server.find_resource(&uri, caller) {
                // Unsubscribing never fails, even if the resource is gone.
                Lookup::Refused { server, .. } => {
                    self.log.set_route(Route { target: Target::Nothing, named_server: server });
                    OtherCall::Unwatch(uri, None)
                }
                resource => OtherCall::Unwatch(uri, Some(self.resource(resource).await?)),
            },
            Call::Server(call) => {
                self.log.set_route(self.route_of(&call));
                OtherCall::Server(call)
            }
            Call::Extension(call) => {
                let resource = match call.route() {
                    ExtensionRoute::Resource(uri) => Some(server.find_plain_resource(uri, caller)),
                    ExtensionRoute::Server(server) => {
                        let named_server = Some(server.into());
                        self.log.set_route(Route { target: Target::Nothing, named_server });
                        None
                    }
                    ExtensionRoute::Nothing => {
                        self.log.set_route(Target::Nothing.into());
                        None
                    }
                };
                match resource {
                    Some(resource) => OtherCall::Extension(call, Some(self.resource(resource).await?)),
                    None => OtherCall::Extension(call, None),
                }
            }
        }))
    }

    fn route_of(&self, call: &ServerCall<'_>) -> Route {
        match call.task() {
            Some(id) => {
                let server = self.pipeline.ports.tasks.server_of(id, self.incoming.caller);
                Route { target: Target::SomeTool, named_server: server.map(String::into_boxed_str) }
            }
            None => Target::Nothing.into(),
        }
    }

    async fn resource(&self, lookup: Lookup<dyn ResourceTarget>) -> Result<Arc<dyn ResourceTarget>, Fault> {
        self.resolve(lookup, Target::Resource, Target::Nothing).await
    }

    async fn resolve<T: ?Sized + Send + Sync + 'static>(
        &self,
        lookup: Lookup<T>,
        target: fn(Arc<T>) -> Target,
        otherwise: Target,
    ) -> Result<Arc<T>, Fault> {
        let (found, server) = match lookup {
            Lookup::Found(found) => (Ok(found), None),
            Lookup::Refused { fault, server } => (Err(fault), server),
            // Boxed, because this branch is rare: the future of every call stays small.
            Lookup::Pending { find, server } => {
                let find = async {
                    let cx = self.routing_context()?;
                    self.pipeline.supervise(find(cx.clone()), &cx).await?.finished()
                };
                (Box::pin(find).await, server)
            }
        };
        self.log.set_route(match &found {
            Ok(found) => target(found.clone()).into(),
            Err(_) => Route { target: otherwise, named_server: server },
        });
        found
    }
}

impl Pipeline {
    /// The server and tool of a call, for custom guards with a filter. The names are the servers' own, so
    /// that a tool has one name for guards under every alias.
    pub(crate) fn subjects<'a>(&'a self, route: Option<&'a Route>) -> (TargetName<'a>, TargetName<'a>) {
        let own = self.server.info().name;
        let named = route.and_then(Route::server).map(TargetName::Named);
        let otherwise =
            if self.server.is_federation() { TargetName::Unknown } else { TargetName::Named(own) };
        match route.map(|route| &route.target) {
            Some(Target::Tool(tool)) => {
                (named.unwrap_or(TargetName::Named(own)), TargetName::Named(tool.name()))
            }
            Some(Target::SomeTool) => (named.unwrap_or(TargetName::Unknown), TargetName::Unknown),
            _ => (named.unwrap_or(otherwise), TargetName::Nothing),
        }
    }
}

/// Checks that the repeated parameters of a tool agree with its arguments.
fn check_headers(
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
