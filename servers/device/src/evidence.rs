//! Evidence for a failure: a screenshot, the elements nearest to the selector, the text of an open alert.

use std::time::Duration;

use failwell_fault::Fault;
use failwell_sdk::Content;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::timeout;

use crate::artifacts::{ArtifactKind, ArtifactLink};
use crate::reason;
use crate::screen::{ElementView, lines, nearest, tidy};
use crate::sessions::lease::DeviceLease;

/// Timeout of each part. The caller waits for it.
const LONGEST: Duration = Duration::from_secs(8);

/// The evidence of a failed step.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Evidence {
    /// The screenshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) screenshot: Option<ArtifactLink>,
    /// The elements nearest to what was looked for, the nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) nearest: Vec<ElementView>,
    /// The text of the alert.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) alert: Option<String>,
}

impl Evidence {
    pub(crate) fn is_empty(&self) -> bool {
        self.screenshot.is_none() && self.nearest.is_empty() && self.alert.is_none()
    }

    /// The evidence as content blocks. Text of the app is fenced.
    pub(crate) fn blocks(&self) -> Vec<Content> {
        let mut blocks = Vec::new();
        if let Some(alert) = &self.alert {
            blocks.push(Content::text(format!("the alert says:\n```\n{}\n```", alert.replace('`', "'"))));
        }
        if !self.nearest.is_empty() {
            let flat: Vec<ElementView> =
                self.nearest.iter().map(|view| ElementView { depth: 0, ..view.clone() }).collect();
            blocks.push(Content::text(format!("nearest elements:\n{}", lines(&flat))));
        }
        if let Some(link) = &self.screenshot {
            blocks.push(link.block("screenshot of the failure"));
        }
        blocks
    }
}

/// Reads the screen. Parts that cannot be read are left out.
pub(crate) async fn gather(lease: &DeviceLease, fault: &Fault, selector: Option<&str>) -> Evidence {
    let mut evidence = Evidence::default();
    if is_unreachable(fault) {
        return evidence;
    }
    if fault.reason() == &reason::DEVICE_ALERT_OPEN {
        let alert = timeout(LONGEST, lease.device.alert_text()).await;
        evidence.alert = alert.ok().and_then(Result::ok).map(|text| tidy(&text));
    }
    evidence.screenshot = screenshot(lease).await;
    if let Some(selector) = selector
        && evidence.alert.is_none()
        && matches!(timeout(LONGEST, lease.look()).await, Ok(Ok(())))
    {
        let refs = lease.session.refs();
        let by_place = refs.by_place();
        let near = refs.screen().map(|screen| {
            let views = nearest(screen, selector).into_iter().filter_map(|index| {
                Some(ElementView::new(screen.nodes.get(index)?, by_place.get(&index)?.clone(), 0))
            });
            views.collect()
        });
        evidence.nearest = near.unwrap_or_default();
    }
    evidence
}

/// A screenshot of the current screen, if the driver can take one.
pub(crate) async fn screenshot(lease: &DeviceLease) -> Option<ArtifactLink> {
    let png = timeout(LONGEST, lease.device.screenshot()).await.ok()?.ok()?;
    lease.devices.artifacts.put(&lease.session.owner, ArtifactKind::Screenshot, png).await.ok()
}

/// Without a working driver there is no screen to read.
fn is_unreachable(fault: &Fault) -> bool {
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
