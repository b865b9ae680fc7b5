//! Tools that are not commands: sessions, batches, recordings, reports.

mod batch;
mod recording;
mod report;
mod sessions;

use std::sync::Arc;

use failwell_fault::{Fault, OrFault};
use failwell_sdk::{Content, Context, Json, Tool, ToolOutcome, Toolbox, schema_of_result};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::commands;
use crate::reason;
use crate::sessions::DeviceSessions;

/// The answer of a tool: an object, and the same as text.
pub(crate) struct ToolAnswer<O> {
    pub(crate) object: O,
    pub(crate) text: String,
    pub(crate) blocks: Vec<Content>,
    /// The fault, if only a part succeeded.
    pub(crate) failure: Option<Fault>,
}

impl<O> ToolAnswer<O> {
    pub(crate) fn new(object: O, text: impl Into<String>) -> ToolAnswer<O> {
        ToolAnswer { object, text: text.into(), blocks: Vec::new(), failure: None }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SessionArgument {
    /// The session; may be left out while you have one.
    #[schemars(length(min = 1, max = 64))]
    session: Option<String>,
}

pub(crate) fn all(toolbox: Toolbox, devices: &Arc<DeviceSessions>) -> Result<Toolbox, Fault> {
    let toolbox = sessions::add(toolbox, devices)?;
    let mut toolbox = toolbox;
    for entry in commands::all() {
        toolbox = toolbox.tool((entry.tool)(devices)?);
    }
    let toolbox = batch::add(toolbox, devices)?;
    let toolbox = recording::add(toolbox, devices)?;
    report::add(toolbox, devices)
}

/// A tool with typed arguments and a typed answer.
fn tool<A, O, F, W>(
    devices: &Arc<DeviceSessions>,
    (name, title, description): (&'static str, &'static str, &'static str),
    handler: F,
) -> Result<Tool, Fault>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema + Send + 'static,
    F: Fn(Arc<DeviceSessions>, A, Context) -> W + Send + Sync + Copy + 'static,
    W: Future<Output = Result<ToolAnswer<O>, Fault>> + Send + 'static,
{
    let devices = devices.clone();
    let tool = Tool::new(name, description, move |given: A, cx| {
        let work = handler(devices.clone(), given, cx);
        async move {
            let said = work.await?;
            let object = Json::of(&said.object).or_fault(&reason::SERVER_BUG)?;
            let outcome = ToolOutcome::text(said.text).structured(object);
            let outcome = said.blocks.into_iter().fold(outcome, ToolOutcome::with);
            Ok(match said.failure {
                None => outcome,
                Some(fault) => outcome.failed(fault),
            })
        }
    })?;
    tool.titled(title).with_output_schema(schema_of_result::<O>()?)
}
