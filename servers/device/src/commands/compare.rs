//! Comparison of two screenshots. A difference is a finding.

use std::sync::Arc;

use failwell_fault::{Fault, OrFault};
use failwell_sdk::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Command, CommandEntry, CommandKind, CommandOutput, TypedOutput, entry, erase};
use crate::artifacts::{ArtifactKind, ArtifactLink};
use crate::picture::{self, Area, Comparison, DecodeError, Options, Pixels};
use crate::reason;
use crate::sessions::DeviceSessions;
use crate::sessions::lease::DeviceLease;
use crate::steps::Verdict;

pub(super) fn add(all: &mut Vec<CommandEntry>) {
    all.push(entry::<Compare>());
}

/// An area of a picture, in pixels.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Part")]
pub(crate) struct PixelArea {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Compare {
    /// The session. Optional while you have only one. Two stored screenshots need no session.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// The expected image: the uri of a screenshot.
    #[schemars(length(min = 1, max = 500))]
    before: String,
    /// The actual image: the uri of a screenshot; default: the current screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 500))]
    after: Option<String>,
    /// Ignored regions: clocks, cursors, advertisements. In pixels of the picture.
    #[serde(default)]
    #[schemars(length(max = 50))]
    masks: Vec<PixelArea>,
    /// The tolerated difference of a colour value, 0 to 255; default 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerance: Option<u8>,
    /// The tolerated share of different pixels, 0 to 1; default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    max_share: Option<f64>,
}

/// The regions that differ.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CompareResult {
    /// Whether the images are the same within the tolerances. If they are not, that is a finding, not an error.
    pub(crate) same: bool,
    /// Whether both have the same size.
    same_size: bool,
    /// The share of the compared pixels that differ.
    share: f64,
    changed_pixels: u64,
    /// The regions that differ, the largest first, in pixels.
    regions: Vec<PixelArea>,
    /// The number of further regions.
    more_regions: usize,
    before: String,
    after: ArtifactLink,
    /// An image of the differences.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<ArtifactLink>,
}

impl Command for Compare {
    const NAME: &'static str = "compare_screenshots";
    const TITLE: &'static str = "Compare screenshots";
    const ABOUT: &'static str = "Compares a stored screenshot with another, or with the current screen. Returns the share and the regions that differ, and an image of them. A difference is a finding, not an error.";
    const KIND: CommandKind = CommandKind::Checks;
    type Answer = CompareResult;

    in_session!();

    async fn without_session(
        &self,
        devices: &Arc<DeviceSessions>,
        cx: &Context,
    ) -> Option<Result<CommandOutput, Fault>> {
        match (&self.session, &self.after) {
            (None, Some(after)) => {
                Some(compare_stored((devices, cx.client().caller.owner()), self, after).await)
            }
            _ => None,
        }
    }

    async fn perform(&self, lease: &DeviceLease, _cx: &Context) -> Result<TypedOutput<CompareResult>, Fault> {
        let now = match &self.after {
            Some(_) => None,
            None => Some(match lease.device.screenshot().await {
                Ok(png) => png,
                Err(trouble) => return Err(lease.fault(trouble, "screenshots", None).await),
            }),
        };
        let devices: OwnedArtifacts<'_> = (&lease.devices, &lease.session.owner);
        let (after, link) = match (now, &self.after) {
            (Some(png), _) => {
                (png.clone(), devices.0.artifacts.put(devices.1, ArtifactKind::Screenshot, png).await?)
            }
            (None, uri) => read_picture(devices, uri.as_deref().unwrap_or_default()).await?,
        };
        self.compare(devices, after, link).await
    }
}

/// The devices, and the owner of the pictures.
type OwnedArtifacts<'a> = (&'a DeviceSessions, &'a str);

async fn read_picture(
    (devices, owner): OwnedArtifacts<'_>,
    uri: &str,
) -> Result<(bytes::Bytes, ArtifactLink), Fault> {
    let (media_type, bytes) = devices.artifacts.read(owner, uri).await?;
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    Ok((bytes, ArtifactLink { uri: uri.to_owned(), media_type, bytes: size }))
}

/// Compares two stored pictures without a session.
async fn compare_stored(
    devices: OwnedArtifacts<'_>,
    command: &Compare,
    after: &str,
) -> Result<CommandOutput, Fault> {
    let (after, link) = read_picture(devices, after).await?;
    erase(command.compare(devices, after, link).await?)
}

fn unreadable(why: DecodeError) -> Fault {
    let fault = Fault::new(&reason::DEVICE_BAD_PICTURE).note("picture", format!("{why:?}"));
    match why {
        DecodeError::TooLarge { .. } => fault.fact("why", "it has more pixels than are compared"),
        _ => fault.fact("why", "it is no whole PNG"),
    }
}

fn pixel_area(area: &Area) -> PixelArea {
    PixelArea { x: area.x, y: area.y, width: area.width, height: area.height }
}

impl Compare {
    async fn compare(
        &self,
        (devices, owner): OwnedArtifacts<'_>,
        after: bytes::Bytes,
        link: ArtifactLink,
    ) -> Result<TypedOutput<CompareResult>, Fault> {
        let (_, before) = devices.artifacts.read(owner, &self.before).await?;
        let masks = self.masks.iter().map(|it| Area { x: it.x, y: it.y, width: it.width, height: it.height });
        let mut options = Options { masks: masks.collect(), ..Options::default() };
        if let Some(tolerance) = self.tolerance {
            options.tolerance = tolerance;
        }
        let most = self.max_share.unwrap_or(0.0);
        // Comparing millions of pixels would block a worker thread.
        let work = move || -> Result<(Comparison, Option<Vec<u8>>, bool), DecodeError> {
            let (before, after): (Pixels, Pixels) = (picture::decode(&before)?, picture::decode(&after)?);
            let comparison = picture::compare(&before, &after, &options);
            let same = comparison.same_size && comparison.share() <= most;
            let shown = if same { None } else { picture::difference(&after, &comparison) };
            Ok((comparison, shown, same))
        };
        let done = tokio::task::spawn_blocking(work).await.or_fault(&reason::SERVER_BUG)?;
        let (comparison, shown, same) = done.map_err(unreadable)?;
        let difference = match shown {
            Some(png) => Some(devices.artifacts.put(owner, ArtifactKind::Screenshot, png.into()).await?),
            None => None,
        };
        Ok(self.result(comparison, difference, same, link))
    }

    fn result(
        &self,
        comparison: Comparison,
        difference: Option<ArtifactLink>,
        same: bool,
        after: ArtifactLink,
    ) -> TypedOutput<CompareResult> {
        let share = comparison.share();
        let text = match (same, comparison.same_size) {
            (true, _) => "the pictures are the same".to_owned(),
            (false, false) => "the pictures differ in size".to_owned(),
            (false, true) => {
                let places = comparison.regions.len() + comparison.more_regions;
                format!(
                    "the pictures differ: {} pixels ({:.3} %) in {places} places",
                    comparison.changed,
                    share * 100.0
                )
            }
        };
        let picture = difference.as_ref().map_or_else(|| after.uri.clone(), |link| link.uri.clone());
        let answer = CompareResult {
            same,
            same_size: comparison.same_size,
            share,
            changed_pixels: comparison.changed,
            regions: comparison.regions.iter().map(pixel_area).collect(),
            more_regions: comparison.more_regions,
            before: self.before.clone(),
            after,
            difference: difference.clone(),
        };
        let mut done = TypedOutput::new(answer, text);
        if let Some(link) = difference {
            done = done.with(link.block("what differs"));
        }
        done.verdict = if same { Verdict::Passed } else { Verdict::Failed };
        done.picture = Some(picture);
        done
    }
}
