use failwell_fault::Fault;
use failwell_rpc::{Era, Fields, Json, Raw, ReplyTo, Revision, meta};

use crate::moment::Moment;
use crate::public_fault::{for_the_model, write_fault};
use crate::write::{Writer, object};

/// The outcome of a request that did not fail with a fault.
#[derive(Debug)]
pub enum Outcome {
    /// An MCP result.
    Mcp {
        members: Fields,
        /// The `_meta` members of the result.
        meta: Option<Json>,
        /// The result type. Only the modern era has it.
        kind: ResultKind,
        /// The cache lifetime. Only the modern era has it.
        cache: Option<Cache>,
    },
    /// A failed tool with more content than its fault.
    ToolFailed(Box<ToolFailure>),
    /// A tool result with `isError`.
    ReportedFailure(Box<ReportedFailure>),
    /// Any JSON value, for plain JSON-RPC and REST.
    Value(Json),
}

/// A failed tool call with its content: the fault, the tool's structured object, and further blocks.
#[derive(Debug)]
pub struct ToolFailure {
    pub fault: Fault,
    /// The tool's structured content, as its contract defines it.
    pub structured: Option<Json>,
    /// Content blocks after the fault's own text: fenced output, links.
    pub blocks: Vec<Json>,
}

/// A tool result with `isError`. MCP forwards it unchanged; REST and `/rpc` respond with the fault and
/// include the result.
#[derive(Debug)]
pub struct ReportedFailure {
    /// The fault for other dialects than MCP and for the record.
    pub fault: Fault,
    pub members: Fields,
    /// The `_meta` members of the result.
    pub meta: Option<Json>,
    /// The cache lifetime. Only the modern era has it.
    pub cache: Option<Cache>,
}

impl ToolFailure {
    /// The tool's content and structured content as one object. `None` if it has neither.
    pub(crate) fn shown(&self) -> Option<String> {
        if self.blocks.is_empty() && self.structured.is_none() {
            return None;
        }
        let blocks: Vec<&str> = self.blocks.iter().map(Json::text).collect();
        let content = format!("[{}]", blocks.join(","));
        Some(tool_result(&content, self.structured.as_ref().map(Json::text)))
    }
}

impl ReportedFailure {
    /// The tool's content and structured content as one object.
    pub(crate) fn shown(&self) -> String {
        let member = |name| self.members.get(name).map(Raw::text);
        tool_result(member("content").unwrap_or("[]"), member("structuredContent"))
    }
}

fn tool_result(content: &str, structured: Option<&str>) -> String {
    object(content.len() + structured.map_or(0, str::len), |out| {
        out.raw_member("content", content);
        if let Some(structured) = structured {
            out.raw_member("structuredContent", structured);
        }
    })
}

/// The modern era's `resultType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultKind {
    Complete,
    /// The client must send more input first.
    InputRequired,
    /// The call continues as a task.
    Task,
}

impl ResultKind {
    fn as_str(self) -> &'static str {
        match self {
            ResultKind::Complete => "complete",
            ResultKind::InputRequired => "input_required",
            ResultKind::Task => "task",
        }
    }
}

/// The cache lifetime and scope of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cache {
    pub ttl_ms: u64,
    pub scope: CacheScope,
}

/// The caches that may store a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheScope {
    /// Any cache.
    Public,
    /// Only the caller's own cache.
    Private,
}

impl CacheScope {
    fn as_str(self) -> &'static str {
        match self {
            CacheScope::Public => "public",
            CacheScope::Private => "private",
        }
    }
}

impl Outcome {
    /// A complete result with these members.
    pub fn complete(members: impl Into<Fields>) -> Outcome {
        Outcome::Mcp { members: members.into(), meta: None, kind: ResultKind::Complete, cache: None }
    }

    /// A complete result that can be cached.
    pub fn cached(members: impl Into<Fields>, cache: Cache) -> Outcome {
        Outcome::Mcp { members: members.into(), meta: None, kind: ResultKind::Complete, cache: Some(cache) }
    }
}

/// Writes the result object of an MCP response. `server_info` is the JSON that the modern era adds to every
/// result.
pub(crate) fn write_result(
    out: &mut Writer,
    outcome: &Outcome,
    to: &ReplyTo,
    revision: Revision,
    server_info: Option<&str>,
    now: Moment,
) {
    let info = server_info.filter(|_| revision.era() == Era::Modern);
    out.open(b'{');
    match outcome {
        Outcome::Mcp { members, meta, kind, cache } => {
            write_head(out, revision, *kind, *cache);
            write_members(out, members, meta.as_ref(), info);
        }
        Outcome::ReportedFailure(failure) => {
            write_head(out, revision, ResultKind::Complete, failure.cache);
            write_members(out, &failure.members, failure.meta.as_ref(), info);
        }
        Outcome::ToolFailed(failure) => write_failed(out, failure, to, revision, server_info, now),
        Outcome::Value(value) => {
            write_head(out, revision, ResultKind::Complete, None);
            out.members_of(value.text());
        }
    }
    out.close(b'}');
}

/// Writes the members that only the modern era has.
fn write_head(out: &mut Writer, revision: Revision, kind: ResultKind, cache: Option<Cache>) {
    if revision.era() != Era::Modern {
        return;
    }
    out.text_member("resultType", kind.as_str());
    if let Some(cache) = cache {
        out.number_member("ttlMs", cache.ttl_ms);
        out.text_member("cacheScope", cache.scope.as_str());
    }
}

fn write_members(out: &mut Writer, members: &Fields, meta: Option<&Json>, server_info: Option<&str>) {
    out.members(members.text());
    write_meta(out, server_info, |out| {
        if let Some(meta) = meta {
            out.members_of(meta.text());
        }
    });
}

fn write_failed(
    out: &mut Writer,
    failure: &ToolFailure,
    to: &ReplyTo,
    revision: Revision,
    server_info: Option<&str>,
    now: Moment,
) {
    let blocks = failure.blocks.iter().map(Json::text);
    let structured = failure.structured.as_ref().map(Json::text);
    write_tool_error(out, &failure.fault, structured, blocks, (to, revision, server_info, now));
}

/// Writes the members of an `isError` result.
pub(crate) fn write_tool_error<'a>(
    out: &mut Writer,
    fault: &Fault,
    structured: Option<&str>,
    blocks: impl Iterator<Item = &'a str>,
    (to, revision, server_info, now): (&ReplyTo, Revision, Option<&str>, Moment),
) {
    let modern = revision.era() == Era::Modern;
    if modern {
        out.text_member("resultType", ResultKind::Complete.as_str());
    }
    out.key("content");
    out.open(b'[');
    out.item();
    out.open(b'{');
    out.text_member("type", "text");
    out.text_member("text", &for_the_model(fault, to.reference));
    out.close(b'}');
    if let Some(excerpt) = fault.excerpt() {
        out.item();
        out.open(b'{');
        out.text_member("type", "text");
        out.text_member("text", &excerpt.fenced());
        out.close(b'}');
    }
    for block in blocks {
        out.item();
        out.raw(block);
    }
    out.close(b']');
    out.raw_member("isError", "true");
    if let Some(structured) = structured.filter(|_| revision.has_structured_content()) {
        out.raw_member("structuredContent", structured);
    }
    write_meta(out, server_info.filter(|_| modern), |out| {
        out.key(FAULT_META_KEY);
        write_fault(out, fault, to, now);
    });
}

/// The `_meta` key of the fault object in a tool result.
const FAULT_META_KEY: &str = "dev.failwell/fault";

/// Writes `_meta` unless it is empty.
fn write_meta(out: &mut Writer, server_info: Option<&str>, more: impl FnOnce(&mut Writer)) {
    out.object_member("_meta", |out| {
        if let Some(info) = server_info {
            out.raw_member(meta::SERVER_INFO, info);
        }
        more(out);
    });
}
