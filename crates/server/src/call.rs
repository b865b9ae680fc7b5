//! From a request to a typed call: the method is known, its params have the right shape.

use std::collections::BTreeMap;

use failwell_fault::{Echo, Fault, reason};
use failwell_rpc::{Asked, Era, Json, Object, Request, Revision};

use crate::listen::Filter;
use crate::log_level::LogLevel;
use crate::params::Params;
use crate::room::{Completion, List, Offered, Offers};

/// A request, typed.
#[derive(Debug)]
pub(crate) enum Call<'a> {
    Initialize { version: String, capabilities: Option<Json> },
    Discover,
    Ping,
    SetLevel(LogLevel),
    List(List, Option<String>),
    Tool(Invocation<'a>),
    Read { uri: String, rounds: RoundParams<'a> },
    Prompt { name: String, arguments: BTreeMap<String, String>, rounds: RoundParams<'a> },
    Complete(Completion),
    Watch(String),
    Unwatch(String),
    Listen(Filter),
    TaskGet(String),
    TaskUpdate(String, Object<'a>),
    TaskCancel(String),
}

/// A call of a tool.
#[derive(Debug)]
pub(crate) struct Invocation<'a> {
    pub(crate) name: String,
    pub(crate) arguments: Json,
    pub(crate) rounds: RoundParams<'a>,
}

/// What a modern client brings when it repeats a request.
#[derive(Debug, Default)]
pub(crate) struct RoundParams<'a> {
    pub(crate) responses: Option<Object<'a>>,
    pub(crate) state: Option<String>,
}

impl<'a> Call<'a> {
    /// Which sort of answer it waits for.
    pub(crate) fn asked(&self) -> Asked {
        if matches!(self, Call::Tool(_)) { Asked::Tool } else { Asked::Other }
    }

    /// The tool, resource, prompt or task it is about.
    pub(crate) fn target(&self) -> Option<&str> {
        match self {
            Call::Tool(invocation) => Some(&invocation.name),
            Call::Read { uri, .. } | Call::Watch(uri) | Call::Unwatch(uri) => Some(uri),
            Call::Prompt { name, .. } => Some(name),
            Call::Complete(wanted) => Some(&wanted.of),
            Call::TaskGet(id) | Call::TaskUpdate(id, _) | Call::TaskCancel(id) => Some(id),
            Call::Initialize { .. }
            | Call::Discover
            | Call::Ping
            | Call::SetLevel(_)
            | Call::List(..)
            | Call::Listen(_) => None,
        }
    }

    /// Types a request by the revision it was sent in and by what the server offers.
    pub(crate) fn read(request: &Request<'a>, revision: Revision, offers: Offers) -> Result<Call<'a>, Fault> {
        let modern = revision.era() == Era::Modern;
        let has = |offered: Offered| offered == Offered::Yes;
        let mut params = Params::of(request);
        let call = match &*request.method {
            "initialize" if !modern => Call::Initialize {
                version: params.text("protocolVersion"),
                capabilities: params.object("capabilities").and_then(|_| params.json("capabilities")),
            },
            "ping" if !modern => Call::Ping,
            "logging/setLevel" if !modern => Call::SetLevel(read_level(&mut params)?),
            "server/discover" if modern => Call::Discover,
            "tools/list" if has(offers.tools) => list(List::Tools, &mut params),
            "tools/call" if has(offers.tools) => Call::Tool(invocation(&mut params, modern)),
            "prompts/list" if has(offers.prompts) => list(List::Prompts, &mut params),
            "prompts/get" if has(offers.prompts) => Call::Prompt {
                name: params.text("name"),
                arguments: params.texts("arguments"),
                rounds: rounds(&mut params, modern),
            },
            "resources/list" if has(offers.resources) => list(List::Resources, &mut params),
            "resources/templates/list" if has(offers.resources) => list(List::Templates, &mut params),
            "resources/read" if has(offers.resources) => {
                Call::Read { uri: params.text("uri"), rounds: rounds(&mut params, modern) }
            }
            "resources/subscribe" if has(offers.resources) && !modern => Call::Watch(params.text("uri")),
            "resources/unsubscribe" if has(offers.resources) && !modern => Call::Unwatch(params.text("uri")),
            "completion/complete" if has(offers.completions) => Call::Complete(completion(&mut params)),
            "subscriptions/listen" if modern => Call::Listen(Filter::read(params.object("notifications"))),
            "tasks/get" if modern && has(offers.tasks) => Call::TaskGet(params.text("taskId")),
            "tasks/cancel" if modern && has(offers.tasks) => Call::TaskCancel(params.text("taskId")),
            "tasks/update" if modern && has(offers.tasks) => {
                let id = params.text("taskId");
                match params.object("inputResponses") {
                    Some(responses) => Call::TaskUpdate(id, responses),
                    None => Call::TaskGet(id),
                }
            }
            _ => return Err(unknown_method(&request.method)),
        };
        params.done(call)
    }
}

/// The answer for a method nobody has.
pub(crate) fn unknown_method(method: &str) -> Fault {
    Fault::new(&reason::MCP_UNKNOWN_METHOD).fact("method", Echo::of_caller(method))
}

fn list<'a>(list: List, params: &mut Params<'_, 'a>) -> Call<'a> {
    Call::List(list, params.optional_text("cursor"))
}

fn read_level(params: &mut Params<'_, '_>) -> Result<LogLevel, Fault> {
    let level = params.text("level");
    // One that is missing or no text is told with the rest of what is wrong.
    if params.are_wrong() { Ok(LogLevel::Info) } else { LogLevel::parse(&level) }
}

fn invocation<'a>(params: &mut Params<'_, 'a>, modern: bool) -> Invocation<'a> {
    let name = params.text("name");
    let arguments = params.kept_object("arguments").unwrap_or_else(Json::empty_object);
    Invocation { name, arguments, rounds: rounds(params, modern) }
}

fn rounds<'a>(params: &mut Params<'_, 'a>, modern: bool) -> RoundParams<'a> {
    if !modern {
        return RoundParams::default();
    }
    RoundParams {
        responses: params.optional_object("inputResponses"),
        state: params.optional_text("requestState"),
    }
}

fn completion(params: &mut Params<'_, '_>) -> Completion {
    let field = |object: Option<Object<'_>>, name: &str| {
        object.and_then(|o| o.get(name)).and_then(|raw| raw.as_str()).map(|text| text.into_owned())
    };
    let (of, argument) = (params.object("ref"), params.object("argument"));
    let named = field(of, "name").or_else(|| field(of, "uri"));
    Completion {
        of: named.unwrap_or_default(),
        argument: field(argument, "name").unwrap_or_default(),
        value: field(argument, "value").unwrap_or_default(),
    }
}
