//! The trait of a tool server. `Toolbox` implements it from declarations; a gateway implements it by asking
//! upstream servers.

pub(crate) mod guidance;
pub(crate) mod metrics_text;
pub(crate) mod target;

use failwell_fault::{Fault, OrFault, reason};
use failwell_render::Cache;
use failwell_rpc::Caller;
use failwell_rpc::{Fields, Json};
use serde::Serialize;

use crate::context::Context;
use crate::server::guidance::Guidance;
use crate::server::metrics_text::MetricsText;
use crate::server::target::{CompletionTarget, Lookup, PromptTarget, ResourceTarget, ToolTarget};
use crate::tool::Work;

/// The identity of a server.
#[derive(Debug, Clone)]
pub struct Info {
    /// The machine-readable name.
    pub name: &'static str,
    /// The display name.
    pub title: &'static str,
    /// The version of the server.
    pub version: &'static str,
    /// Instructions for the model that uses the server.
    pub instructions: &'static str,
}

impl Info {
    /// Creates the identity of a server with this name and version, without instructions.
    pub const fn new(name: &'static str, version: &'static str) -> Info {
        Info { name, title: name, version, instructions: "" }
    }

    /// Sets the instructions for the model.
    #[must_use]
    pub const fn instructions(mut self, instructions: &'static str) -> Info {
        self.instructions = instructions;
        self
    }

    /// Sets the display name.
    #[must_use]
    pub const fn titled(mut self, title: &'static str) -> Info {
        self.title = title;
        self
    }
}

/// The features of a server. Methods of an unsupported feature are unknown methods.
#[derive(Debug, Clone, Copy, Default)]
pub struct ServerFeatures {
    /// Whether the server has tools.
    pub tools: Support,
    /// Whether the server has prompts.
    pub prompts: Support,
    /// Whether the server has resources.
    pub resources: Support,
    /// Whether the server completes arguments.
    pub completions: Support,
    /// Whether calls can become tasks, in revisions with tasks.
    pub tasks: Support,
}

/// Whether a feature is supported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Support {
    /// The feature is supported.
    Yes,
    /// The feature is not supported.
    #[default]
    No,
}

/// A list that clients can request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// The list of `tools/list`.
    Tools,
    /// The list of `prompts/list`.
    Prompts,
    /// The list of `resources/list`.
    Resources,
    /// The list of `resources/templates/list`.
    Templates,
}

impl List {
    /// The member of the result that holds the items.
    pub fn member(self) -> &'static str {
        match self {
            List::Tools => "tools",
            List::Prompts => "prompts",
            List::Resources => "resources",
            List::Templates => "resourceTemplates",
        }
    }
}

/// One page of a list.
#[derive(Debug)]
pub struct Page {
    /// The members of the result object: the items, and `nextCursor` if there is another page.
    pub members: Json,
    /// The members of `_meta`, if any.
    pub meta: Option<Json>,
    /// The cache lifetime and scope of the page.
    pub cache: Cache,
}

/// The members of a result object. Those of `_meta` are separate, because the pipeline may add to them.
#[derive(Debug)]
pub struct Members {
    /// All members except `_meta`.
    pub members: Fields,
    /// The members of `_meta`, if any.
    pub meta: Option<Json>,
    /// The cache lifetime and scope, if the result specifies them.
    pub cache: Option<Cache>,
}

impl Members {
    /// Creates the members from a value that serializes as an object without `_meta`.
    pub fn of(value: &impl Serialize) -> Result<Members, Fault> {
        let members = Json::of(value).or_fault(&reason::SERVER_BUG)?.into();
        Ok(Members { members, meta: None, cache: None })
    }
}

/// A completion request.
#[derive(Debug, Clone)]
pub struct Completion {
    /// The name of the prompt, or the URI of the template.
    pub of: String,
    /// The name of the argument.
    pub argument: String,
    /// The partial value that the user has typed.
    pub value: String,
}

/// A tool server. The pipeline resolves a name once per call, then uses the target.
pub trait ToolServer: Send + Sync + 'static {
    /// The identity of the server.
    fn info(&self) -> &Info;
    /// The features of the server.
    fn offers(&self) -> ServerFeatures;
    /// Fails if the server cannot be served. It is called once, before the server starts.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
    /// Determines the server's features before a client's handshake is answered. A server with static
    /// features has nothing to do.
    fn prepare(&self, _cx: Context) -> Work<()> {
        Box::pin(std::future::ready(Ok(())))
    }
    /// Instructions for the model: the server's own, and those of the servers behind it.
    fn guidance(&self, _cx: Context) -> Work<Guidance> {
        let own = self.info().instructions;
        Box::pin(std::future::ready(Ok(Guidance { own, ..Guidance::default() })))
    }
    /// Returns one page of a list.
    fn list(&self, list: List, cursor: Option<String>, cx: Context) -> Work<Page>;
    /// Looks up a tool by the name that this caller uses.
    fn find_tool(&self, name: &str, caller: &Caller) -> Lookup<dyn ToolTarget>;
    /// Looks up a prompt by the name that this caller uses.
    fn find_prompt(&self, name: &str, caller: &Caller) -> Lookup<dyn PromptTarget>;
    /// Looks up a resource. A resource can be readable without being listed.
    fn find_resource(&self, uri: &str, caller: &Caller) -> Lookup<dyn ResourceTarget>;
    /// Looks up a resource for a caller outside MCP. A malformed URI may be refused with its own fault.
    fn find_plain_resource(&self, uri: &str, caller: &Caller) -> Lookup<dyn ResourceTarget> {
        self.find_resource(uri, caller)
    }
    /// Looks up the completer of a prompt, or of a template by its URI.
    fn find_completion(&self, of: &str, caller: &Caller) -> Lookup<dyn CompletionTarget>;
    /// Handles a change of a client's roots, without blocking. `cx` belongs to no request. Its client can be
    /// asked until its session ends.
    fn roots_changed(&self, _cx: Context) {}
    /// Writes metrics of the server, in addition to those of the pipeline.
    fn metrics(&self, _out: &mut MetricsText) {}
    /// Whether this caller may know that the server exists.
    fn is_visible_to(&self, _caller: &Caller) -> bool {
        true
    }
    /// Whether this caller may know of a tool, by the name of its server and its own name.
    fn shows_tool(&self, _server: &str, _tool: &str, _caller: &Caller) -> bool {
        true
    }
    /// Whether the server federates the tools of several servers.
    fn is_federation(&self) -> bool {
        false
    }
}

/// Returns work that fails immediately.
pub(crate) fn refuse<T: Send + 'static>(fault: Fault) -> Work<T> {
    Box::pin(std::future::ready(Err(fault)))
}

/// The fault for an unknown resource. Hidden resources return exactly the same bytes.
pub fn unknown_resource(uri: &str) -> Fault {
    Fault::new(&reason::MCP_UNKNOWN_RESOURCE).fact("uri", failwell_fault::Echo::of_caller(uri))
}
