use failwell_fault::{Condition, Fact, Fault, Retry};
use failwell_rpc::write::keep_on_one_line;
use failwell_rpc::{Dialect, Era, ExpectedReply, ExpectedResult, Fields, Json, ReplyTo, RestStyle, Revision};

use crate::codes::{answer, shown_to_the_model, tool_error as tool_error_code};
use crate::moment::Moment;
use crate::public_fault::{sentence, write_fault};
use crate::result::{Outcome, write_result, write_tool_error};
use crate::write::{Writer, object};

/// A rendered response with its HTTP metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status. Stdio does not use it.
    pub status: u16,
    pub content_type: &'static str,
    /// Headers other than the content type.
    pub headers: Vec<(&'static str, String)>,
    /// One JSON document without line breaks.
    pub body: Vec<u8>,
}

const JSON: &str = "application/json";
const PROBLEM: &str = "application/problem+json";

/// Renders the one response, or `None` for silence. `server_info` is the JSON object that the modern era adds
/// to results.
pub fn render(
    to: &ReplyTo,
    happened: &Result<Outcome, Fault>,
    server_info: Option<&str>,
    now: Moment,
) -> Option<Reply> {
    if to.wants == ExpectedReply::Silence {
        return None;
    }
    let as_error = to.asked == ExpectedResult::ToolOrError;
    match (to.dialect, happened) {
        (Dialect::Mcp(_), Err(fault)) if fault.reason().condition == Condition::Cancelled => None,
        (Dialect::Mcp(revision), Err(fault))
            if to.asked == ExpectedResult::Tool && shown_to_the_model(fault.reason()) =>
        {
            Some(tool_error(to, fault, revision, server_info, now))
        }
        (Dialect::Mcp(_), Err(fault)) if as_error && shown_to_the_model(fault.reason()) => {
            Some(plain_tool_error(to, fault, &account(to, fault, now)))
        }
        (Dialect::Mcp(_), Ok(Outcome::ToolFailed(failed))) if as_error => {
            let account = with_own_data(account(to, &failed.fault, now), failed.structured.as_ref());
            Some(plain_tool_error(to, &failed.fault, &account))
        }
        (_, Err(fault)) => Some(failure(to, fault, &account(to, fault, now))),
        (Dialect::Rest(_) | Dialect::Rpc, Ok(Outcome::ToolFailed(failed))) => {
            let account = with_own_data(account(to, &failed.fault, now), failed.structured.as_ref());
            Some(failure(to, &failed.fault, &with_result(account, failed.shown().as_deref())))
        }
        (Dialect::Rest(_) | Dialect::Rpc, Ok(Outcome::ReportedFailure(failed))) => {
            let account = with_result(account(to, &failed.fault, now), Some(&failed.shown()));
            Some(failure(to, &failed.fault, &account))
        }
        (_, Ok(outcome)) => Some(success(to, outcome, server_info, now)),
    }
}

fn success(to: &ReplyTo, outcome: &Outcome, server_info: Option<&str>, now: Moment) -> Reply {
    let mut body = match to.dialect {
        Dialect::Rest(_) => plain(outcome).text().as_bytes().to_vec(),
        Dialect::Rpc => {
            let plain = plain(outcome);
            envelope(to, plain.text().len(), |out| out.raw_member("result", plain.text()))
        }
        Dialect::Mcp(revision) => envelope(to, capacity(outcome), |out| {
            out.key("result");
            write_result(out, outcome, to, revision, server_info, now);
        }),
    };
    // An upstream may send a result with line breaks, but stdio frames by line.
    keep_on_one_line(&mut body);
    Reply { status: 200, content_type: JSON, headers: Vec::new(), body }
}

/// The outcome as a plain value.
fn plain(outcome: &Outcome) -> Json {
    match outcome {
        Outcome::Value(value) => value.clone(),
        Outcome::Mcp { members, .. } => members.to_json(),
        Outcome::ToolFailed(_) | Outcome::ReportedFailure(_) => Json::from(&serde_json::Value::Null),
    }
}

/// An estimate of the body size, so that one allocation is enough.
fn capacity(outcome: &Outcome) -> usize {
    match outcome {
        Outcome::Value(value) => value.text().len(),
        Outcome::Mcp { members, meta, .. } => result_capacity(members, meta.as_ref()),
        Outcome::ReportedFailure(failed) => result_capacity(&failed.members, failed.meta.as_ref()),
        Outcome::ToolFailed(_) => 1_024,
    }
}

fn result_capacity(members: &Fields, meta: Option<&Json>) -> usize {
    members.text().len() + meta.map_or(0, |meta| meta.text().len()) + 256
}

fn tool_error(
    to: &ReplyTo,
    fault: &Fault,
    revision: Revision,
    server_info: Option<&str>,
    now: Moment,
) -> Reply {
    let body = envelope(to, 1024, |out| {
        out.key("result");
        out.open(b'{');
        write_tool_error(out, fault, None, std::iter::empty(), (to, revision, server_info, now));
        out.close(b'}');
    });
    Reply { status: 200, content_type: JSON, headers: Vec::new(), body }
}

/// A failed tool as a JSON-RPC error: the tool's own data, then the members of the fault.
fn plain_tool_error(to: &ReplyTo, fault: &Fault, account: &str) -> Reply {
    let body = error_body(to, fault, tool_error_code(fault.reason()), account);
    Reply { status: 200, content_type: JSON, headers: Vec::new(), body }
}

/// The fault object.
fn account(to: &ReplyTo, fault: &Fault, now: Moment) -> String {
    let mut object = Writer::with_capacity(1024);
    write_fault(&mut object, fault, to, now);
    String::from_utf8_lossy(&object.finish()).into_owned()
}

/// The fault object after the members of the tool's own `data`, if any.
fn with_own_data(account: String, structured: Option<&Json>) -> String {
    let own = structured.and_then(|object| Some(object.raw().as_object()?.get("data")?.text()));
    let Some(own) = own else { return account };
    object(account.len() + own.len(), |out| {
        out.members_of(own);
        out.members_of(&account);
    })
}

/// The fault object with the tool's own result in a separate member.
fn with_result(account: String, result: Option<&str>) -> String {
    let Some(result) = result else { return account };
    object(account.len() + result.len(), |out| {
        out.members_of(&account);
        out.raw_member("result", result);
    })
}

fn failure(to: &ReplyTo, fault: &Fault, account: &str) -> Reply {
    let answer = answer(fault.reason(), to.dialect);
    let (content_type, mut body) = match to.dialect {
        Dialect::Rest(RestStyle::Plain) => (JSON, rest_body(fault, answer.code, account)),
        Dialect::Rest(RestStyle::Problem) => {
            (PROBLEM, problem_body(to, fault, (answer.code, answer.status), account))
        }
        Dialect::Rpc | Dialect::Mcp(_) => (JSON, error_body(to, fault, answer.code, account)),
    };
    keep_on_one_line(&mut body);
    Reply { status: answer.status, content_type, headers: headers(to, fault), body }
}

/// Headers that repeat the advice of the fault in HTTP's own terms.
fn headers(to: &ReplyTo, fault: &Fault) -> Vec<(&'static str, String)> {
    let mut headers = Vec::new();
    if let Retry::After(wait) = fault.retry() {
        headers.push(("retry-after", wait.as_secs_f64().ceil().to_string()));
    }
    match fault.reason().condition {
        Condition::Credentials if to.dialect != Dialect::Rpc => {
            headers.push(("www-authenticate", "Bearer realm=\"failwell\"".to_owned()));
        }
        Condition::MethodNotAllowed => {
            headers.push(("allow", allowed(fault)));
        }
        Condition::Range => {
            if let Some(Fact::Unsigned(size)) = fault.get("size") {
                headers.push(("content-range", format!("bytes */{size}")));
            }
        }
        _ => {}
    }
    headers
}

/// Only literals become a header value, never text of a caller.
fn allowed(fault: &Fault) -> String {
    match fault.get("allow") {
        Some(Fact::Word(method)) => (*method).to_owned(),
        Some(Fact::Words(methods)) => methods.join(", "),
        _ => String::new(),
    }
}

fn error_body(to: &ReplyTo, fault: &Fault, code: i32, account: &str) -> Vec<u8> {
    envelope(to, account.len() + 256, |out| {
        out.key("error");
        out.open(b'{');
        out.number_member("code", code);
        out.text_member("message", &message(to, fault));
        out.raw_member("data", account);
        out.close(b'}');
    })
}

/// The error message. In the session era it is the fixed message of the reason, if any. A model reads the failures of
/// tools, and needs the whole sentence.
fn message(to: &ReplyTo, fault: &Fault) -> String {
    let in_session = matches!(to.dialect, Dialect::Mcp(revision) if revision.era() == Era::Session);
    let of_a_tool = matches!(to.asked, ExpectedResult::Tool | ExpectedResult::ToolOrError);
    match fault.reason().session_message {
        promised
            if in_session && !(of_a_tool && shown_to_the_model(fault.reason())) && !promised.is_empty() =>
        {
            promised.to_owned()
        }
        _ => sentence(fault),
    }
}

fn rest_body(fault: &Fault, code: i32, account: &str) -> Vec<u8> {
    let mut out = Writer::with_capacity(account.len() + 256);
    out.open(b'{');
    out.number_member("error_code", code);
    out.text_member("message", &sentence(fault));
    out.raw_member("detail", account);
    out.close(b'}');
    out.finish()
}

/// RFC 9457 problem details, for clients that accept them.
fn problem_body(to: &ReplyTo, fault: &Fault, (code, status): (i32, u16), account: &str) -> Vec<u8> {
    let mut out = Writer::with_capacity(account.len() + 256);
    out.open(b'{');
    out.text_member("type", &format!("urn:failwell:{}", fault.reason().id));
    out.number_member("status", status);
    out.text_member("instance", &format!("urn:failwell:ref:{}", to.reference));
    out.number_member("error_code", code);
    // The fault object already has `title` and `detail`.
    out.members_of(account);
    out.close(b'}');
    out.finish()
}

/// The JSON-RPC envelope with the unchanged id. Without an id, the protocol decides between `null` and
/// omission.
fn envelope(to: &ReplyTo, capacity: usize, body: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut out = Writer::with_capacity(capacity + 256);
    out.open(b'{');
    out.text_member("jsonrpc", "2.0");
    match (&to.id, to.dialect) {
        (Some(id), _) => out.raw_member("id", id.text()),
        (None, Dialect::Rpc | Dialect::Rest(_)) => out.raw_member("id", "null"),
        (None, Dialect::Mcp(revision)) if revision.null_id_when_unreadable() => out.raw_member("id", "null"),
        (None, Dialect::Mcp(_)) => {}
    }
    body(&mut out);
    out.close(b'}');
    out.finish()
}
