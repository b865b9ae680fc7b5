//! A tool server made of declarations.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use failwell_fault::{Echo, Fault, OrFault, Reason, reason};
use failwell_render::{Cache, CacheScope};
use failwell_rpc::Caller;
use failwell_rpc::Json;
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::prompt::Prompt;
use crate::resource::{Address, Resource};
use crate::schema::nearest::nearest;
use crate::server::target::{CompletionTarget, Lookup, PromptTarget, ResourceTarget, ToolTarget};
use crate::server::{
    Completion, Info, List, Members, Page, ServerFeatures, Support, ToolServer, refuse, unknown_resource,
};
use crate::tool::{HeaderParam, Tool, Work};
use crate::tool_outcome::ToolOutcome;

/// Items per page.
const PAGE: usize = 100;
/// Declarations are static, but a new version of the server may start at any time.
const KEEP: Cache = Cache { ttl_ms: 60_000, scope: CacheScope::Public };

type Completer = Arc<dyn Fn(&str) -> Vec<String> + Send + Sync>;

/// A tool server made of declarations.
pub struct Toolbox {
    info: Info,
    tools: Vec<Arc<ServedTool>>,
    by_name: HashMap<&'static str, Arc<ServedTool>>,
    prompts: Vec<Arc<Prompt>>,
    resources: Vec<Arc<Resource>>,
    completers: Arc<HashMap<(String, String), Completer>>,
    reasons: Vec<&'static Reason>,
}

/// A tool with the header parameters that the pipeline reads on every call.
struct ServedTool {
    tool: Tool,
    header_params: Vec<HeaderParam>,
}

/// A resource at the requested URI.
struct ServedResource {
    resource: Arc<Resource>,
    address: Address,
}

/// The target of a known prompt or template, whether or not it has completers.
struct Completers(Arc<HashMap<(String, String), Completer>>);

impl Toolbox {
    /// Creates a toolbox without tools, prompts and resources.
    pub fn new(info: Info) -> Toolbox {
        Toolbox {
            info,
            tools: Vec::new(),
            by_name: HashMap::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            completers: Arc::default(),
            reasons: Vec::new(),
        }
    }

    /// Adds the reasons of its tools' faults, declared with `reasons!`. They are counted and documented like
    /// the core reasons.
    #[must_use]
    pub fn reasons(mut self, reasons: &[&'static Reason]) -> Toolbox {
        self.reasons.extend(reasons);
        self
    }

    /// The reasons of its tools' faults.
    pub fn own_reasons(&self) -> &[&'static Reason] {
        &self.reasons
    }

    /// Adds a tool. Its name must be new: [`ToolServer::check`] fails for a second tool, prompt or resource of one name.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Toolbox {
        let tool = Arc::new(ServedTool { header_params: tool.header_params(), tool });
        self.by_name.insert(tool.tool.name, tool.clone());
        self.tools.push(tool);
        self
    }

    /// Adds a prompt.
    #[must_use]
    pub fn prompt(mut self, prompt: Prompt) -> Toolbox {
        self.prompts.push(Arc::new(prompt));
        self
    }

    /// Adds a resource or a template.
    #[must_use]
    pub fn resource(mut self, resource: Resource) -> Toolbox {
        self.resources.push(Arc::new(resource));
        self
    }

    /// Adds completion for an argument of a prompt or a variable of a template.
    #[must_use]
    pub fn completer<F>(mut self, of: &str, argument: &str, complete: F) -> Toolbox
    where
        F: Fn(&str) -> Vec<String> + Send + Sync + 'static,
    {
        let completers = Arc::make_mut(&mut self.completers);
        completers.insert((of.to_owned(), argument.to_owned()), Arc::new(complete));
        self
    }

    fn match_resource(&self, uri: &str) -> Option<ServedResource> {
        self.resources.iter().find_map(|resource| {
            Some(ServedResource { address: resource.matches(uri)?, resource: resource.clone() })
        })
    }

    fn definitions(&self, list: List) -> Vec<Value> {
        match list {
            List::Tools => self.tools.iter().map(|served| served.tool.definition()).collect(),
            List::Prompts => self.prompts.iter().map(|prompt| prompt.definition()).collect(),
            List::Resources => {
                self.resources.iter().filter(|r| !r.is_template()).map(|r| r.definition()).collect()
            }
            List::Templates => {
                self.resources.iter().filter(|r| r.is_template()).map(|r| r.definition()).collect()
            }
        }
    }

    fn page(&self, list: List, cursor: Option<&str>) -> Result<Page, Fault> {
        let start = cursor.map_or(Ok(0), |cursor| read_cursor(list, cursor))?;
        let all = self.definitions(list);
        if start > all.len() {
            return Err(Fault::new(&reason::MCP_BAD_CURSOR));
        }
        let mut members = Map::new();
        let items: Vec<Value> = all.iter().skip(start).take(PAGE).cloned().collect();
        members.insert(list.member().to_owned(), Value::Array(items));
        if start + PAGE < all.len() {
            members.insert("nextCursor".to_owned(), json!(write_cursor(list, start + PAGE)));
        }
        Ok(Page { members: Json::of(&members).or_fault(&reason::SERVER_BUG)?, meta: None, cache: KEEP })
    }
}

/// The maximum number of values per completion response, set by the MCP specification.
const MOST_COMPLETIONS: usize = 100;

fn completed(mut values: Vec<String>) -> Result<Members, Fault> {
    let total = values.len();
    values.truncate(MOST_COMPLETIONS);
    Members::of(
        &json!({"completion": {"values": values, "total": total, "hasMore": total > MOST_COMPLETIONS}}),
    )
}

/// A cursor is valid for one list only.
fn write_cursor(list: List, start: usize) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}:{start}", list.member()))
}

fn read_cursor(list: List, cursor: &str) -> Result<usize, Fault> {
    let refused = || Fault::new(&reason::MCP_BAD_CURSOR);
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| refused())?;
    let text = String::from_utf8(bytes).map_err(|_| refused())?;
    let (of, start) = text.split_once(':').ok_or_else(refused)?;
    if of != list.member() {
        return Err(refused());
    }
    start.parse().map_err(|_| refused())
}

impl ToolServer for Toolbox {
    fn info(&self) -> &Info {
        &self.info
    }

    fn offers(&self) -> ServerFeatures {
        let offered = |empty: bool| if empty { Support::No } else { Support::Yes };
        ServerFeatures {
            tools: offered(self.tools.is_empty()),
            prompts: offered(self.prompts.is_empty()),
            resources: offered(self.resources.is_empty()),
            completions: offered(self.completers.is_empty()),
            tasks: Support::Yes,
        }
    }

    /// Fails if two tools, prompts or resources have one name: callers could reach only one of them.
    fn check(&self) -> Result<(), Fault> {
        let tools = self.tools.iter().map(|served| ("tool", served.tool.name));
        let prompts = self.prompts.iter().map(|prompt| ("prompt", prompt.name));
        let resources = self.resources.iter().map(|resource| ("resource", resource.uri));
        let mut names = HashSet::new();
        match tools.chain(prompts).chain(resources).find(|name| !names.insert(*name)) {
            Some((item, name)) => {
                let twice = format!("{} has two {item}s with the name {name}", self.info.name);
                Err(Fault::new(&reason::SERVER_BUG).note("toolbox", twice))
            }
            None => Ok(()),
        }
    }

    fn list(&self, list: List, cursor: Option<String>, _cx: Context) -> Work<Page> {
        Box::pin(std::future::ready(self.page(list, cursor.as_deref())))
    }

    fn find_tool(&self, name: &str, _caller: &Caller) -> Lookup<dyn ToolTarget> {
        match self.by_name.get(name) {
            Some(tool) => Lookup::Found(tool.clone()),
            None => Lookup::refused(
                Fault::new(&reason::MCP_UNKNOWN_TOOL)
                    .fact("name", Echo::of_caller(name))
                    .nearest(nearest(name, self.tools.iter().map(|known| known.tool.name))),
            ),
        }
    }

    fn find_resource(&self, uri: &str, _caller: &Caller) -> Lookup<dyn ResourceTarget> {
        match self.match_resource(uri) {
            Some(resource) => Lookup::Found(Arc::new(resource)),
            None => Lookup::refused(unknown_resource(uri)),
        }
    }

    fn find_prompt(&self, name: &str, _caller: &Caller) -> Lookup<dyn PromptTarget> {
        match self.prompts.iter().find(|prompt| prompt.name == name) {
            Some(prompt) => Lookup::Found(prompt.clone()),
            None => Lookup::refused(
                Fault::new(&reason::MCP_UNKNOWN_PROMPT)
                    .fact("name", Echo::of_caller(name))
                    .nearest(nearest(name, self.prompts.iter().map(|known| known.name))),
            ),
        }
    }

    fn find_completion(&self, of: &str, _caller: &Caller) -> Lookup<dyn CompletionTarget> {
        let known = self.prompts.iter().any(|prompt| prompt.name == of)
            || self.resources.iter().any(|resource| resource.uri == of);
        match known {
            true => Lookup::Found(Arc::new(Completers(self.completers.clone()))),
            false => {
                Lookup::refused(Fault::new(&reason::MCP_UNKNOWN_PROMPT).fact("name", Echo::of_caller(of)))
            }
        }
    }
}

impl ToolTarget for ServedTool {
    fn name(&self) -> &str {
        self.tool.name
    }

    fn header_params(&self) -> &[HeaderParam] {
        &self.header_params
    }

    fn call(self: Arc<Self>, arguments: Json, cx: Context) -> Work<ToolOutcome> {
        match arguments.raw().to_tree().or_fault(&reason::SERVER_BUG) {
            Ok(arguments) => self.tool.call(arguments, cx),
            Err(fault) => refuse(fault),
        }
    }
}

impl PromptTarget for Prompt {
    fn fill(self: Arc<Self>, arguments: BTreeMap<String, String>, cx: Context) -> Work<Members> {
        let filling = self.get(arguments, cx);
        Box::pin(async move { Members::of(&filling.await?) })
    }
}

impl ResourceTarget for ServedResource {
    fn read(self: Arc<Self>, cx: Context) -> Work<Members> {
        let reading = self.resource.read(self.address.clone(), cx);
        Box::pin(async move { Members::of(&json!({"contents": reading.await?})) })
    }
}

impl CompletionTarget for Completers {
    fn complete(self: Arc<Self>, wanted: Completion, _cx: Context) -> Work<Members> {
        let completer = self.0.get(&(wanted.of, wanted.argument));
        let values = completer.map(|complete| complete(&wanted.value)).unwrap_or_default();
        Box::pin(std::future::ready(completed(values)))
    }
}
