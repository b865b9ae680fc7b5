//! The device itself: which way up, where on earth, and what apps may use.

use failwell_fault::Fault;
use failwell_server::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::act::{Acted, acted};
use super::aim::Patience;
use super::{Command, Done, Entry, Nature, entry};
use crate::device::{Grant, Location, Orientation, Permission};
use crate::stage::Stage;

pub(super) fn add(all: &mut Vec<Entry>) {
    all.push(entry::<SetOrientation>());
    all.push(entry::<SetLocation>());
    all.push(entry::<ChangePermission>());
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetOrientation {
    /// The session; may be left out while you have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    orientation: Orientation,
}

/// Which way up it is now.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OrientationIs {
    orientation: Orientation,
}

impl Command for SetOrientation {
    const NAME: &'static str = "set_device_orientation";
    const TITLE: &'static str = "Turn the device";
    const ABOUT: &'static str = "Turns the device to portrait or landscape, and says how it is then.";
    const NATURE: Nature = Nature::Acts;
    type Answer = OrientationIs;

    fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    fn words(&self) -> String {
        self.orientation.as_str().to_ascii_lowercase()
    }

    async fn perform(&self, stage: &Stage, _cx: &Context) -> Result<Done<OrientationIs>, Fault> {
        let wanted = self.orientation;
        let orientation = stage
            .act("orientation", move |device| {
                Box::pin(async move {
                    device.turn(wanted).await?;
                    device.orientation().await
                })
            })
            .await?;
        let text = format!("now in {}", orientation.as_str().to_ascii_lowercase());
        Ok(Done::new(OrientationIs { orientation }, text))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetLocation {
    /// The session; may be left out while you have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[schemars(range(min = -90, max = 90))]
    latitude: f64,
    #[schemars(range(min = -180, max = 180))]
    longitude: f64,
    /// In metres; 0 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -1_000, max = 100_000))]
    altitude: Option<f64>,
}

impl Command for SetLocation {
    const NAME: &'static str = "set_location";
    const TITLE: &'static str = "Set the location";
    const ABOUT: &'static str = "Makes the device believe it is somewhere.";
    const NATURE: Nature = Nature::Acts;
    type Answer = Acted;

    fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    fn words(&self) -> String {
        format!("{}, {}", self.latitude, self.longitude)
    }

    async fn perform(&self, stage: &Stage, _cx: &Context) -> Result<Done<Acted>, Fault> {
        let patience = Patience::new(None);
        let (latitude, longitude) = (self.latitude, self.longitude);
        let at = Location { latitude, longitude, altitude: self.altitude.unwrap_or(0.0) };
        stage.act("location", move |device| Box::pin(async move { device.locate(at).await })).await?;
        Ok(acted(&patience, "the location is set"))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangePermission {
    /// The session; may be left out while you have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// The app: a bundle id or a package. Browsers need none: it is the page that is open.
    #[serde(default)]
    #[schemars(length(max = 2_000))]
    app: String,
    permission: Permission,
    action: Grant,
}

impl Command for ChangePermission {
    const NAME: &'static str = "change_permission";
    const TITLE: &'static str = "Change a permission";
    const ABOUT: &'static str = "Grants or revokes what an app may use, or forgets that it ever asked.";
    const NATURE: Nature = Nature::Acts;
    type Answer = Acted;

    fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    fn words(&self) -> String {
        format!("{:?} {:?} {}", self.action, self.permission, self.app).to_lowercase()
    }

    async fn perform(&self, stage: &Stage, _cx: &Context) -> Result<Done<Acted>, Fault> {
        let patience = Patience::new(None);
        let (app, permission, grant) = (self.app.clone(), self.permission, self.action);
        stage
            .act("permissions", move |device| {
                Box::pin(async move { device.permit(&app, permission, grant).await })
            })
            .await?;
        Ok(acted(&patience, "the permission is changed"))
    }
}
