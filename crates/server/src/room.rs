//! The trait a tool server implements. `Toolbox` implements it from declarations; a gateway implements it by
//! asking others.

use std::collections::BTreeMap;

use failwell_fault::{Fault, OrFault, reason};
use failwell_policy::Caller;
use failwell_render::Cache;
use failwell_rpc::{Fields, Json};
use serde::Serialize;

use crate::content::ToolOutcome;
use crate::context::Context;
use crate::guidance::Guidance;
use crate::numbers::Numbers;
use crate::tool::{HeaderParam, Work};

/// Who a server is.
#[derive(Debug, Clone)]
pub struct Info {
    /// A name for programs.
    pub name: &'static str,
    /// A name for people.
    pub title: &'static str,
    /// Its version.
    pub version: &'static str,
    /// How a model should use it.
    pub instructions: &'static str,
}

/// What a server offers. What it does not offer is an unknown method.
#[derive(Debug, Clone, Copy, Default)]
pub struct Offers {
    /// Tools.
    pub tools: Offered,
    /// Prompts.
    pub prompts: Offered,
    /// Resources.
    pub resources: Offered,
    /// Completion.
    pub completions: Offered,
    /// Calls that go on as tasks, where the era has them.
    pub tasks: Offered,
}

/// Whether something is offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Offered {
    /// It is there.
    Yes,
    /// It is not.
    #[default]
    No,
}

/// Which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// `tools/list`
    Tools,
    /// `prompts/list`
    Prompts,
    /// `resources/list`
    Resources,
    /// `resources/templates/list`
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
    /// The result object's members: the items, and `nextCursor` when there are more.
    pub members: Json,
    /// The members of its `_meta`, if there are any.
    pub meta: Option<Json>,
    /// How long it may be kept.
    pub cache: Cache,
}

/// The members of a result object, with those of its `_meta` apart: the walk may have some to add.
#[derive(Debug)]
pub struct Members {
    /// All members but `_meta`.
    pub members: Fields,
    /// The members of `_meta`, if there are any.
    pub meta: Option<Json>,
    /// How long it may be kept, where whoever made it says so.
    pub cache: Option<Cache>,
}

impl Members {
    /// The members of a value that serializes as an object without `_meta`.
    pub fn of(value: &impl Serialize) -> Result<Members, Fault> {
        let members = Json::of(value).or_fault(&reason::SERVER_BUG)?.into();
        Ok(Members { members, meta: None, cache: None })
    }
}

/// What a client wants completed.
#[derive(Debug, Clone)]
pub struct Completion {
    /// The prompt's name or the template's URI.
    pub of: String,
    /// Which argument.
    pub argument: String,
    /// What is typed so far.
    pub value: String,
}

/// A tool server.
pub trait Room: Send + Sync + 'static {
    /// Who it is.
    fn info(&self) -> &Info;
    /// What it offers.
    fn offers(&self) -> Offers;
    /// Finds out what it offers before a client is told. Nothing to do for those who know.
    fn settle(&self, _cx: Context) -> Work<()> {
        Box::pin(std::future::ready(Ok(())))
    }
    /// How a model should use it: its own words, and those of whoever stands behind it.
    fn guidance(&self, _cx: Context) -> Work<Guidance> {
        let own = self.info().instructions;
        Box::pin(std::future::ready(Ok(Guidance { own, ..Guidance::default() })))
    }
    /// One page of a list.
    fn list(&self, list: List, cursor: Option<String>, cx: Context) -> Work<Page>;
    /// Parameters of a tool that must be repeated in HTTP headers.
    fn header_params(&self, tool: &str, caller: &Caller) -> Vec<HeaderParam>;
    /// Writes numbers of its own beside those of the house.
    fn metrics(&self, _out: &mut Numbers) {}
    /// Runs a tool.
    fn call(&self, tool: &str, arguments: Json, cx: Context) -> Work<ToolOutcome>;
    /// Reads a resource: the members of the result.
    fn read(&self, uri: &str, cx: Context) -> Work<Members>;
    /// Whether a resource can be watched; refuses unknown ones.
    fn watch(&self, uri: &str, cx: Context) -> Work<()>;
    /// A resource is watched no more by this client. Nobody waits for it.
    fn unwatch(&self, _uri: &str, _cx: Context) {}
    /// The roots of a client are others now. Nobody waits for it; `cx` belongs to no request, and its client can be asked
    /// as long as its session lasts.
    fn roots_changed(&self, _cx: Context) {}
    /// Fills in a prompt: the members of the result.
    fn prompt(&self, name: &str, arguments: BTreeMap<String, String>, cx: Context) -> Work<Members>;
    /// Completes an argument: the members of the result.
    fn complete(&self, wanted: Completion, cx: Context) -> Work<Members>;
    /// Which server behind this one a name belongs to, where there are several.
    fn behind(&self, _target: &str) -> Option<Box<str>> {
        None
    }
    /// Whether others stand behind this one, under names of their own.
    fn has_others(&self) -> bool {
        false
    }
    /// The server a tool belongs to, and what that server calls it; `None` where that cannot be told.
    fn own_tool(&self, tool: &str, _caller: &Caller) -> Option<(Box<str>, Box<str>)> {
        Some((self.info().name.into(), tool.into()))
    }
}

/// Work that is over before it starts.
pub(crate) fn refuse<T: Send + 'static>(fault: Fault) -> Work<T> {
    Box::pin(std::future::ready(Err(fault)))
}

/// The answer for a name nobody has, hidden ones included: always these very bytes.
pub fn unknown_resource(uri: &str) -> Fault {
    Fault::new(&reason::MCP_UNKNOWN_RESOURCE).fact("uri", failwell_fault::Echo::of_caller(uri))
}
