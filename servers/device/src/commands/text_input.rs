//! Text input: typing, clearing, choosing.

use failwell_fault::Fault;
use failwell_sdk::Context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::gestures::{ActionResult, action_result, on_element};
use super::target::{ElementTarget, ElementWait};
use super::{Command, CommandEntry, CommandKind, TypedOutput, entry};
use crate::screen::tidy;
use crate::sessions::lease::DeviceLease;

pub(super) fn add(all: &mut Vec<CommandEntry>) {
    all.push(entry::<EnterText>());
    all.push(entry::<ClearText>());
    all.push(entry::<PickValue>());
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct EnterText {
    #[serde(flatten)]
    target: ElementTarget,
    /// What to type.
    #[schemars(length(max = 10_000))]
    text: String,
    /// Clear the field first.
    #[serde(default)]
    clear: bool,
    /// Press return afterwards.
    #[serde(default)]
    submit: bool,
    /// The text is a secret of this name: reports do not show it, and a recording has ${name} in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[A-Za-z][A-Za-z0-9_]{0,63}$"))]
    secret_name: Option<String>,
}

impl Command for EnterText {
    const NAME: &'static str = "enter_text";
    const TITLE: &'static str = "Type";
    const ABOUT: &'static str = "Types into a field (ref or selector), or into the one that has the focus. Mark passwords with secret_name, so that reports and recordings do not hold them.";
    const KIND: CommandKind = CommandKind::Acts;
    type Answer = ActionResult;

    fn session(&self) -> Option<&str> {
        self.target.session.as_deref()
    }

    fn describe(&self) -> String {
        let text = if self.secret_name.is_some() { "••••".to_owned() } else { tidy(&self.text) };
        format!("{} ← {text}", self.target.describe())
    }

    fn selector(&self) -> Option<&str> {
        self.target.selector.as_deref()
    }

    fn written(&self) -> Value {
        let mut whole = serde_json::to_value(self).unwrap_or_default();
        if let (Some(name), Some(arguments)) = (&self.secret_name, whole.as_object_mut()) {
            arguments.insert("text".to_owned(), Value::String(format!("${{{name}}}")));
        }
        whole
    }

    async fn perform(&self, lease: &DeviceLease, cx: &Context) -> Result<TypedOutput<ActionResult>, Fault> {
        let patience = ElementWait::new(self.target.timeout);
        let mut text = self.text.clone();
        if self.submit {
            text.push('\n');
        }
        if self.target.selector.is_none() && self.target.reference.is_none() {
            lease
                .act("entering text", move |device| {
                    Box::pin(async move { device.enter(&device.focused().await?, &text).await })
                })
                .await?;
            return Ok(action_result(&patience, format!("typed {} characters", self.text.chars().count())));
        }
        if self.clear {
            on_element(&self.target, lease, cx, "clearing text", |device, element| {
                Box::pin(async move { device.clear(&element).await })
            })
            .await?;
        }
        on_element(&self.target, lease, cx, "entering text", move |device, element| {
            let text = text.clone();
            Box::pin(async move { device.enter(&element, &text).await })
        })
        .await?;
        Ok(action_result(&patience, format!("typed {} characters", self.text.chars().count())))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct ClearText {
    #[serde(flatten)]
    target: ElementTarget,
}

impl Command for ClearText {
    const NAME: &'static str = "clear_text";
    const TITLE: &'static str = "Clear a field";
    const ABOUT: &'static str = "Takes the text out of a field.";
    const KIND: CommandKind = CommandKind::Acts;
    type Answer = ActionResult;

    aimed!();

    async fn perform(&self, lease: &DeviceLease, cx: &Context) -> Result<TypedOutput<ActionResult>, Fault> {
        let patience = ElementWait::new(self.target.timeout);
        on_element(&self.target, lease, cx, "clearing text", |device, element| {
            Box::pin(async move { device.clear(&element).await })
        })
        .await?;
        Ok(action_result(&patience, "cleared"))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct PickValue {
    #[serde(flatten)]
    target: ElementTarget,
    /// The value as the picker shows it.
    #[schemars(length(min = 1, max = 500))]
    value: String,
}

impl Command for PickValue {
    const NAME: &'static str = "select_picker_value";
    const TITLE: &'static str = "Choose a value";
    const ABOUT: &'static str = "Chooses a value of a picker, a wheel or a list.";
    const KIND: CommandKind = CommandKind::Acts;
    type Answer = ActionResult;

    fn session(&self) -> Option<&str> {
        self.target.session.as_deref()
    }

    fn describe(&self) -> String {
        format!("{} ← {}", self.target.describe(), tidy(&self.value))
    }

    fn selector(&self) -> Option<&str> {
        self.target.selector.as_deref()
    }

    async fn perform(&self, lease: &DeviceLease, cx: &Context) -> Result<TypedOutput<ActionResult>, Fault> {
        let patience = ElementWait::new(self.target.timeout);
        let value = self.value.clone();
        on_element(&self.target, lease, cx, "pickers", move |device, element| {
            let value = value.clone();
            Box::pin(async move { device.pick(&element, &value).await })
        })
        .await?;
        Ok(action_result(&patience, "chosen"))
    }
}
