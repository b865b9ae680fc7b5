//! The tools. Each says what it did in a line or two, and again as an object with a schema.

pub(crate) mod arguments;
mod auth;
mod batch;
mod extra;
mod find;
mod lists;
mod notes;
mod tasks;
mod undo;
mod update;

use std::sync::Arc;

use failwell_fault::{Fault, OrFault, Pointer, Rule, Violation, reason};
use failwell_server::{
    Context, Json, Tool, ToolOutcome, Toolbox, schema_of_arguments, schema_of_result, see_through,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::account::Account;
use crate::edit::Edits;
use crate::lookup;
use crate::model::TaskKey;
use crate::stop::Stop;
use crate::view::TaskView;

pub(crate) use find::{Wanted as FindWanted, found};

/// What a tool answers with: an object, and the same in words.
pub(crate) struct Said<O> {
    pub(crate) object: O,
    pub(crate) text: String,
}

/// What a tool answers with, or why it stops.
pub(crate) type Answer<O> = Result<Said<O>, Stop>;

/// A task that was changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Changed {
    /// The task as it is now; not there when it was deleted.
    pub(crate) task: Option<TaskView>,
    /// The number of this change, as `rtm_history` shows it.
    pub(crate) change: Option<u64>,
    /// Whether the service's answer was lost, and the change was found by looking again.
    pub(crate) read_back: bool,
}

/// All of them.
pub(crate) fn all(toolbox: Toolbox, account: &Arc<Account>) -> Result<Toolbox, Fault> {
    let toolbox = auth::tools(toolbox, account)?;
    let toolbox = find::tools(toolbox, account)?;
    let toolbox = tasks::tools(toolbox, account)?;
    let toolbox = update::tools(toolbox, account)?;
    let toolbox = notes::tools(toolbox, account)?;
    let toolbox = lists::tools(toolbox, account)?;
    let toolbox = batch::tools(toolbox, account)?;
    let toolbox = undo::tools(toolbox, account)?;
    extra::tools(toolbox, account)
}

/// A tool with typed arguments and a typed answer.
fn tool<A, O, F, W>(
    account: &Arc<Account>,
    (name, title, description): (&'static str, &'static str, &'static str),
    handler: F,
) -> Result<Tool, Fault>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema + Send + 'static,
    F: Fn(Arc<Account>, A, Context) -> W + Send + Sync + Copy + 'static,
    W: Future<Output = Answer<O>> + Send + 'static,
{
    let account = account.clone();
    let input = schema_of_arguments::<A>()?;
    let output = schema_of_result::<O>()?;
    let tool = Tool::dynamic(name, description, input, Some(output), move |given, cx| {
        let account = account.clone();
        async move {
            match handler(account, parse(given)?, cx).await {
                Ok(said) => {
                    let object = Json::of(&said.object).or_fault(&reason::SERVER_BUG)?;
                    Ok(ToolOutcome::text(said.text).structured(object))
                }
                Err(stop) => stop.outcome(),
            }
        }
    })?;
    Ok(tool.titled(title))
}

/// A tool that changes something: what it began it finishes, also when its caller has called it off.
fn changing<A, O, F, W>(
    account: &Arc<Account>,
    told: (&'static str, &'static str, &'static str),
    handler: F,
) -> Result<Tool, Fault>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema + Send + 'static,
    F: Fn(Arc<Account>, A, Context) -> W + Send + Sync + Copy + 'static,
    W: Future<Output = Answer<O>> + Send + 'static,
{
    tool(account, told, move |account, given, cx| see_through(handler(account, given, cx)))
}

fn parse<A: DeserializeOwned>(given: Value) -> Result<A, Fault> {
    serde_json::from_value(given).map_err(|error| {
        let whole = Violation::new(Pointer::root(), Rule::Schema);
        Fault::new(&reason::MCP_BAD_ARGUMENTS).violation(whole).because(error)
    })
}

/// Writes down what was changed, even when a later piece failed, and shows the task as it is now.
async fn conclude(
    account: &Arc<Account>,
    cx: &Context,
    (tool, about): (&'static str, &str),
    edits: Edits<'_>,
    done: Result<Option<TaskKey>, Stop>,
) -> Answer<Changed> {
    let change = account.journal.write(&cx.client().caller.to_string(), tool, about, edits.steps);
    let key = done?;
    let task = match key {
        Some(key) => shown(account, &key).await?,
        None => None,
    };
    let mut text = match &task {
        Some(task) => task.line(),
        None => "done".to_owned(),
    };
    if let Some(change) = change {
        text.push_str(&format!("\n(change {change}; rtm_undo takes it back)"));
    }
    if edits.read_back {
        text.push_str("\n(the service's answer was lost; the change was found by looking again)");
    }
    Ok(Said { object: Changed { task, change, read_back: edits.read_back }, text })
}

/// A task as it is known now. The change itself is made: what cannot be shown is left out.
async fn shown(account: &Account, key: &TaskKey) -> Result<Option<TaskView>, Fault> {
    let Ok(zone) = account.zone().await else { return Ok(None) };
    let task = account.book().task(key).cloned();
    Ok(task.map(|task| lookup::views_in(account, &[task], &zone)).and_then(|mut views| views.pop()))
}
