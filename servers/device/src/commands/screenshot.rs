//! Screenshots.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use failwell_fault::Fault;
use failwell_sdk::{Content, Context};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::target::{ElementTarget, LocatedElement};
use super::{Command, CommandEntry, CommandKind, TypedOutput, entry};
use crate::artifacts::{ArtifactKind, ArtifactLink};
use crate::sessions::lease::DeviceLease;

pub(super) fn add(all: &mut Vec<CommandEntry>) {
    all.push(entry::<Screenshot>());
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Screenshot {
    #[serde(flatten)]
    target: ElementTarget,
}

/// A picture, and where it is kept.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ScreenshotResult {
    screenshot: ArtifactLink,
    /// In pixels.
    width: u32,
    height: u32,
    /// Whether the result contains the image. An image that is too large is only linked.
    inline: bool,
}

impl Command for Screenshot {
    const NAME: &'static str = "take_screenshot";
    const TITLE: &'static str = "Take a screenshot";
    const ABOUT: &'static str = "Takes a screenshot of the screen or of one element (ref or selector), stores it, and returns the image and a link to it.";
    // A recording includes it, so that a report of the replay has pictures.
    const KIND: CommandKind = CommandKind::Checks;
    type Answer = ScreenshotResult;

    aimed!();

    async fn perform(
        &self,
        lease: &DeviceLease,
        cx: &Context,
    ) -> Result<TypedOutput<ScreenshotResult>, Fault> {
        let is_aimed = self.target.selector.is_some() || self.target.reference.is_some();
        let taken = if is_aimed {
            let LocatedElement { element } = self.target.find(lease, cx).await?;
            lease.device.element_screenshot(&element).await
        } else {
            lease.device.screenshot().await
        };
        let png = match taken {
            Ok(png) => png,
            Err(trouble) => return Err(lease.fault(trouble, "screenshots", None).await),
        };
        let (width, height) = size(&png);
        let link =
            lease.devices.artifacts.put(&lease.session.owner, ArtifactKind::Screenshot, png.clone()).await?;
        let inline = png.len() <= lease.devices.settings.inline;
        let mut done = TypedOutput::new(
            ScreenshotResult { screenshot: link.clone(), width, height, inline },
            format!("{width} × {height} pixels, {} bytes, kept at {}", link.bytes, link.uri),
        );
        if inline {
            let data = STANDARD.encode(&png);
            done = done.with(Content::Image { data, mime_type: link.media_type.clone() });
        }
        done.picture = Some(link.uri.clone());
        Ok(done.with(link.block("screenshot")))
    }
}

/// The size in the header of a PNG file. Zero for other files.
fn size(png: &[u8]) -> (u32, u32) {
    let number = |at: usize| {
        let bytes: Option<[u8; 4]> = png.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_be_bytes)
    };
    (number(16), number(20))
}
