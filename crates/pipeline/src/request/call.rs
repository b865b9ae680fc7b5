//! A typed call. Every dialect is parsed into the same type. Routing gives it its target.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use failwell_fault::{Echo, Fault, reason};
use failwell_rpc::{ExpectedResult, Json, Object};

use crate::request::extension::ExtensionCall;
use crate::session::listen::Filter;
use failwell_toolbox::LogLevel;
use failwell_toolbox::{Completion, List};
use failwell_toolbox::{CompletionTarget, PromptTarget, ResourceTarget, ToolTarget};

#[derive(Debug)]
pub enum Call<'a> {
    Tool(ToolCall<'a>),
    Read(ReadCall<'a>),
    Prompt(PromptCall<'a>),
    Complete(Completion),
    /// `resources/subscribe`
    Watch(String),
    /// `resources/unsubscribe`
    Unwatch(String),
    /// A call that names no tool, prompt or resource.
    Server(ServerCall<'a>),
    /// A REST call that implements its own work.
    Extension(Box<dyn ExtensionCall>),
}

/// A call that concerns the server as a whole, or a task.
#[derive(Debug)]
pub enum ServerCall<'a> {
    Initialize(InitializeParams),
    Discover,
    Ping,
    SetLevel(LogLevel),
    /// A list such as `tools/list`, from a cursor.
    List(List, Option<String>),
    /// `subscriptions/listen`
    Listen(Filter),
    /// `tasks/get`
    TaskGet(String),
    /// `tasks/update`
    TaskUpdate(String, Object<'a>),
    /// `tasks/cancel`
    TaskCancel(String),
}

/// A call with its target.
pub(crate) enum RoutedCall<'a> {
    Tool(ToolCall<'a>, Arc<dyn ToolTarget>),
    Other(OtherCall<'a>),
}

/// A call that calls no tool. It needs no approval.
pub(crate) enum OtherCall<'a> {
    Read(ReadCall<'a>, Arc<dyn ResourceTarget>),
    Prompt(PromptCall<'a>, Arc<dyn PromptTarget>),
    Complete(Completion, Arc<dyn CompletionTarget>),
    Watch(String, Arc<dyn ResourceTarget>),
    /// The resource may be gone.
    Unwatch(String, Option<Arc<dyn ResourceTarget>>),
    Server(ServerCall<'a>),
    /// The resource that the call reads, if any.
    Extension(Box<dyn ExtensionCall>, Option<Arc<dyn ResourceTarget>>),
}

/// The `initialize` params of a session client.
#[derive(Debug)]
pub struct InitializeParams {
    pub(crate) version: String,
    pub(crate) capabilities: Option<Json>,
}

#[derive(Debug)]
pub struct ToolCall<'a> {
    pub(crate) name: String,
    pub(crate) arguments: Json,
    pub(crate) rounds: RoundParams<'a>,
}

#[derive(Debug)]
pub struct ReadCall<'a> {
    pub(crate) uri: String,
    pub(crate) rounds: RoundParams<'a>,
}

#[derive(Debug)]
pub struct PromptCall<'a> {
    pub(crate) name: String,
    pub(crate) arguments: BTreeMap<String, String>,
    pub(crate) rounds: RoundParams<'a>,
}

/// The members with which a modern client repeats a request with answers.
#[derive(Debug, Default)]
pub(crate) struct RoundParams<'a> {
    pub(crate) responses: Option<Object<'a>>,
    pub(crate) state: Option<String>,
}

/// The member that carries the sealed state of earlier rounds.
pub(crate) const STATE: &str = "requestState";

impl Call<'_> {
    /// Creates a tool call without question rounds.
    pub fn tool(name: String, arguments: Json) -> Call<'static> {
        Call::Tool(ToolCall { name, arguments, rounds: RoundParams::default() })
    }

    /// Creates a resource read without question rounds.
    pub fn read(uri: String) -> Call<'static> {
        Call::Read(ReadCall { uri, rounds: RoundParams::default() })
    }

    /// Creates a call for the first page of a list.
    pub fn list(list: List) -> Call<'static> {
        Call::Server(ServerCall::List(list, None))
    }

    /// The kind of result that the call returns.
    pub(crate) fn asked(&self) -> ExpectedResult {
        if matches!(self, Call::Tool(_)) { ExpectedResult::Tool } else { ExpectedResult::Other }
    }

    /// The tool, resource, prompt, task or record that the call names.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Call::Tool(call) => Some(&call.name),
            Call::Read(call) => Some(&call.uri),
            Call::Prompt(call) => Some(&call.name),
            Call::Watch(uri) | Call::Unwatch(uri) => Some(uri),
            Call::Complete(wanted) => Some(&wanted.of),
            Call::Server(call) => call.task(),
            Call::Extension(call) => call.target(),
        }
    }

    /// The method of a call outside MCP, for records and guards.
    pub(crate) fn plain_method(&self) -> &'static str {
        match self {
            Call::Tool(_) => "execute_tool",
            Call::Server(ServerCall::List(..)) => "list_tools",
            Call::Read(_) => "read_resource",
            Call::Extension(call) => call.method(),
            _ => "",
        }
    }
}

impl ServerCall<'_> {
    /// The id of the task that the call concerns.
    pub(crate) fn task(&self) -> Option<&str> {
        match self {
            ServerCall::TaskGet(id) | ServerCall::TaskUpdate(id, _) | ServerCall::TaskCancel(id) => Some(id),
            _ => None,
        }
    }
}

impl<'a> RoutedCall<'a> {
    /// The sealed state of earlier rounds, as the client returned it.
    pub(crate) fn state(&self) -> Option<&str> {
        let rounds = match self {
            RoutedCall::Tool(call, _) => &call.rounds,
            RoutedCall::Other(OtherCall::Read(call, _)) => &call.rounds,
            RoutedCall::Other(OtherCall::Prompt(call, _)) => &call.rounds,
            RoutedCall::Other(_) => return None,
        };
        rounds.state.as_deref()
    }

    /// The JSON of a call outside MCP that guards inspect.
    pub(crate) fn content(&self) -> Result<Option<Cow<'_, str>>, Fault> {
        Ok(match self {
            RoutedCall::Tool(call, _) => Some(Cow::Borrowed(call.arguments.text())),
            RoutedCall::Other(OtherCall::Read(call, _)) => {
                Some(Cow::Owned(failwell_rpc::json_string(&call.uri)))
            }
            RoutedCall::Other(OtherCall::Extension(call, _)) => call.content()?,
            RoutedCall::Other(_) => None,
        })
    }

    /// Returns the same call with its redacted content.
    pub(crate) fn with_content(self, clean: Json) -> Result<RoutedCall<'a>, Fault> {
        let text = |clean: &Json| clean.raw().as_str().map(Cow::into_owned);
        let other = match self {
            RoutedCall::Tool(call, tool) => {
                return Ok(RoutedCall::Tool(ToolCall { arguments: clean, ..call }, tool));
            }
            RoutedCall::Other(OtherCall::Read(call, resource)) => {
                OtherCall::Read(ReadCall { uri: text(&clean).unwrap_or(call.uri), ..call }, resource)
            }
            RoutedCall::Other(OtherCall::Extension(call, resource)) => {
                OtherCall::Extension(call.with_content(clean)?, resource)
            }
            RoutedCall::Other(other) => other,
        };
        Ok(RoutedCall::Other(other))
    }

    /// Gives the target to the same call, parsed again after a redaction. `None` if it is another call now.
    pub(crate) fn with_call(self, clean: Call<'_>) -> Option<RoutedCall<'_>> {
        let other = match (self, clean) {
            (RoutedCall::Tool(_, tool), Call::Tool(call)) => return Some(RoutedCall::Tool(call, tool)),
            (RoutedCall::Other(OtherCall::Read(_, resource)), Call::Read(call)) => {
                OtherCall::Read(call, resource)
            }
            (RoutedCall::Other(OtherCall::Prompt(_, prompt)), Call::Prompt(call)) => {
                OtherCall::Prompt(call, prompt)
            }
            (RoutedCall::Other(OtherCall::Complete(_, target)), Call::Complete(wanted)) => {
                OtherCall::Complete(wanted, target)
            }
            (RoutedCall::Other(OtherCall::Watch(_, resource)), Call::Watch(uri)) => {
                OtherCall::Watch(uri, resource)
            }
            (RoutedCall::Other(OtherCall::Unwatch(_, resource)), Call::Unwatch(uri)) => {
                OtherCall::Unwatch(uri, resource)
            }
            (RoutedCall::Other(OtherCall::Server(_)), Call::Server(call)) => OtherCall::Server(call),
            _ => return None,
        };
        Some(RoutedCall::Other(other))
    }
}

/// The fault for an unsupported method.
pub(crate) fn unknown_method(method: &str) -> Fault {
    Fault::new(&reason::MCP_UNKNOWN_METHOD).fact("method", Echo::of_caller(method))
}
