//! What there is to see when something failed: the screen, what comes nearest, the alert that is in the way.

use std::time::Duration;

use failwell_fault::{Fault, reason};
use failwell_server::Content;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::timeout;

use crate::keep::{Link, Sort};
use crate::screen::{View, lines, nearest, tidy};
use crate::stage::Stage;

/// How long each look may take: the caller waits for it.
const LONGEST: Duration = Duration::from_secs(8);

/// What there is to see.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Evidence {
    /// What the screen looked like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) screenshot: Option<Link>,
    /// The elements nearest to what was looked for, the nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) nearest: Vec<View>,
    /// What the alert says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) alert: Option<String>,
}

impl Evidence {
    pub(crate) fn is_empty(&self) -> bool {
        self.screenshot.is_none() && self.nearest.is_empty() && self.alert.is_none()
    }

    /// The same for the model: the app's own words are fenced.
    pub(crate) fn blocks(&self) -> Vec<Content> {
        let mut blocks = Vec::new();
        if let Some(alert) = &self.alert {
            blocks.push(Content::text(format!("the alert says:\n```\n{}\n```", alert.replace('`', "'"))));
        }
        if !self.nearest.is_empty() {
            let flat: Vec<View> = self.nearest.iter().map(|view| View { depth: 0, ..view.clone() }).collect();
            blocks.push(Content::text(format!("nearest elements:\n{}", lines(&flat))));
        }
        if let Some(link) = &self.screenshot {
            blocks.push(link.block("screenshot of the failure"));
        }
        blocks
    }
}

/// Looks at the screen, as far as that can be done at all; what cannot be seen is left out.
pub(crate) async fn gather(stage: &Stage, fault: &Fault, selector: Option<&str>) -> Evidence {
    let mut evidence = Evidence::default();
    if is_hopeless(fault) {
        return evidence;
    }
    if fault.reason() == &reason::DEVICE_ALERT_OPEN {
        let said = timeout(LONGEST, stage.device.alert_text()).await;
        evidence.alert = said.ok().and_then(Result::ok).map(|text| tidy(&text));
    }
    evidence.screenshot = screenshot(stage).await;
    if let Some(selector) = selector
        && evidence.alert.is_none()
        && matches!(timeout(LONGEST, stage.look()).await, Ok(Ok(())))
    {
        let refs = stage.session.refs();
        let by_place = refs.by_place();
        let near = refs.screen().map(|screen| {
            let views = nearest(screen, selector).into_iter().filter_map(|index| {
                Some(View::of(screen.nodes.get(index)?, by_place.get(&index)?.clone(), 0))
            });
            views.collect()
        });
        evidence.nearest = near.unwrap_or_default();
    }
    evidence
}

/// A picture of the screen as it is now, if one can be had.
pub(crate) async fn screenshot(stage: &Stage) -> Option<Link> {
    let png = timeout(LONGEST, stage.device.screenshot()).await.ok()?.ok()?;
    stage.desk.keep.put(Sort::Screenshot, png).await.ok()
}

/// Where nobody answers there is nothing to see.
fn is_hopeless(fault: &Fault) -> bool {
    [
        &reason::DEVICE_DRIVER_UNREACHABLE,
        &reason::DEVICE_DRIVER_DIED,
        &reason::DEVICE_SESSION_GONE,
        &reason::DEVICE_TIMEOUT,
        &reason::DEVICE_INVALID_VALUE,
        &reason::DEVICE_ADDRESS_DENIED,
        &reason::DEVICE_APP_DENIED,
        &reason::DEVICE_KEPT_NOTHING,
        &reason::DEVICE_BAD_PICTURE,
    ]
    .contains(&fault.reason())
}
