//! A typed call. Every dialect is parsed into the same type.

use std::borrow::Cow;
use std::collections::BTreeMap;

use failwell_fault::{Echo, Fault, reason};
use failwell_rpc::{ExpectedResult, Json, Object};

use crate::request::extension::ExtensionCall;
use crate::session::listen::Filter;
use failwell_toolbox::LogLevel;
use failwell_toolbox::{Completion, List};

#[derive(Debug)]
pub enum Call<'a> {
    Initialize(InitializeParams),
    Discover,
    Ping,
    SetLevel(LogLevel),
    /// A list such as `tools/list`, from a cursor.
    List(List, Option<String>),
    Tool(ToolCall<'a>),
    Read(ReadCall<'a>),
    Prompt(PromptCall<'a>),
    Complete(Completion),
    /// `resources/subscribe`
    Watch(String),
    /// `resources/unsubscribe`
    Unwatch(String),
    /// `subscriptions/listen`
    Listen(Filter),
    /// `tasks/get`
    TaskGet(String),
    /// `tasks/update`
    TaskUpdate(String, Object<'a>),
    /// `tasks/cancel`
    TaskCancel(String),
    /// A REST call that implements its own work.
    Extension(Box<dyn ExtensionCall>),
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
    /// The sealed state of earlier rounds, as the client returned it.
    pub(crate) fn state(&self) -> Option<&str> {
        match self {
            Call::Tool(ToolCall { rounds, .. })
            | Call::Read(ReadCall { rounds, .. })
            | Call::Prompt(PromptCall { rounds, .. }) => rounds.state.as_deref(),
            _ => None,
        }
    }

    /// Creates a tool call without question rounds.
    pub fn tool(name: String, arguments: Json) -> Call<'static> {
        Call::Tool(ToolCall { name, arguments, rounds: RoundParams::default() })
    }

    /// Creates a resource read without question rounds.
    pub fn read(uri: String) -> Call<'static> {
        Call::Read(ReadCall { uri, rounds: RoundParams::default() })
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
            Call::TaskGet(id) | Call::TaskUpdate(id, _) | Call::TaskCancel(id) => Some(id),
            Call::Extension(call) => call.target(),
            Call::Initialize(_)
            | Call::Discover
            | Call::Ping
            | Call::SetLevel(_)
            | Call::List(..)
            | Call::Listen(_) => None,
        }
    }

    /// The method of a call outside MCP, for records and guards.
    pub(crate) fn plain_method(&self) -> &'static str {
        match self {
            Call::Tool(_) => "execute_tool",
            Call::List(..) => "list_tools",
            Call::Read(_) => "read_resource",
            Call::Extension(call) => call.method(),
            _ => "",
        }
    }

    /// The JSON of a call outside MCP that guards inspect.
    pub(crate) fn content(&self) -> Result<Option<Cow<'_, str>>, Fault> {
        Ok(match self {
            Call::Tool(call) => Some(Cow::Borrowed(call.arguments.text())),
            Call::Read(call) => Some(Cow::Owned(failwell_rpc::json_string(&call.uri))),
            Call::Extension(call) => call.content()?,
            _ => None,
        })
    }

    /// Returns the same call with its redacted content.
    pub(crate) fn with_content(self, clean: Json) -> Result<Self, Fault> {
        let text = |clean: &Json| clean.raw().as_str().map(Cow::into_owned);
        Ok(match self {
            Call::Tool(call) => Call::Tool(ToolCall { arguments: clean, ..call }),
            Call::Read(call) => Call::Read(ReadCall { uri: text(&clean).unwrap_or(call.uri), ..call }),
            Call::Extension(call) => Call::Extension(call.with_content(clean)?),
            other => other,
        })
    }
}

/// The fault for an unsupported method.
pub(crate) fn unknown_method(method: &str) -> Fault {
    Fault::new(&reason::MCP_UNKNOWN_METHOD).fact("method", Echo::of_caller(method))
}
