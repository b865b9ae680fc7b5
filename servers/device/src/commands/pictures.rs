//! Pictures of the screen.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use failwell_fault::Fault;
use failwell_server::{Content, Context};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aim::{Aim, Found};
use super::{Command, Done, Entry, Nature, entry};
use crate::keep::{Link, Sort};
use crate::stage::Stage;

pub(super) fn add(all: &mut Vec<Entry>) {
    all.push(entry::<Screenshot>());
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Screenshot {
    #[serde(flatten)]
    aim: Aim,
}

/// A picture, and where it is kept.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Taken {
    screenshot: Link,
    /// In pixels.
    width: u32,
    height: u32,
    /// Whether the picture stands in the answer; one that is too large is linked only.
    inline: bool,
}

impl Command for Screenshot {
    const NAME: &'static str = "take_screenshot";
    const TITLE: &'static str = "Take a screenshot";
    const ABOUT: &'static str = "Takes a picture of the screen, or of one element (ref or selector), keeps it, and gives the picture and a link to it.";
    // A recording keeps it, so that a report of the replay has its pictures.
    const NATURE: Nature = Nature::Checks;
    type Answer = Taken;

    aimed!();

    async fn perform(&self, stage: &Stage, cx: &Context) -> Result<Done<Taken>, Fault> {
        let is_aimed = self.aim.selector.is_some() || self.aim.reference.is_some();
        let taken = if is_aimed {
            let Found { element } = self.aim.find(stage, cx).await?;
            stage.device.element_screenshot(&element).await
        } else {
            stage.device.screenshot().await
        };
        let png = match taken {
            Ok(png) => png,
            Err(trouble) => return Err(stage.fault(trouble, "screenshots", None).await),
        };
        let (width, height) = size(&png);
        let link = stage.desk.keep.put(Sort::Screenshot, png.clone()).await?;
        let inline = png.len() <= stage.desk.settings.inline;
        let mut done = Done::new(
            Taken { screenshot: link.clone(), width, height, inline },
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

/// What the first chunk of a PNG says; zero when it is none.
fn size(png: &[u8]) -> (u32, u32) {
    let number = |at: usize| {
        let bytes: Option<[u8; 4]> = png.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_be_bytes)
    };
    (number(16), number(20))
}
