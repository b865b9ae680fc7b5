//! Tools that are not commands: sessions, batches, recordings, reports.

mod batch;
mod recording;
mod report;
mod sessions;

use std::sync::Arc;

use failwell_fault::Fault;
use failwell_sdk::Toolbox;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::commands;
use crate::sessions::DeviceSessions;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SessionArgument {
    /// The session. Optional while you have only one.
    #[schemars(length(min = 1, max = 64))]
    session: Option<String>,
}

pub(crate) fn all(toolbox: Toolbox, devices: &Arc<DeviceSessions>) -> Result<Toolbox, Fault> {
    let mut toolbox = sessions::add(toolbox, devices)?;
    for entry in commands::all() {
        toolbox = toolbox.tool((entry.tool)(devices)?);
    }
    let toolbox = batch::add(toolbox, devices)?;
    let toolbox = recording::add(toolbox, devices)?;
    report::add(toolbox, devices)
}
