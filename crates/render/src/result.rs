use failwell_fault::Fault;
use failwell_rpc::{Era, Fields, Json, Raw, ReplyTo, Revision, meta};

use crate::moment::Moment;
use crate::object::write_fault;
use crate::text::for_the_model;
use crate::write::{Writer, object};

/// What a request came to, when it came to something.
#[derive(Debug)]
pub enum Outcome {
    /// A result of the MCP protocol.
    Mcp {
        /// The members of the result object.
        members: Fields,
        /// The result's own `_meta` members, if any.
        meta: Option<Json>,
        /// What sort of result it is, which only the modern era says.
        kind: ResultKind,
        /// How long it may be kept, which only the modern era says.
        cache: Option<Cache>,
    },
    /// A tool that failed but has more to say than its fault.
    ToolFailed(Box<ToolFailure>),
    /// A tool whose own result says that it failed.
    ReportedFailure(Box<ReportedFailure>),
    /// Any JSON value, for plain JSON-RPC and REST.
    Value(Json),
}

/// A failed tool call with what it had to show: the fault, its own structured object, and further blocks.
#[derive(Debug)]
pub struct ToolFailure {
    /// What went wrong.
    pub fault: Fault,
    /// The tool's own account, field for field as its contract says.
    pub structured: Option<Json>,
    /// Content blocks after the fault's own text: fenced output, links.
    pub blocks: Vec<Json>,
}

/// A tool's result with `isError`. MCP passes it on as it is; REST and `/rpc` answer with the fault and show the result.
#[derive(Debug)]
pub struct ReportedFailure {
    /// What callers without MCP are told, and what is recorded.
    pub fault: Fault,
    /// The members of the result object.
    pub members: Fields,
    /// The result's own `_meta` members, if any.
    pub meta: Option<Json>,
    /// How long it may be kept, which only the modern era says.
    pub cache: Option<Cache>,
}

impl ToolFailure {
    /// The tool's content and structured content, as one object; `None` if it has neither.
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
    /// The tool's own words, as one object.
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
    /// Done.
    Complete,
    /// The client must answer something first.
    InputRequired,
    /// It goes on in the background.
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

/// How long, and by whom, a result may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cache {
    /// Milliseconds.
    pub ttl_ms: u64,
    /// By whom.
    pub scope: CacheScope,
}

/// Whose cache may keep a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheScope {
    /// Anybody's.
    Public,
    /// Only the caller's own.
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
    /// A finished result with these members.
    pub fn complete(members: impl Into<Fields>) -> Outcome {
        Outcome::Mcp { members: members.into(), meta: None, kind: ResultKind::Complete, cache: None }
    }

    /// A finished result that may be kept.
    pub fn cached(members: impl Into<Fields>, cache: Cache) -> Outcome {
        Outcome::Mcp { members: members.into(), meta: None, kind: ResultKind::Complete, cache: Some(cache) }
    }
}

/// Writes the result object of an MCP answer. `server_info` is the JSON the modern era puts on every result.
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

/// The members that only the modern era has.
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

/// The members of an `isError` result.
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

/// Where a tool result carries its fault object.
const FAULT_META_KEY: &str = "dev.failwell/fault";

/// Writes `_meta` when there is anything to put into it.
fn write_meta(out: &mut Writer, server_info: Option<&str>, more: impl FnOnce(&mut Writer)) {
    out.object_member("_meta", |out| {
        if let Some(info) = server_info {
            out.raw_member(meta::SERVER_INFO, info);
        }
        more(out);
    });
}
