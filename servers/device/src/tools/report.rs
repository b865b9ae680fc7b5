//! The report of a session: one page with screenshots for people, and JUnit XML for build servers.

use std::sync::Arc;

use bytes::Bytes;
use failwell_fault::Fault;
use failwell_sdk::{Context, Tool, Toolbox, TypedOutcome, with_state};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::artifacts::{ArtifactKind, ArtifactLink};
use crate::report::{html, junit};
use crate::sessions::DeviceSessions;
use crate::steps::{SessionHistory, Verdict};

pub(super) fn add(toolbox: Toolbox, devices: &Arc<DeviceSessions>) -> Result<Toolbox, Fault> {
    Ok(toolbox.tool(Tool::typed_outcome("get_report", "Writes a report of the session so far: a page with screenshots, and JUnit XML. Both are stored and linked.", with_state(devices, report))?.titled("Report").read_only()))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetReport {
    /// The session. Optional while you have only one.
    #[schemars(length(min = 1, max = 64))]
    session: Option<String>,
    /// The title of the report; default: the name of the device.
    #[schemars(length(min = 1, max = 200))]
    title: Option<String>,
}

/// A report.
#[derive(Debug, Serialize, JsonSchema)]
struct ReportResult {
    /// The HTML page.
    html: ArtifactLink,
    /// The same report as JUnit XML.
    junit: ArtifactLink,
    passed: usize,
    /// Assertions that do not hold.
    failed: usize,
    /// Steps that could not be performed.
    broken: usize,
}

async fn report(
    devices: Arc<DeviceSessions>,
    given: GetReport,
    cx: Context,
) -> Result<TypedOutcome<ReportResult>, Fault> {
    let session = devices.session(given.session.as_deref(), &cx)?;
    let title = given.title.unwrap_or_else(|| session.slot.settings.name.clone());
    let mut run = session.log().run(title, &session.id);
    illustrate(&mut run, &devices, &session.owner).await;
    let count = |verdict: Verdict| run.steps.iter().filter(|step| step.verdict == verdict).count();
    let (passed, failed, broken) = (count(Verdict::Passed), count(Verdict::Failed), count(Verdict::Broken));
    let page = devices.artifacts.put(&session.owner, ArtifactKind::Report, Bytes::from(html(&run))).await?;
    let xml = devices.artifacts.put(&session.owner, ArtifactKind::JUnit, Bytes::from(junit(&run))).await?;
    let text =
        format!("{passed} passed, {failed} failed, {broken} broken\npage: {}\nJUnit: {}", page.uri, xml.uri);
    let blocks = [page.block("report"), xml.block("JUnit report")];
    let outcome = TypedOutcome::new(ReportResult { html: page, junit: xml, passed, failed, broken }, text);
    Ok(blocks.into_iter().fold(outcome, TypedOutcome::with))
}

/// Adds the pictures that are still stored.
async fn illustrate(run: &mut SessionHistory, devices: &DeviceSessions, owner: &str) {
    for step in &mut run.steps {
        if let Some(picture) = &mut step.picture {
            picture.png = devices.artifacts.read(owner, &picture.uri).await.ok().map(|(_, png)| png);
        }
    }
}
