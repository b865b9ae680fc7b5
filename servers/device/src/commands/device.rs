//! The device itself: orientation, location, permissions and contexts.

use failwell_fault::Fault;
use failwell_sdk::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::gestures::{ActionResult, action_result};
use super::target::ElementWait;
use super::{Command, CommandEntry, CommandKind, TypedOutput, entry};
use crate::device::{Location, Orientation, Permission, PermissionChange};
use crate::screen::tidy;
use crate::sessions::lease::DeviceLease;

pub(super) fn add(all: &mut Vec<CommandEntry>) {
    all.push(entry::<SetOrientation>());
    all.push(entry::<SetLocation>());
    all.push(entry::<ChangePermission>());
    all.push(entry::<ListContexts>());
    all.push(entry::<SwitchContext>());
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetOrientation {
    /// The session. Optional while you have only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    orientation: Orientation,
}

/// Which way up it is now.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OrientationResult {
    orientation: Orientation,
}

impl Command for SetOrientation {
    const NAME: &'static str = "set_device_orientation";
    const TITLE: &'static str = "Turn the device";
    const ABOUT: &'static str =
        "Sets the orientation of the device, portrait or landscape, and returns the resulting one.";
    const KIND: CommandKind = CommandKind::Acts;
    type Answer = OrientationResult;

    in_session!();

    fn describe(&self) -> String {
        self.orientation.as_str().to_ascii_lowercase()
    }

    async fn perform(
        &self,
        lease: &DeviceLease,
        _cx: &Context,
    ) -> Result<TypedOutput<OrientationResult>, Fault> {
        let wanted = self.orientation;
        let orientation = lease
            .act("orientation", move |device| {
                Box::pin(async move {
                    device.turn(wanted).await?;
                    device.orientation().await
                })
            })
            .await?;
        let text = format!("now in {}", orientation.as_str().to_ascii_lowercase());
        Ok(TypedOutput::new(OrientationResult { orientation }, text))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetLocation {
    /// The session. Optional while you have only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[schemars(range(min = -90, max = 90))]
    latitude: f64,
    #[schemars(range(min = -180, max = 180))]
    longitude: f64,
    /// In metres; default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -1_000, max = 100_000))]
    altitude: Option<f64>,
}

impl Command for SetLocation {
    const NAME: &'static str = "set_location";
    const TITLE: &'static str = "Set the location";
    const ABOUT: &'static str = "Sets the location that the device reports.";
    const KIND: CommandKind = CommandKind::Acts;
    type Answer = ActionResult;

    in_session!();

    fn describe(&self) -> String {
        format!("{}, {}", self.latitude, self.longitude)
    }

    async fn perform(&self, lease: &DeviceLease, _cx: &Context) -> Result<TypedOutput<ActionResult>, Fault> {
        let patience = ElementWait::new(None);
        let (latitude, longitude) = (self.latitude, self.longitude);
        let at = Location { latitude, longitude, altitude: self.altitude.unwrap_or(0.0) };
        lease.act("location", move |device| Box::pin(async move { device.locate(at).await })).await?;
        Ok(action_result(&patience, "the location is set"))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangePermission {
    /// The session. Optional while you have only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// The app: a bundle id or a package. Browsers need none: the permission is for the open page.
    #[serde(default)]
    #[schemars(length(max = 2_000))]
    app: String,
    permission: Permission,
    action: PermissionChange,
}

impl Command for ChangePermission {
    const NAME: &'static str = "change_permission";
    const TITLE: &'static str = "Change a permission";
    const ABOUT: &'static str = "Grants, revokes or resets a permission of an app.";
    const KIND: CommandKind = CommandKind::Acts;
    type Answer = ActionResult;

    in_session!();

    fn describe(&self) -> String {
        format!("{:?} {:?} {}", self.action, self.permission, self.app).to_lowercase()
    }

    async fn perform(&self, lease: &DeviceLease, _cx: &Context) -> Result<TypedOutput<ActionResult>, Fault> {
        let patience = ElementWait::new(None);
        let (app, permission, grant) = (self.app.clone(), self.permission, self.action);
        lease
            .act("permissions", move |device| {
                Box::pin(async move { device.permit(&app, permission, grant).await })
            })
            .await?;
        Ok(action_result(&patience, "the permission is changed"))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListContexts {
    /// The session. Optional while you have only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
}

/// The contexts of an app.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ContextsResult {
    /// The current one first.
    contexts: Vec<String>,
}

impl Command for ListContexts {
    const NAME: &'static str = "list_contexts";
    const TITLE: &'static str = "List contexts";
    const ABOUT: &'static str = "Lists the native part of an app and its web views, or the windows of a browser, the current one first.";
    const KIND: CommandKind = CommandKind::Reads;
    type Answer = ContextsResult;

    in_session!();

    async fn perform(
        &self,
        lease: &DeviceLease,
        _cx: &Context,
    ) -> Result<TypedOutput<ContextsResult>, Fault> {
        match lease.device.contexts().await {
            Ok(contexts) => {
                let text = lines(&contexts);
                Ok(TypedOutput::new(ContextsResult { contexts }, text))
            }
            Err(trouble) => Err(lease.fault(trouble, "contexts", None).await),
        }
    }
}

/// Text of the app in a code fence that it cannot close.
fn lines(names: &[String]) -> String {
    let each: Vec<String> = names.iter().map(|name| tidy(name).replace('`', "'")).collect();
    format!("```\n{}\n```", each.join("\n"))
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SwitchContext {
    /// The session. Optional while you have only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// A name from list_contexts.
    #[schemars(length(min = 1, max = 500))]
    context: String,
}

impl Command for SwitchContext {
    const NAME: &'static str = "switch_context";
    const TITLE: &'static str = "Switch context";
    const ABOUT: &'static str =
        "Switches to a web view of the app, to its native part, or to another window of the browser.";
    const KIND: CommandKind = CommandKind::Acts;
    type Answer = ActionResult;

    in_session!();

    fn describe(&self) -> String {
        self.context.clone()
    }

    async fn perform(&self, lease: &DeviceLease, _cx: &Context) -> Result<TypedOutput<ActionResult>, Fault> {
        let patience = ElementWait::new(None);
        let name = self.context.clone();
        lease
            .act("contexts", move |device| Box::pin(async move { device.switch_context(&name).await }))
            .await?;
        Ok(action_result(&patience, "switched"))
    }
}
