//! A tool server made of declarations.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use failwell_fault::{Echo, Fault, OrFault, reason};
use failwell_policy::Caller;
use failwell_render::{Cache, CacheScope};
use failwell_rpc::Json;
use serde_json::{Map, Value, json};

use crate::content::ToolOutcome;
use crate::context::Context;
use crate::near::nearest;
use crate::prompt::Prompt;
use crate::resource::Resource;
use crate::room::{Completion, Info, List, Members, Offered, Offers, Page, Room, refuse, unknown_resource};
use crate::tool::{HeaderParam, Tool, Work};

/// Items on one page.
const PAGE: usize = 100;
/// What was declared does not change, but a new version may be started any time.
const KEEP: Cache = Cache { ttl_ms: 60_000, scope: CacheScope::Public };

type Completer = Arc<dyn Fn(&str) -> Vec<String> + Send + Sync>;

/// A tool server made of declarations.
pub struct Toolbox {
    info: Info,
    tools: Vec<Tool>,
    by_name: HashMap<&'static str, usize>,
    headers: HashMap<&'static str, Vec<HeaderParam>>,
    prompts: Vec<Prompt>,
    resources: Vec<Resource>,
    completers: HashMap<(String, String), Completer>,
}

impl Toolbox {
    /// An empty one.
    pub fn new(info: Info) -> Toolbox {
        Toolbox {
            info,
            tools: Vec::new(),
            by_name: HashMap::new(),
            headers: HashMap::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            completers: HashMap::new(),
        }
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Toolbox {
        self.by_name.insert(tool.name, self.tools.len());
        let headers = tool.header_params();
        if !headers.is_empty() {
            self.headers.insert(tool.name, headers);
        }
        self.tools.push(tool);
        self
    }

    /// Adds a prompt.
    #[must_use]
    pub fn prompt(mut self, prompt: Prompt) -> Toolbox {
        self.prompts.push(prompt);
        self
    }

    /// Adds a resource or a template.
    #[must_use]
    pub fn resource(mut self, resource: Resource) -> Toolbox {
        self.resources.push(resource);
        self
    }

    /// Adds completion for an argument of a prompt or a place in a template.
    #[must_use]
    pub fn completer<F>(mut self, of: &str, argument: &str, complete: F) -> Toolbox
    where
        F: Fn(&str) -> Vec<String> + Send + Sync + 'static,
    {
        self.completers.insert((of.to_owned(), argument.to_owned()), Arc::new(complete));
        self
    }

    fn find_resource(&self, uri: &str) -> Option<(&Resource, crate::resource::Address)> {
        self.resources.iter().find_map(|resource| Some((resource, resource.matches(uri)?)))
    }

    fn definitions(&self, list: List) -> Vec<Value> {
        match list {
            List::Tools => self.tools.iter().map(Tool::definition).collect(),
            List::Prompts => self.prompts.iter().map(Prompt::definition).collect(),
            List::Resources => {
                self.resources.iter().filter(|r| !r.is_template()).map(Resource::definition).collect()
            }
            List::Templates => {
                self.resources.iter().filter(|r| r.is_template()).map(Resource::definition).collect()
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

/// Most values one completion answers with, by the specification.
const MOST_COMPLETIONS: usize = 100;

fn completed(mut values: Vec<String>) -> Result<Members, Fault> {
    let total = values.len();
    values.truncate(MOST_COMPLETIONS);
    Members::of(
        &json!({"completion": {"values": values, "total": total, "hasMore": total > MOST_COMPLETIONS}}),
    )
}

/// A cursor belongs to one list; anything else is refused.
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

impl Room for Toolbox {
    fn info(&self) -> &Info {
        &self.info
    }

    fn offers(&self) -> Offers {
        let offered = |empty: bool| if empty { Offered::No } else { Offered::Yes };
        Offers {
            tools: offered(self.tools.is_empty()),
            prompts: offered(self.prompts.is_empty()),
            resources: offered(self.resources.is_empty()),
            completions: offered(self.completers.is_empty()),
            tasks: Offered::Yes,
        }
    }

    fn list(&self, list: List, cursor: Option<String>, _cx: Context) -> Work<Page> {
        Box::pin(std::future::ready(self.page(list, cursor.as_deref())))
    }

    fn header_params(&self, tool: &str, _: &Caller) -> Vec<HeaderParam> {
        self.headers.get(tool).cloned().unwrap_or_default()
    }

    fn call(&self, tool: &str, arguments: Json, cx: Context) -> Work<ToolOutcome> {
        match self.by_name.get(tool).and_then(|index| self.tools.get(*index)) {
            Some(tool) => match arguments.raw().parse().or_fault(&reason::SERVER_BUG) {
                Ok(arguments) => tool.call(arguments, cx),
                Err(fault) => refuse(fault),
            },
            None => refuse(
                Fault::new(&reason::MCP_UNKNOWN_TOOL)
                    .fact("name", Echo::of_caller(tool))
                    .nearest(nearest(tool, self.tools.iter().map(|known| known.name))),
            ),
        }
    }

    fn read(&self, uri: &str, cx: Context) -> Work<Members> {
        match self.find_resource(uri) {
            Some((resource, address)) => {
                let reading = resource.read(address, cx);
                Box::pin(async move { Members::of(&json!({"contents": reading.await?})) })
            }
            None => refuse(unknown_resource(uri)),
        }
    }

    fn watch(&self, uri: &str, _cx: Context) -> Work<()> {
        let known = self.find_resource(uri).map(|_| ()).ok_or_else(|| unknown_resource(uri));
        Box::pin(std::future::ready(known))
    }

    fn prompt(&self, name: &str, arguments: BTreeMap<String, String>, cx: Context) -> Work<Members> {
        match self.prompts.iter().find(|prompt| prompt.name == name) {
            Some(prompt) => {
                let filling = prompt.get(arguments, cx);
                Box::pin(async move { Members::of(&filling.await?) })
            }
            None => refuse(
                Fault::new(&reason::MCP_UNKNOWN_PROMPT)
                    .fact("name", Echo::of_caller(name))
                    .nearest(nearest(name, self.prompts.iter().map(|known| known.name))),
            ),
        }
    }

    fn complete(&self, wanted: Completion, _cx: Context) -> Work<Members> {
        let known = self.prompts.iter().any(|p| p.name == wanted.of)
            || self.resources.iter().any(|r| r.uri == wanted.of);
        if !known {
            return refuse(Fault::new(&reason::MCP_UNKNOWN_PROMPT).fact("name", Echo::of_caller(&wanted.of)));
        }
        let completer = self.completers.get(&(wanted.of, wanted.argument));
        let values = completer.map(|complete| complete(&wanted.value)).unwrap_or_default();
        Box::pin(std::future::ready(completed(values)))
    }
}
