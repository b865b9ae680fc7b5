//! The tools that are no commands: sessions, several steps at once, recordings, reports.

mod batch;
mod recording;
mod report;
mod sessions;

use std::sync::Arc;

use failwell_fault::{Fault, OrFault, reason};
use failwell_server::{
    Content, Context, Json, Tool, ToolOutcome, Toolbox, schema_of_arguments, schema_of_result,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::commands::{self, parse};
use crate::sessions::Desk;

/// What a tool answers with: an object, and the same in words.
pub(crate) struct Said<O> {
    pub(crate) object: O,
    pub(crate) text: String,
    pub(crate) blocks: Vec<Content>,
    /// What there is beside a result when not all of it could be done.
    pub(crate) failure: Option<Fault>,
}

impl<O> Said<O> {
    pub(crate) fn new(object: O, text: impl Into<String>) -> Said<O> {
        Said { object, text: text.into(), blocks: Vec::new(), failure: None }
    }
}

/// All of them.
pub(crate) fn all(toolbox: Toolbox, desk: &Arc<Desk>) -> Result<Toolbox, Fault> {
    let toolbox = sessions::add(toolbox, desk)?;
    let mut toolbox = toolbox;
    for entry in commands::all() {
        toolbox = toolbox.tool((entry.tool)(desk)?);
    }
    let toolbox = batch::add(toolbox, desk)?;
    let toolbox = recording::add(toolbox, desk)?;
    report::add(toolbox, desk)
}

/// A tool with typed arguments and a typed answer.
fn tool<A, O, F, W>(
    desk: &Arc<Desk>,
    (name, title, description): (&'static str, &'static str, &'static str),
    handler: F,
) -> Result<Tool, Fault>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema + Send + 'static,
    F: Fn(Arc<Desk>, A, Context) -> W + Send + Sync + Copy + 'static,
    W: Future<Output = Result<Said<O>, Fault>> + Send + 'static,
{
    let desk = desk.clone();
    let output = Some(schema_of_result::<O>()?);
    let tool = Tool::dynamic(name, description, schema_of_arguments::<A>()?, output, move |given, cx| {
        let desk = desk.clone();
        async move {
            let said = handler(desk, parse(given)?, cx).await?;
            let object = Json::of(&said.object).or_fault(&reason::SERVER_BUG)?;
            let outcome = ToolOutcome::text(said.text).structured(object);
            let outcome = said.blocks.into_iter().fold(outcome, ToolOutcome::with);
            Ok(match said.failure {
                None => outcome,
                Some(fault) => outcome.failed(fault),
            })
        }
    })?;
    Ok(tool.titled(title))
}
