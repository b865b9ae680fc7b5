//! The report of a session: one page with pictures for people, and JUnit XML for build servers.

use std::sync::Arc;

use bytes::Bytes;
use failwell_fault::Fault;
use failwell_server::{Context, Toolbox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Said, tool};
use crate::keep::{Link, Sort};
use crate::report::{html, junit};
use crate::sessions::Desk;
use crate::steps::{Run, Verdict};

pub(super) fn add(toolbox: Toolbox, desk: &Arc<Desk>) -> Result<Toolbox, Fault> {
    Ok(toolbox.tool(tool(desk, ("get_report", "Report", "Writes a report of the session so far: one page with pictures, and JUnit XML. Both are kept and linked."), report)?.read_only()))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetReport {
    /// The session; may be left out while you have one.
    #[schemars(length(min = 1, max = 64))]
    session: Option<String>,
    /// What the report is called; the device's name unless given.
    #[schemars(length(min = 1, max = 200))]
    title: Option<String>,
}

/// A report.
#[derive(Debug, Serialize, JsonSchema)]
struct Reported {
    /// The page.
    html: Link,
    /// The same for build servers.
    junit: Link,
    passed: usize,
    /// Assertions that do not hold.
    failed: usize,
    /// Steps that could not be done.
    broken: usize,
}

async fn report(desk: Arc<Desk>, given: GetReport, cx: Context) -> Result<Said<Reported>, Fault> {
    let session = desk.session(given.session.as_deref(), &cx)?;
    let title = given.title.unwrap_or_else(|| session.post.settings.name.clone());
    let mut run = session.log().run(title, &session.id);
    illustrate(&mut run, &desk).await;
    let count = |verdict: Verdict| run.steps.iter().filter(|step| step.verdict == verdict).count();
    let (passed, failed, broken) = (count(Verdict::Passed), count(Verdict::Failed), count(Verdict::Broken));
    let page = desk.keep.put(Sort::Report, Bytes::from(html(&run))).await?;
    let xml = desk.keep.put(Sort::JUnit, Bytes::from(junit(&run))).await?;
    let text =
        format!("{passed} passed, {failed} failed, {broken} broken\npage: {}\nJUnit: {}", page.uri, xml.uri);
    let blocks = vec![page.block("report"), xml.block("JUnit report")];
    let mut said = Said::new(Reported { html: page, junit: xml, passed, failed, broken }, text);
    said.blocks = blocks;
    Ok(said)
}

/// Puts the pictures in that are still kept.
async fn illustrate(run: &mut Run, desk: &Desk) {
    for step in &mut run.steps {
        if let Some(picture) = &mut step.picture {
            picture.png = desk.keep.read(&picture.uri).await.ok().map(|(_, png)| png);
        }
    }
}
