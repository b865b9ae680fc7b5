//! Stage `parse`: from a message to a typed call with a known method and well-formed params.

use std::collections::BTreeMap;

use failwell_fault::{Echo, Fault, Pointer, Rule, Violation, reason};
use failwell_rpc::{Era, Json, Object, Raw, Request, Revision};

use crate::request::call::{
    Call, InitializeParams, PromptCall, ReadCall, RoundParams, STATE, ServerCall, ToolCall, unknown_method,
};
use crate::session::listen::Filter;
use failwell_toolbox::LogLevel;
use failwell_toolbox::{Completion, List, ServerFeatures, Support};

impl<'a> Call<'a> {
    /// Parses an MCP request by its revision and by the server's features.
    pub(crate) fn of_mcp(
        request: &Request<'a>,
        revision: Revision,
        offers: ServerFeatures,
    ) -> Result<Call<'a>, Fault> {
        let modern = revision.era() == Era::Modern;
        let has = |offered: Support| offered == Support::Yes;
        let mut params = Params::of(request);
        let call = match &*request.method {
            "tools/list" if has(offers.tools) => list(List::Tools, &mut params),
            "tools/call" if has(offers.tools) => Call::Tool(ToolCall {
                name: params.text("name"),
                arguments: params.owned_object("arguments").unwrap_or_else(Json::empty_object),
                rounds: rounds(&mut params, revision),
            }),
            "prompts/list" if has(offers.prompts) => list(List::Prompts, &mut params),
            "prompts/get" if has(offers.prompts) => Call::Prompt(PromptCall {
                name: params.text("name"),
                arguments: params.texts("arguments"),
                rounds: rounds(&mut params, revision),
            }),
            "resources/list" if has(offers.resources) => list(List::Resources, &mut params),
            "resources/templates/list" if has(offers.resources) => list(List::Templates, &mut params),
            "resources/read" if has(offers.resources) => {
                Call::Read(ReadCall { uri: params.text("uri"), rounds: rounds(&mut params, revision) })
            }
            "resources/subscribe" if has(offers.resources) && !modern => Call::Watch(params.text("uri")),
            "resources/unsubscribe" if has(offers.resources) && !modern => Call::Unwatch(params.text("uri")),
            "completion/complete" if has(offers.completions) => Call::Complete(completion(&mut params)),
            _ => Call::Server(server_call(&mut params, revision, offers)?),
        };
        params.done(call)
    }

    /// Parses a plain JSON-RPC request: `list_tools`, `execute_tool`, `read_resource`, or any tool by name.
    pub(crate) fn of_rpc(request: &Request<'a>) -> Result<Call<'a>, Fault> {
        let mut params = Params::of(request);
        let call = match &*request.method {
            "list_tools" => Call::list(List::Tools),
            "read_resource" => Call::read(params.text("uri")),
            "execute_tool" => {
                let named = params.optional_text("name").or_else(|| params.optional_text("tool_name"));
                let arguments = params.json("arguments");
                params.done(())?;
                let name = named.ok_or_else(|| Fault::new(&reason::MCP_TOOL_NAME))?;
                return Ok(Call::tool(name, object(arguments)?));
            }
            tool => {
                let arguments = object(request.params.map(Raw::to_json))?;
                return Ok(Call::tool(tool.to_owned(), arguments));
            }
        };
        params.done(call)
    }
}

/// Arguments in a REST body: an object, or none.
fn object(arguments: Option<Json>) -> Result<Json, Fault> {
    match arguments {
        None => Ok(Json::empty_object()),
        Some(json) if json.raw().as_object().is_some() => Ok(json),
        Some(_) => Err(not_an_object()),
    }
}

/// The fault for arguments that are not an object, the same on `/rpc` and REST.
pub fn not_an_object() -> Fault {
    Fault::new(&reason::MCP_BAD_ARGUMENTS)
        .violation(Violation::new(Pointer::root(), Rule::Type).limit("object"))
}

/// Parses an MCP request that names no tool, prompt or resource.
fn server_call<'a>(
    params: &mut Params<'_, 'a>,
    revision: Revision,
    offers: ServerFeatures,
) -> Result<ServerCall<'a>, Fault> {
    let modern = revision.era() == Era::Modern;
    let has_tasks = modern && offers.tasks == Support::Yes;
    Ok(match &*params.request.method {
        "initialize" if !modern => ServerCall::Initialize(InitializeParams {
            version: params.text("protocolVersion"),
            capabilities: params.object("capabilities").and_then(|_| params.json("capabilities")),
        }),
        "ping" if !modern => ServerCall::Ping,
        "logging/setLevel" if !modern => ServerCall::SetLevel(read_level(params)?),
        "server/discover" if modern => ServerCall::Discover,
        "subscriptions/listen" if modern => ServerCall::Listen(Filter::read(params.object("notifications"))),
        "tasks/get" if has_tasks => ServerCall::TaskGet(params.text("taskId")),
        "tasks/cancel" if has_tasks => ServerCall::TaskCancel(params.text("taskId")),
        "tasks/update" if has_tasks => {
            let id = params.text("taskId");
            match params.object("inputResponses") {
                Some(responses) => ServerCall::TaskUpdate(id, responses),
                None => ServerCall::TaskGet(id),
            }
        }
        method => return Err(unknown_method(method)),
    })
}

fn list<'a>(list: List, params: &mut Params<'_, 'a>) -> Call<'a> {
    Call::Server(ServerCall::List(list, params.optional_text("cursor")))
}

fn read_level(params: &mut Params<'_, '_>) -> Result<LogLevel, Fault> {
    let level = params.text("level");
    // A level that is missing or not a string is reported with the other violations.
    if params.are_wrong() { Ok(LogLevel::Info) } else { LogLevel::parse(&level) }
}

fn rounds<'a>(params: &mut Params<'_, 'a>, revision: Revision) -> RoundParams<'a> {
    if revision.era() != Era::Modern {
        return RoundParams::default();
    }
    RoundParams { responses: params.optional_object("inputResponses"), state: params.optional_text(STATE) }
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

/// The params of one request, and the violations found so far. All violations are reported together.
struct Params<'r, 'a> {
    request: &'r Request<'a>,
    violations: Vec<Violation>,
}

impl<'r, 'a> Params<'r, 'a> {
    fn of(request: &'r Request<'a>) -> Params<'r, 'a> {
        let mut params = Params { request, violations: Vec::new() };
        if request.params.is_some_and(|raw| raw.as_object().is_none()) {
            params.wrong(Pointer::root(), Rule::Type, "object");
        }
        params
    }

    fn wrong(&mut self, place: Pointer, rule: Rule, limit: &'static str) {
        self.violations.push(Violation::new(place, rule).limit(limit));
    }

    fn missing(&mut self, name: &str) {
        self.violations.push(Violation::new(Pointer::root().then(name), Rule::Required));
    }

    /// Whether any violation was found.
    fn are_wrong(&self) -> bool {
        !self.violations.is_empty()
    }

    /// Reads a required string.
    fn text(&mut self, name: &str) -> String {
        match self.request.param(name) {
            None => self.missing(name),
            Some(raw) => match raw.as_str() {
                Some(text) => return text.into_owned(),
                None => self.wrong(Pointer::root().then(name), Rule::Type, "string"),
            },
        }
        String::new()
    }

    /// Reads an optional string.
    fn optional_text(&mut self, name: &str) -> Option<String> {
        self.request.param(name).map(|_| self.text(name))
    }

    /// Reads an optional object.
    fn optional_object(&mut self, name: &str) -> Option<Object<'a>> {
        let object = self.request.param(name)?.as_object();
        if object.is_none() {
            self.wrong(Pointer::root().then(name), Rule::Type, "object");
        }
        object
    }

    /// Reads a required object.
    fn object(&mut self, name: &str) -> Option<Object<'a>> {
        if self.request.param(name).is_none() {
            self.missing(name);
        }
        self.optional_object(name)
    }

    /// Reads an optional object of strings.
    fn texts(&mut self, name: &str) -> BTreeMap<String, String> {
        let mut texts = BTreeMap::new();
        for (key, raw) in self.optional_object(name).into_iter().flat_map(|object| object.iter()) {
            match raw.as_str() {
                Some(text) => {
                    texts.insert(key.into_owned(), text.into_owned());
                }
                None => self.wrong(Pointer::root().then(name).then(&key), Rule::Type, "string"),
            }
        }
        texts
    }

    /// Reads an optional object as an owned value.
    fn owned_object(&mut self, name: &str) -> Option<Json> {
        let given = self.request.param(name)?;
        self.optional_object(name).map(|_| self.request.keep(given))
    }

    /// Returns a member verbatim.
    fn json(&self, name: &str) -> Option<Json> {
        self.request.param(name).map(Raw::to_json)
    }

    /// Returns the value, or one fault with all violations.
    fn done<T>(self, value: T) -> Result<T, Fault> {
        if self.violations.is_empty() {
            return Ok(value);
        }
        let method = Echo::of_caller(&self.request.method);
        let fault = Fault::new(&reason::MCP_BAD_PARAMS).fact("method", method);
        Err(self.violations.into_iter().fold(fault, Fault::violation))
    }
}
