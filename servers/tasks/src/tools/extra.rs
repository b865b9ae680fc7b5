use std::sync::Arc;

use failwell_fault::Fault;
use failwell_sdk::{Context, Tool, Toolbox, TypedOutcome, with_state};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::arguments::{CallMethod, CheckFilter, ParseTime};
use super::{ToolResult, reading};
use crate::account::Account;
use crate::account::edit::moment;
use crate::dates::{iso, shown};
use crate::filter;
use crate::reason;
use crate::service::signature::Params;
use crate::tool_failure::{ToolFailure, echo, invalid};

pub(super) fn tools(toolbox: Toolbox, account: &Arc<Account>) -> Result<Toolbox, Fault> {
    Ok(toolbox
        .tool(Tool::typed_outcome("rtm_parseTime", "Parses a date in natural language as Remember The Milk does, in the account's time zone.", with_state(account, reading(parse_time)))?.titled("Read a date").read_only())
        .tool(Tool::typed_outcome("rtm_checkFilter", "Reports mistakes in a filter, and effects that may be unintended. Only the time zone is read from the service.", with_state(account, reading(check_filter)))?.titled("Check a filter").read_only())
        .tool(Tool::typed_outcome("rtm_call", "Calls a read-only method of Remember The Milk and returns its response unchanged.", with_state(account, reading(call)))?.titled("Call a method").read_only()))
}

/// A date.
#[derive(Debug, Serialize, JsonSchema)]
struct ParsedTime {
    /// In the account's time zone.
    local: String,
    utc: String,
    has_time: bool,
    time_zone: String,
}

async fn parse_time(account: Arc<Account>, given: ParseTime, _cx: Context) -> ToolResult<ParsedTime> {
    let found = moment(&account, &given.text).await?;
    let found =
        found.ok_or_else(|| Fault::new(&reason::TASKS_INVALID_DATE).fact("wanted", echo(&given.text)))?;
    let zone = account.zone().await?;
    let object = ParsedTime {
        local: shown(found, &zone),
        utc: iso(found.at),
        has_time: found.has_time,
        time_zone: zone.iana_name().unwrap_or("UTC").to_owned(),
    };
    let text = format!("{} ({})", object.local, object.time_zone);
    Ok(TypedOutcome::new(object, text))
}

/// A filter that was looked at.
#[derive(Debug, Serialize, JsonSchema)]
struct FilterCheckResult {
    /// Effects that may be unintended.
    hints: Vec<String>,
    /// Whether `rtm_findTasks` can answer it from its local copy.
    local: bool,
}

async fn check_filter(
    account: Arc<Account>,
    given: CheckFilter,
    _cx: Context,
) -> ToolResult<FilterCheckResult> {
    let parsed = filter::parse(&given.filter)?;
    let now = account.now().await?;
    let hints = filter::lint(&parsed, &now);
    let local = {
        let cache = account.cache();
        let context = filter::MatchContext { cache: &cache, now: &now };
        cache.tasks().next().is_none_or(|task| filter::matches(&parsed, task, &context).is_some())
    };
    let text = if hints.is_empty() { "the filter is fine".to_owned() } else { hints.join("\n") };
    Ok(TypedOutcome::new(FilterCheckResult { hints, local }, text))
}

/// Methods that only read and reveal no secrets. `rtm.test.echo` returns the key, so it is not included.
const METHODS: &[&str] = &[
    "rtm.contacts.getList",
    "rtm.groups.getList",
    "rtm.lists.getList",
    "rtm.locations.getList",
    "rtm.reflection.getMethodInfo",
    "rtm.reflection.getMethods",
    "rtm.settings.getList",
    "rtm.tags.getList",
    "rtm.tasks.getList",
    "rtm.time.convert",
    "rtm.time.parse",
    "rtm.timezones.getList",
];
const PARAMETERS: &[&str] = &[
    "dateformat",
    "filter",
    "from_timezone",
    "last_sync",
    "list_id",
    "method_name",
    "text",
    "time",
    "timezone",
    "to_timezone",
];

/// The answer of the service.
#[derive(Debug, Serialize, JsonSchema)]
struct CallMethodResult {
    answer: Value,
}

async fn call(account: Arc<Account>, given: CallMethod, _cx: Context) -> ToolResult<CallMethodResult> {
    let Some(method) = METHODS.iter().find(|known| **known == given.method) else {
        let fault = Fault::new(&reason::TASKS_METHOD_NOT_ALLOWED).fact("method", echo(&given.method));
        return Err(ToolFailure::Fault(
            fault.nearest(failwell_sdk::nearest(&given.method, METHODS.iter().copied())),
        ));
    };
    let mut params: Params = Vec::new();
    for (name, value) in given.parameters {
        let Some(known) = PARAMETERS.iter().find(|known| **known == name) else {
            return Err(invalid(
                "parameters",
                "one of them is not known",
                "use those of the method's documentation",
            ));
        };
        params.push((known, value));
    }
    let answer = account.client.read(method, params).await?;
    let text = answer.to_string();
    Ok(TypedOutcome::new(CallMethodResult { answer }, text))
}
